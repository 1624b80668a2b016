/// A trace's addresses onto a device of another size.
///
/// Idea       as_is: what lies beyond the end is an error that names the remedies. wrap: modulo the device. compact: 4 KiB pages in the order of their first
///            touch, so that the footprint alone must fit. Several devices of a trace are kept apart in each of them.
/// Invariant  One request becomes consecutive pieces that cover its bytes once; the same (device, page) always lands in the same place.
/// Cost       as_is, wrap: O(1). compact: a hash look-up for eight neighbouring pages, and for each eight of which one was touched 80 bytes or so.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "tools/traces/trace_request.h"

namespace flashlab {

enum class FitPolicy : std::uint8_t { as_is, wrap, compact };

struct AddressPiece {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

class AddressFit {
public:
    AddressFit(FitPolicy policy, std::uint64_t device_bytes);
    ~AddressFit();
    /// The pieces are valid until the next call; none for a flush.
    [[nodiscard]] std::expected<const std::vector<AddressPiece>*, std::string> place(const TraceRequest& request);
    /// Requests that became several pieces, and these pieces.
    struct Split {
        std::uint64_t requests = 0;
        std::uint64_t pieces = 0;
    };
    [[nodiscard]] const Split& split() const { return split_; }
    /// The piece that is being issued, of a request that is split: 1 for the first one; 0: a request as it came.
    [[nodiscard]] std::uint32_t piece_under_way() const { return piece_under_way_; }
    void set_piece_under_way(std::uint32_t piece) { piece_under_way_ = piece; }

private:
    class Pages;
    [[nodiscard]] std::expected<void, std::string> place_pieces(const TraceRequest& request);
    void add(std::uint64_t offset, std::uint64_t bytes);
    void wrap(const TraceRequest& request);
    [[nodiscard]] std::expected<void, std::string> compact(const TraceRequest& request);

    FitPolicy policy_;
    std::uint64_t device_bytes_;
    std::uint32_t only_device_ = 0;
    bool any_ = false;
    std::unique_ptr<Pages> pages_;
    std::vector<AddressPiece> pieces_;
    Split split_;
    std::uint32_t piece_under_way_ = 0;
};

} // namespace flashlab

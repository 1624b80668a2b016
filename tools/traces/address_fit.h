/// Places a trace's addresses on a device of another size.
///
/// Idea       as_is: an address beyond the end is an error that names the remedies. wrap: addresses are taken modulo the device's size. compact:
///            pages of 4 KiB are placed in the order of their first touch, so that only the footprint must fit. In each mode several devices of a
///            trace are kept apart.
/// Invariant  One request becomes consecutive pieces that cover its bytes once. The same (device, page) always gets the same place.
/// Cost       as_is, wrap: O(1). compact: a hash look-up for eight neighbouring pages. Each group of eight pages with a touched page takes about 80
///            bytes.
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
    /// The pieces of a request, valid until the next call. A flush has none.
    [[nodiscard]] std::expected<const std::vector<AddressPiece>*, std::string> place(const TraceRequest& request);
    /// The number of requests that became several pieces, and the number of these pieces.
    struct Split {
        std::uint64_t requests = 0;
        std::uint64_t pieces = 0;
    };
    [[nodiscard]] const Split& split() const { return split_; }

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
};

} // namespace flashlab

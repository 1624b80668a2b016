/// PRAM cells in this process's memory, for tests, replay, bench and explore.
///
/// Idea       One zeroed allocation; the host hands out pages when they are touched, so an empty 2 GiB PRAM costs nothing.
/// Invariant  All-zero when new.
/// Cost       None of its own.
/// Power cut  The object holds what the cut left: the next Pram is built on the same store.
#pragma once

#include <cstddef>
#include <memory>

#include "pram/pram.h"

namespace flashlab {

class MemoryPramStore final : public PramStore {
public:
    explicit MemoryPramStore(std::uint64_t bytes);
    [[nodiscard]] std::span<std::byte> cells() override { return {cells_.get(), bytes_}; }
    [[nodiscard]] std::span<std::uint64_t> wear() override { return {wear_.get(), pram_wear_regions(bytes_)}; }
    [[nodiscard]] std::span<const std::byte> content() const { return {cells_.get(), bytes_}; }
    /// Makes this store equal to `other`, which must have the same size: a snapshot for a caller that tries many cuts.
    void copy_from(const MemoryPramStore& other);

private:
    struct Unmap {
        std::size_t bytes;
        void operator()(void* memory) const;
    };
    template <class T>
    using Zeroed = std::unique_ptr<T[], Unmap>;
    std::uint64_t bytes_;
    Zeroed<std::byte> cells_;
    Zeroed<std::uint64_t> wear_;
};

} // namespace flashlab

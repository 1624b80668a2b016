/// Which parts of a table that began as zeros may hold something else by now.
///
/// Idea       A byte for each thousand entries or so, set when one of them is. Whoever walks the table passes the other parts over: of a large drive
///            that holds little the host then never needs the memory.
/// Invariant  A part that is not marked is as it was at the beginning: zeros.
/// Cost       A store an entry that is set.
/// Power cut  RAM only: after a mount the table says what it holds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/zeroed_allocator.h"

namespace flashlab {

class TouchedParts {
public:
    static constexpr std::uint32_t entries_a_part = 1024;

    explicit TouchedParts(std::uint32_t entries) : parts_((std::size_t{entries} + entries_a_part - 1) / entries_a_part) {}
    void touch(std::uint32_t entry) { parts_[entry / entries_a_part] = 1; }
    void touch_all() { std::ranges::fill(parts_, std::uint8_t{1}); }
    void touch_none() { std::ranges::fill(parts_, std::uint8_t{0}); }
    /// The first entry of [from, end) that lies in a part which was touched; `end` when there is none.
    [[nodiscard]] std::uint32_t next(std::uint32_t from, std::uint32_t end) const {
        while (from < end && parts_[from / entries_a_part] == 0) from += std::min(end - from, entries_a_part - from % entries_a_part);
        return from;
    }
    /// No entry from here on was touched.
    [[nodiscard]] std::size_t end() const {
        std::size_t parts = parts_.size();
        while (parts > 0 && parts_[parts - 1] == 0) --parts;
        return parts * entries_a_part;
    }

private:
    ZeroedVector<std::uint8_t> parts_;
};

} // namespace flashlab

/// Counters of a scheme: declared beside it, read through the declaration.
///
/// Idea       A scheme counts in plain members. Its entry lists what they are called, and how each is read. The log, `smart`, `ctl stats`, reports
///            and the help are made of the list.
/// Invariant  A counter only grows between the scheme's recovery and its end.
/// Cost       An increment where it is counted; a call each where all are read.
/// Power cut  Counts since power-on: a cut takes them away.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace flashlab {

class Ftl;

struct Counter {
    std::string_view name, unit, help;
    std::uint64_t (*read)(const Ftl& scheme) = nullptr;
    /// A column of sample_scheme, or a key of the run's report, asks for it by its name. The others are listed together, under "counters".
    bool has_own_place = false;
};

/// In the order of the declaration.
struct CounterValues : std::vector<std::pair<const Counter*, std::uint64_t>> {
    /// 0: nothing of that name is counted.
    [[nodiscard]] std::uint64_t operator[](std::string_view name) const {
        const auto found = std::ranges::find(*this, name, [](const auto& one) { return one.first->name; });
        return found == end() ? 0 : found->second;
    }
};

/// What a scheme shares with others, and its own.
template <class T, std::size_t a, std::size_t b>
[[nodiscard]] constexpr std::array<T, a + b> joined(const std::array<T, a>& shared, const std::array<T, b>& own) {
    std::array<T, a + b> all{};
    std::ranges::copy(own, std::ranges::copy(shared, all.begin()).out);
    return all;
}

} // namespace flashlab

/// Where each number of a preset comes from: a table of a paper, a data sheet, or our own choice.
///
/// Idea       A row names keys and their source. A preset's own rows come before the rows that hold for all presets. A key may end with '*'.
/// Invariant  Every numeric key of every preset has a source, and every row names a key that exists (a test looks at all).
/// Cost       A search in a short table.
#pragma once

#include <span>
#include <string_view>

namespace flashlab {

struct NumberSource {
    std::string_view keys; ///< separated by blanks
    std::string_view source;
};

/// The preset's own rows. For an empty name: the rows that hold for every preset.
[[nodiscard]] std::span<const NumberSource> number_sources(std::string_view preset);
/// The source of a key. Empty if none is known.
[[nodiscard]] std::string_view source_of(std::string_view preset, std::string_view key);
[[nodiscard]] bool names_key(const NumberSource& row, std::string_view key);

} // namespace flashlab

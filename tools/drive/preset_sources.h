/// Where each number of a preset comes from: a table of a paper, a data sheet, or our own choice.
///
/// Idea       A row names keys and their source; a preset's own rows come before those that hold for all. A key may end with '*'.
/// Invariant  Every numeric key of every preset has a source, and every row names a key that is there (a test looks at all).
/// Cost       A search in a short table.
#pragma once

#include <span>
#include <string_view>

namespace flashlab {

struct NumberSource {
    std::string_view keys; ///< separated by blanks
    std::string_view source;
};

/// The preset's own rows; those of every preset for an empty name.
[[nodiscard]] std::span<const NumberSource> number_sources(std::string_view preset);
/// Empty where nothing is known of it.
[[nodiscard]] std::string_view source_of(std::string_view preset, std::string_view key);
[[nodiscard]] bool names_key(const NumberSource& row, std::string_view key);

} // namespace flashlab

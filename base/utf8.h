/// Characters of UTF-8 in bytes of others: names of files, what programs print.
///
/// Idea       One question: which character do these bytes begin with? Whoever shows or quotes such text asks it for each.
/// Invariant  Only what RFC 3629 allows is a character: no byte more than needed, no surrogate, nothing above U+10FFFF.
/// Cost       A few comparisons a character.
/// Source     F. Yergeau, "UTF-8, a transformation format of ISO 10646", RFC 3629.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace flashlab {

struct Utf8Character {
    std::uint32_t code = 0;
    std::size_t bytes = 0;
};

/// Nothing: `text` is empty, or does not begin with a character.
[[nodiscard]] std::optional<Utf8Character> utf8_character(std::string_view text);

} // namespace flashlab

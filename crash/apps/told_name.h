/// Names of files and words of programs, as they are told to people.
///
/// Idea       A name may hold any byte but two: a line feed that ends the sentence, a blank that makes two names of one, bytes that are no UTF-8,
///            marks that turn the direction of the text. Such a name is told in quotes, with escapes as in C; all others are told as they are.
/// Invariant  What is told has no control character and is UTF-8. Two names that differ are told differently.
/// Cost       A pass over the name.
#pragma once

#include <string>
#include <string_view>

namespace flashlab {

/// In quotes where that is needed.
[[nodiscard]] std::string told_name(std::string_view name);
/// Always with quotes.
[[nodiscard]] std::string quoted_words(std::string_view words);

} // namespace flashlab

/// A text as one word of a shell, for lines that a user copies and for completion.
///
/// Idea       Single quotes, within which bash, dash and zsh know no escape.
/// Invariant  The shell reads back exactly the text.
/// Cost       A pass over the text.
#pragma once

#include <string>
#include <string_view>

namespace flashlab {

[[nodiscard]] std::string shell_word(std::string_view text);

} // namespace flashlab

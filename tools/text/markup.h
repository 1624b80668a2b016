/// Text inside HTML, SVG and XML.
///
/// Idea       One escape serves elements and attributes, so that nobody has to know where a text will stand.
/// Invariant  Nothing in the result can open an element, end an attribute or begin a character reference of its own. It is UTF-8 of characters that
///            XML 1.0 allows: what is not, as a file name of any bytes or a control character, becomes U+FFFD.
/// Cost       A pass over the text.
#pragma once

#include <string>
#include <string_view>

namespace flashlab {

[[nodiscard]] std::string markup_escaped(std::string_view text);

} // namespace flashlab

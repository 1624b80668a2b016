/// The tables of docs/event-log.md, made from the descriptors.
///
/// Idea       The page has blocks between <!-- generated: NAME --> and <!-- end of NAME -->. The content of the blocks is written anew. The rest of
///            the page is left alone.
/// Invariant  A page that is up to date does not change; a test compares. CONTRIBUTING.md, "Where things go", has the command that rewrites the page.
/// Cost       Some strings.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace flashlab {

/// The page with its blocks up to date, or why that cannot be: a block is missing, twice there, or has no end.
[[nodiscard]] std::expected<std::string, std::string> event_log_page(std::string_view page);

} // namespace flashlab

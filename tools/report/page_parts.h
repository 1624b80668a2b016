/// The files of the report's page, as they lie in this folder. tools/report/embed.cmake puts them into the binary.
///
/// Idea       The page's style and script are files that a browser and a formatter know. The binary needs none of them beside it.
/// Cost       About 90 KB of the binary.
#pragma once

#include <string_view>

namespace flashlab::page_parts {

[[nodiscard]] std::string_view plot_library();
[[nodiscard]] std::string_view plot_library_style();
[[nodiscard]] std::string_view plot_library_licence();
[[nodiscard]] std::string_view page_style();
[[nodiscard]] std::string_view page_body();
[[nodiscard]] std::string_view page_script();
[[nodiscard]] std::string_view page_plots();
[[nodiscard]] std::string_view page_maps();

} // namespace flashlab::page_parts

/// The page of `flashlab report`: one file with everything in it.
///
/// Idea       A fixed page (page.html, page.css, page*.js and the vendored plot library) with the runs as one JSON object.
/// Invariant  The page asks no network: its content policy forbids it. Text of runs never becomes markup: within the script no `<` of the data is
///            left, and the script shows text as text.
/// Cost       About 90 KB and the data: some 30 to 100 KB a run.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "tools/host/aside_file.h"
#include "tools/text/json.h"

namespace flashlab {

[[nodiscard]] std::expected<void, std::string> write_report_page(AsideFile& file, std::vector<Json> runs);

} // namespace flashlab

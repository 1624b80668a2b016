/// A run of `replay --json` or `bench --json` as the object that the report's page shows.
///
/// Idea       Such a run has totals only: the page leaves out what needs a log.
/// Invariant  Keys and units are those of the file.
/// Cost       The file is read whole.
#pragma once

#include <expected>
#include <string>

#include "tools/text/json.h"

namespace flashlab {

[[nodiscard]] std::expected<Json, std::string> report_json(const std::string& path, const std::string& name);

} // namespace flashlab

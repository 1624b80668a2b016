/// flashlab ctl MNT fault: add, plan, list, clear.
///
/// Idea       The words become one question to the mount; its answer is printed.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "tools/text/json.h"
#include "tools/text/table.h"

namespace flashlab {

/// The question to the mount. The error says what is wrong with the words.
[[nodiscard]] std::expected<Json, std::string> fault_request(const std::vector<std::string>& arguments);
void print_faults(const Json& answer, OutputFormat format);

} // namespace flashlab

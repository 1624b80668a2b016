/// A TOML text as a JSON value, for files that are not configurations of a device.
///
/// Idea       toml++ stays in this room. Who reads such a file checks the keys by itself.
/// Invariant  The keys of a table come in alphabetical order, whatever their order in the file. Dates and times become text.
/// Cost       Allocates; once at the start.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "tools/text/json.h"

namespace flashlab {

/// `name` stands in messages. The error names line and column.
[[nodiscard]] std::expected<Json, std::string> toml_as_json(std::string_view text, const std::string& name);
/// Where the value of a key stands: "LINE:COLUMN"; empty: there is no such key. `path`: keys, and the numbers of tables in a list, from 0 on.
[[nodiscard]] std::string place_in_toml(std::string_view text, std::span<const std::string> path);

} // namespace flashlab

/// The keys that a sweep's file may have.
///
/// Idea       All of them are looked at before anything is read, so that each unknown one is named with the nearest known one and with its place.
/// Invariant  A file without an unknown key has none that the readers do not know.
/// Cost       Reads the text once more for a key that is unknown.
#pragma once

#include <string>
#include <string_view>

#include "tools/text/json.h"

namespace flashlab {

/// "LINE:COLUMN: what is wrong" of the first unknown key; empty: there is none. `sweep`: the same text as JSON.
[[nodiscard]] std::string unknown_sweep_key(const Json& sweep, std::string_view text);

} // namespace flashlab

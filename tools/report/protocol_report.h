/// What `bench --protocol` measured: as text with tables, and as one self-contained page with the plots that SNIA's PTS asks for.
///
/// Idea       Both are made from the JSON object of `--json` (tools/run/protocols.h) alone, with ftl, preset, config_hash, device_bytes, seed and
///            version added. So no number is in the page that is not in the object.
/// Invariant  The page has no script and loads nothing from elsewhere. Text of the object never becomes markup. The same object gives the same bytes.
/// Cost       A few hundred bytes for each value that is drawn.
#pragma once

#include <string>

#include "tools/text/json.h"

namespace flashlab {

[[nodiscard]] std::string protocol_text(const Json& result);
/// Begins with the verdict: steady or not, after how many rounds, how far from the limits. Below each plot stands what it shows.
[[nodiscard]] std::string protocol_page(const Json& result);

} // namespace flashlab

/// Keys of the configuration that belong to some translation layers only.
///
/// Idea       Each scheme lists those that it reads (ftl/scheme.h). A user who asks for one that does nothing with the drive's scheme is
///            told so. He would measure a drive that he did not describe.
/// Invariant  Only keys that somebody asked for are refused, in a file written by hand or by --set. A value that a preset, a default or
///            device.toml has is never refused. FLASHLAB_* variables may be meant for another drive.
/// Cost       A few compares a key.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ftl/ssd_config.h"
#include "tools/text/json.h"

namespace flashlab {

/// What schemes count and no column of the log says: [{counter, unit, scheme, meaning}]; null: nothing.
[[nodiscard]] Json counters_of_schemes();
/// The schemes that read the key, in the order of the list; empty: all of them do.
[[nodiscard]] std::vector<std::string_view> schemes_of_key(std::string_view key);
/// "ftl.victim = windowed", where that policy declares the key; empty: no policy does.
[[nodiscard]] std::string policies_of_key(std::string_view key);
/// "coftl.cache_bytes is a key of coftl and does nothing with ftl.scheme = hftl ...". A scheme that there is not is another check's.
[[nodiscard]] std::expected<void, std::string> check_key_of_scheme(std::string_view key, const SsdConfig& drive);
/// The same of each KEY=VALUE.
[[nodiscard]] std::expected<void, std::string> check_settings_of_scheme(std::span<const std::string> settings, const SsdConfig& drive);

} // namespace flashlab

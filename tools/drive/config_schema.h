/// The one table of configuration keys. Reading, checking, writing and documentation all follow it.
/// The keys of all drives stand in it; those of schemes and policies come from their declarations (ftl/options.h).
///
/// Idea       A key is a name, a unit, a range, a sentence of help and a pair of functions on DeviceConfig. TOML, environment, --set and -o call
///            set_key().
/// Invariant  K1 a value outside its range never enters a DeviceConfig. K2 an unknown key is an error that names the nearest known one.
/// Cost       A linear search over all keys.
/// Power cut  Only device.toml survives.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/drive/device_config.h"
#include "tools/text/json.h"
#include "tools/text/table.h"

namespace flashlab {

enum class ConfigType : std::uint8_t { integer, size, text };

/// Until when a key may change: geometry is cast in the images by mkfs, times and speeds may be tried at every mount.
enum class ConfigPhase : std::uint8_t { mkfs, mount, written_by_mkfs };

struct ConfigKey {
    std::string_view name; ///< section.key; top-level keys have no dot
    ConfigType type = ConfigType::integer;
    ConfigPhase phase = ConfigPhase::mkfs;
    std::uint64_t min = 0;
    std::uint64_t max = 0;
    std::string_view choices; ///< of a text key, separated by blanks; empty: any
    std::string_view help;
    std::function<std::string(const DeviceConfig&)> get{};
    std::function<void(DeviceConfig&, std::uint64_t number, std::string_view text)> set{};

    [[nodiscard]] std::string range_text() const; ///< "1 to 64", "slc, mlc, tlc or qlc"
};

/// What is returned stands until a scheme is admitted (ftl/admit_scheme.h).
[[nodiscard]] std::span<const ConfigKey> config_keys();
/// Null when unknown.
[[nodiscard]] const ConfigKey* find_config_key(std::string_view name);
/// "unknown key 'nand.chanels'; did you mean 'nand.channels'?"
[[nodiscard]] std::string unknown_key_text(std::string_view name);
/// The candidate with the smallest edit distance; empty when none is near.
[[nodiscard]] std::string nearest_name(std::string_view wanted, const std::vector<std::string>& candidates);

/// Checks and sets. The error names the key, the value and what is allowed.
[[nodiscard]] std::expected<void, std::string> set_key(DeviceConfig& config, std::string_view name, std::string_view value);

/// The whole configuration as TOML, a comment above each key: device.toml, and `info --config`.
[[nodiscard]] std::string to_toml(const DeviceConfig& config);
[[nodiscard]] Json to_json(const DeviceConfig& config);
/// A table of all keys for `info --keys`.
[[nodiscard]] Table describe_config_keys();
/// The same: {keys:[{key, default, allowed, when, meaning}]}, and counters:[{counter, unit, scheme, meaning}] where there are some.
[[nodiscard]] Json config_keys_as_json();
/// Eight hex digits that tell configurations apart.
[[nodiscard]] std::string config_hash(const DeviceConfig& config);
/// The value of layout.checksum: over the keys that are cast in the images, as far as `is_there` (a later version may know more than the file has).
[[nodiscard]] std::string checksum_of_images_keys(const DeviceConfig& config, const std::function<bool(std::string_view)>& is_there);

} // namespace flashlab

/// Where a configuration comes from. Later sources override earlier ones: preset, file, FLASHLAB_* environment, --set and -o.
///
/// Idea       toml++ reads TOML (in config_file.cpp only) and hands it key by key to the schema, so that every source obeys one set of rules.
/// Invariant  An error names file, line and column, or the variable, or the option. A source that is refused changes nothing.
/// Cost       Read once at the start.
/// Power cut  device.toml is written once, by mkfs.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/drive/device_config.h"

namespace flashlab {

struct ConfigSources {
    std::optional<std::string> preset{};                            ///< --preset; else the file's `preset` key, else the default
    std::optional<std::string> file{};                              ///< --config
    std::vector<std::pair<std::string, std::string>> environment{}; ///< every FLASHLAB_* variable
    std::vector<std::string> settings{};                            ///< --set key=value, in order
};

/// What mkfs and bench use. A key that was asked for and does nothing with the scheme is refused (tools/drive/scheme_keys.h).
[[nodiscard]] std::expected<DeviceConfig, std::string> gather_config(const ConfigSources& sources);

/// The keys that the user named: in a file written by hand (a device.toml names all of them), the environment and --set. What mkfs plans keeps these,
/// or refuses.
[[nodiscard]] std::vector<std::string> asked_keys(const ConfigSources& sources);
/// An option that stands for a key (--ftl for ftl.scheme) into the settings; refused when --set gives the key another value.
[[nodiscard]] std::expected<void, std::string> add_option_setting(ConfigSources& sources, std::string_view option, std::string_view key,
                                                                  std::string_view value);

/// Overlays the keys of a TOML text; `name` stands in messages.
[[nodiscard]] std::expected<void, std::string> apply_toml(DeviceConfig& config, std::string_view text, const std::string& name);
/// FLASHLAB_NAND_PAGE_READ_NS sets nand.page_read_ns. Variables of no known section are other programs' business.
/// `mounting`: keys that mkfs has cast are passed over. A name or a value that a section of the schema does not have is an error.
[[nodiscard]] std::expected<void, std::string> apply_environment(DeviceConfig& config,
                                                                 const std::vector<std::pair<std::string, std::string>>& environment, bool mounting);
[[nodiscard]] std::expected<void, std::string> apply_settings(DeviceConfig& config, const std::vector<std::string>& settings, bool mounting);

/// DIR/device.toml. The error tells a directory that holds no device from a damaged or newer file.
[[nodiscard]] std::expected<DeviceConfig, std::string> read_device_toml(const std::string& directory);
/// That the keys which describe the images are those that mkfs wrote. Apart from reading, so that what the images themselves know better is said
/// first.
[[nodiscard]] std::expected<void, std::string> verify_images_keys(const DeviceConfig& config, const std::string& directory);
/// The error with file, line and column of the key that it names, if the key came from the file.
[[nodiscard]] std::string with_origin(const std::string& error, const ConfigSources& sources);

/// The FLASHLAB_* variables of this process.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> flashlab_environment();

} // namespace flashlab

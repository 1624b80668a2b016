/// The options that say which device a run in virtual time uses, the same in all commands that run one.
///
/// Invariant  Plain data: nothing is checked here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flashlab {

/// Of a run in virtual time: which device, made in memory or there already, and where its events go.
struct DeviceChoice {
    std::optional<std::string> preset, config_file, ftl;
    std::optional<std::string> directory;        ///< a drive on disk instead
    std::optional<std::string> events_file, log; ///< log: requests where there is a file
    std::optional<std::uint64_t> size_bytes;
    std::vector<std::string> settings;
};

} // namespace flashlab

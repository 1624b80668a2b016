/// The options that say which device a run in virtual time uses. They are the same in all commands that have such runs.
///
/// Invariant  Plain data: nothing is checked here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flashlab {

inline constexpr std::uint64_t default_bench_bytes = std::uint64_t{1} << 30; ///< of the default device of bench

/// The device of a run, made in memory or an existing drive, and where the events of the run go.
struct DeviceChoice {
    std::optional<std::string> preset, config_file, ftl;
    std::optional<std::string> directory;        ///< an existing drive on disk, instead of one in memory
    std::optional<std::string> events_file, log; ///< log: the level; "requests" by default where there is a file
    std::optional<std::uint64_t> size_bytes;
    std::vector<std::string> settings;
};

} // namespace flashlab

/// flashlab top: what a mount is doing, again and again.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace flashlab {

struct TopOptions {
    std::string target;
    double interval_s = 1;
    std::optional<std::uint64_t> samples; ///< none: until a key, a signal or the end of the mount
    bool json = false;                    ///< one object a line
};

[[nodiscard]] int run_top(const TopOptions& options);

} // namespace flashlab

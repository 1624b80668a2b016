/// flashlab bench: a load on a device, in virtual time.
///
/// Idea       The command line fills plain options. The function runs the command, prints, and returns the exit code (tools/host/complaint.h).
#pragma once

#include <cstdint>
#include <string>

#include "tools/run/device_choice.h"
#include "tools/text/table.h"

namespace flashlab {

inline constexpr std::uint64_t default_bench_bytes = std::uint64_t{1} << 30; ///< of the default device

struct BenchOptions {
    DeviceChoice device;
    std::string level = "device", rw = "randwrite", random_distribution = "uniform";
    std::uint64_t block_bytes = 4096, io_bytes = std::uint64_t{64} << 20;
    std::uint32_t iodepth = 1, rwmixread = 50;
    std::string precondition, warm_up;
    bool until_steady = false;
    bool top = false; ///< the live view while it runs
    std::uint64_t seed = 1;
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_bench(const BenchOptions& options);

} // namespace flashlab

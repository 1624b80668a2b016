/// The loads of `flashlab bench`: its options, --queue's words, and the requests that they make.
///
/// Idea       A load is one set of options. --queue changes those that it names; --numjobs makes several, each with a seed of its own.
/// Invariant  The same options and the same space give the same requests on every host. A rate moves no address.
/// Cost       A few multiplications a request.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/run/device_choice.h"
#include "tools/run/replay.h"
#include "tools/text/table.h"
#include "tools/workloads/random_distribution.h"

namespace flashlab {

inline const std::vector<std::string> bench_rate_processes{"linear", "poisson"};
inline const std::vector<std::string> bench_patterns{"read", "write", "randread", "randwrite", "randrw", "rw"};

struct BenchOptions {
    DeviceChoice device;
    std::string level = "device", rw = "randwrite", random_distribution = "uniform";
    std::uint64_t block_bytes = 4096;
    std::optional<std::uint64_t> io_bytes; ///< none: see bytes_of()
    Duration runtime = Duration::max();    ///< of the drive's clock
    std::uint32_t iodepth = 1, rwmixread = 50;
    std::vector<std::string> queues; ///< --queue as given
    QueuePriority priority = QueuePriority::medium;
    std::uint16_t queue = 0;
    StreamId stream = no_stream;
    std::uint32_t numjobs = 1;
    std::string rate, rate_iops, rate_process = "linear"; ///< as given; empty: the next request when one is answered
    std::array<double, 2> iops{};                         ///< planned, of reads and of writes; 0: no rate
    std::string precondition, warm_up, protocol;
    std::optional<std::string> html; ///< of protocol
    bool until_steady = false;
    bool top = false; ///< the live view while it runs
    std::uint64_t seed = 1;
    OutputFormat format = OutputFormat::table;
};

inline constexpr std::uint64_t default_io_bytes = std::uint64_t{64} << 20;
/// What ends a load: a time alone, bytes, or what comes first.
[[nodiscard]] inline std::uint64_t bytes_of(const BenchOptions& o) {
    return o.io_bytes.value_or(o.runtime == Duration::max() ? default_io_bytes : std::numeric_limits<std::uint64_t>::max());
}
[[nodiscard]] std::uint32_t read_percent(const BenchOptions& o);

/// One KEY=VALUE of --queue.
[[nodiscard]] std::expected<void, std::string> set_of_queue(BenchOptions& o, std::string_view key, const std::string& value);
/// Each queue's load: what --queue does not say is as without it. None: one load whose next request comes with an answer.
[[nodiscard]] std::expected<std::vector<BenchOptions>, std::string> loads_of_queues(const BenchOptions& o);
/// --rw over a space, until --io-size is reached. Its loop ends it by time.
[[nodiscard]] NextRequest load_of(const BenchOptions& o, const DistributionSpec& distribution, std::uint64_t span_bytes);

} // namespace flashlab

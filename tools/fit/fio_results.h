/// What fio measured on a drive: its JSON output as loads with their rates and latencies.
///
/// Idea       The jobs of a file run beside each other, until one that says `stonewall` begins a new group: each group is a point, each of its jobs a
///            stream. A job of several processes is one stream, whether fio reports their sum or each of them.
/// Invariant  What a point does not say is not guessed: a latency that the file lacks is 0.
/// Source     fio's documentation, "JSON output".
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace flashlab {

/// Of one direction.
struct FitMeasured {
    double iops = 0, p50_us = 0, p99_us = 0;
};

struct FitStream {
    std::string name; ///< of the job
    std::uint64_t block_bytes = 4096;
    std::uint32_t depth = 1; ///< of all its processes
    bool in_order = false;
    std::uint32_t read_percent = 0;
    std::array<double, 2> planned_iops{}; ///< of reads and writes; 0: the next comes with an answer
    bool is_poisson = false;
    FitMeasured read{}, write{};
    double waf = 0; ///< 0: not known
    [[nodiscard]] bool is_planned() const { return planned_iops[0] + planned_iops[1] > 0; }
};

struct FitPoint {
    std::string file;
    std::vector<FitStream> streams;
};

/// The error names the file and what is wrong in it.
[[nodiscard]] std::expected<std::vector<FitPoint>, std::string> read_fio_results(const std::string& path);
/// The same of a text.
[[nodiscard]] std::expected<std::vector<FitPoint>, std::string> parse_fio_results(const std::string& text, const std::string& path);

} // namespace flashlab

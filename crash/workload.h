/// What the host does before the power fails, as a text that is short enough to be a part of a replay id.
///
/// Idea       Steps are joined by '.'. Steps before a '/' only age the device; cuts are tried in the steps after it. A step is a letter, a place and
///            a count:
///              w3x2   write units 3 and 4        W3    the same with FUA        p5x3  write sectors 5 to 7 (parts of units)
///              g3x2   read units, which show the newest version
///              t3x2   trim units                 q5x3  trim sectors             r7x20 twenty overwrites of random units, drawn from seed 7
///              f      flush                      i     idle time: one tick      z     clean shutdown; the last step, or in the aging part
///            The host waits for each answer. After "w3+500" it does not wait: it sends the next request 500 ns after this one was sent.
/// Invariant  parse(text()) == the workload. Places are taken modulo the device's size and counts are clipped, so every workload fits every device.
/// Cost       Negligible.
/// Power cut  See explorer.h.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab {

struct WorkloadStep {
    enum class Kind : char {
        write = 'w',
        write_fua = 'W',
        write_sectors = 'p',
        read = 'g',
        trim = 't',
        trim_sectors = 'q',
        overwrites = 'r',
        flush = 'f',
        idle = 'i',
        shut_down = 'z'
    };
    Kind kind = Kind::flush;
    std::uint32_t at = 0; ///< unit, sector, or seed
    std::uint32_t count = 1;
    std::optional<std::uint32_t> gap_ns; ///< none: the host waits for the answer

    [[nodiscard]] std::string text() const;
    friend bool operator==(const WorkloadStep&, const WorkloadStep&) = default;
};

struct Workload {
    std::vector<WorkloadStep> aging;
    std::vector<WorkloadStep> steps;

    [[nodiscard]] std::string text() const;
    [[nodiscard]] static std::expected<Workload, std::string> parse(std::string_view text);
    /// Some aging, then `steps` steps of all kinds, half of them overlapping.
    [[nodiscard]] static Workload random(std::uint64_t seed, std::uint32_t steps, std::uint32_t units);
    friend bool operator==(const Workload&, const Workload&) = default;
};

/// What exhaustive exploration runs: a new device, a full one that must collect, trims among open blocks, a clean shutdown.
[[nodiscard]] std::vector<Workload> standard_workloads(std::uint32_t units);

} // namespace flashlab

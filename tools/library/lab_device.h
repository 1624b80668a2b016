/// A simulated drive in memory for programs of others: tests of embedded file systems, databases, block layers.
///
/// Idea       disk() is the drive as a file system sees it, in simulated time. Who wants no clock uses read(), write(), trim() and flush(), which
///            wait: each begins when the one before has ended. The power may be told to fail at an instant; the call that is under way then ends
///            with power_lost, and recover() makes the drive of what the cells hold. A run that notes its instants tells when to cut the next one.
/// Invariant  Same options, same calls, same instant and seed: same bytes. What was answered before a flush() that ended is there after any cut.
///            Calls on a drive without power change nothing.
/// Cost       RAM for what is written, twice the page on flash at most; no thread, no file, no environment variable.
/// Power cut  As docs/crash-model.md, C1 to C9: an atomic unit (disk().identify()) is old or new.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/sim_time.h"
#include "ftl/block_device.h"

namespace flashlab {

struct LabOptions {
    std::string preset;                 ///< as flashlab presets lists them; empty: the default device
    std::vector<std::string> settings;  ///< KEY=VALUE, as --set
    std::optional<std::uint64_t> bytes; ///< logical size; none: the preset's
};

enum class LabError : std::uint8_t { power_lost, unreadable, out_of_range, no_space, read_only, failed };

struct LabStatistics {
    std::uint64_t now_ns = 0;
    std::uint64_t host_read_bytes = 0, host_write_bytes = 0;
    std::uint64_t nand_page_reads = 0, nand_page_programs = 0, nand_block_erases = 0;
    std::uint64_t page_bytes = 0;
    std::uint32_t erase_count_min = 0, erase_count_max = 0;
    double erase_count_mean = 0;
    std::uint64_t power_cuts = 0, operations_torn = 0, operations_undone = 0; ///< of the whole life; the others since the last start
    double waf = 0;                                                           ///< 0: nothing was written
};

class LabDevice {
public:
    static constexpr std::uint64_t longest_ns = std::uint64_t{1} << 62; ///< later cuts never come
    [[nodiscard]] static std::expected<std::unique_ptr<LabDevice>, std::string> make(const LabOptions& options);
    virtual ~LabDevice() = default;

    /// Valid until the next cut. Times that are given to it must not go back, and must not pass the instant of a cut that was ordered.
    [[nodiscard]] virtual BlockDevice& disk() = 0;
    [[nodiscard]] virtual std::uint64_t sectors() const = 0;

    /// `to` and `from` hold whole sectors of 512 bytes.
    [[nodiscard]] virtual std::expected<void, LabError> read(std::uint64_t first_sector, std::span<std::byte> to) = 0;
    [[nodiscard]] virtual std::expected<void, LabError> write(std::uint64_t first_sector, std::span<const std::byte> from) = 0;
    [[nodiscard]] virtual std::expected<void, LabError> trim(std::uint64_t first_sector, std::uint64_t sectors) = 0;
    [[nodiscard]] virtual std::expected<void, LabError> flush() = 0;
    /// Lets time pass, and the drive do its background work. At most `longest_ns` of all simulated time.
    [[nodiscard]] virtual std::expected<void, LabError> wait(std::uint64_t ns) = 0;
    [[nodiscard]] virtual std::uint64_t now_ns() const = 0;

    /// The power fails at this instant, or at once if it has passed. The seed draws what becomes of operations in flight.
    virtual void cut_at(std::uint64_t at_ns, std::uint64_t seed) = 0;
    [[nodiscard]] virtual bool has_power() const = 0;
    /// Power on again. Also without a cut: then the power fails now.
    [[nodiscard]] virtual std::expected<void, std::string> recover() = 0;

    /// From now on the drive notes when a cut makes a difference.
    virtual void note_instants() = 0;
    /// The instants that were noted, sorted: one after each change of the cells and in each operation that a cut could tear, and each call's end.
    [[nodiscard]] virtual std::vector<std::uint64_t> instants() = 0;

    [[nodiscard]] virtual LabStatistics statistics() const = 0;
    /// What the drive's own check finds broken, a line each; empty: sound.
    [[nodiscard]] virtual std::vector<std::string> check() = 0;
};

} // namespace flashlab

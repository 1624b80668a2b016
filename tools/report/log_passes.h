/// The two passes of a report over the long tables of a log: requests of the host, and operations of the chips.
///
/// Idea       A pass takes each row once and keeps bins, curves and sums.
/// Invariant  Pieces of a request that a replay split are one request, answered with the last piece, as the replay's own report counts.
/// Cost       Half a microsecond a request, one a NAND operation.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <numeric>
#include <string>
#include <vector>

#include "base/events.h"
#include "tools/report/latency_curve.h"
#include "tools/report/log_rows_reader.h"
#include "tools/report/log_run.h"
#include "tools/report/time_bins.h"
#include "tools/text/json.h"

namespace flashlab {

inline constexpr std::size_t heat_bins = 240;
/// Of ratios: in each of them much has to happen.
inline constexpr std::size_t coarse_bins = 80;

/// What a chart of write amplification draws as one; user, merge and map stand alone.
inline constexpr std::array causes_of_gc{Cause::gc, Cause::wear, Cause::fold, Cause::scrub};
inline constexpr std::array causes_of_others{Cause::recovery, Cause::backup, Cause::parity};

/// Nanoseconds busy by row and bin as shares of the bin, for the page's heat map.
[[nodiscard]] Json heat_json(const std::string& what, const std::vector<std::vector<double>>& busy_ns, std::int64_t width_ns);

/// 73 years of simulated time. What is later or longer was never measured, and sums of a few such times still fit 64 bits.
inline constexpr std::int64_t longest_plausible_ns = std::int64_t{1} << 61;

class RequestPass {
public:
    RequestPass(std::int64_t begin_ns, std::int64_t end_ns);
    [[nodiscard]] std::expected<void, std::string> read(LogRowsReader& log, const LogRunRange& run, const ReadProgress& progress);
    /// Curves by operation.
    [[nodiscard]] Json latency() const;
    [[nodiscard]] Json throughput() const;
    void add_to_overview(Json& overview) const;
    /// Of so many pieces that the drive was asked for: the requests that they were of, where the log has them all; else the pieces.
    [[nodiscard]] std::int64_t whole(std::size_t op, std::int64_t pieces) const {
        return rows_[op] == pieces ? static_cast<std::int64_t>(curves_[op].count()) : pieces;
    }
    /// Rows, failed requests among them.
    [[nodiscard]] std::int64_t rows() const { return std::accumulate(rows_.begin(), rows_.end(), std::int64_t{0}); }
    /// The last answer; 0: the log has no request.
    [[nodiscard]] std::int64_t answered_ns() const { return answered_; }
    /// Of what failed.
    [[nodiscard]] std::int64_t failed_bytes(HostOp op) const { return failed_bytes_[static_cast<std::size_t>(op)]; }
    /// Bytes that the host wrote, in coarse_bins, each request when it was answered: a request that waits is programmed long after it came.
    [[nodiscard]] const std::vector<double>& written() const { return written_.values(); }

private:
    struct Request {
        std::size_t op = 0;
        std::int64_t ts = 0, ns = 0;
        bool is_there = false, has_failed = false;
    };
    void take(const LogRow& row);
    void finish();
    [[nodiscard]] std::size_t bins_together() const;
    std::uint64_t implausible_ = 0; ///< rows with times that no drive has

    static constexpr std::size_t bins = 400;
    std::array<LatencyCurve, host_op_names.size()> curves_;
    std::array<std::int64_t, host_op_names.size()> rows_{}, failed_bytes_{};
    Request under_way_;
    TimeBins requests_, read_bytes_, write_bytes_, written_;
    std::vector<double> longest_us_;
    std::int64_t begin_, failed_ = 0, answered_ = 0;
};

class OperationPass {
public:
    OperationPass(std::int64_t begin_ns, std::int64_t end_ns)
        : begin_{begin_ns}, end_{end_ns}, programs_(cause_count, TimeBins{begin_ns, end_ns, coarse_bins}) {}
    [[nodiscard]] std::expected<void, std::string> read(LogRowsReader& log, const LogRunRange& run, const ReadProgress& progress);
    /// Share of time that each channel's bus was busy.
    [[nodiscard]] Json heat() const { return to_json("channel", buses_); }
    /// The same of the cells, by plane; of many planes by groups of neighbours.
    [[nodiscard]] Json chip_heat() const { return to_json("plane", planes_); }

    /// As the counters of samples count them.
    [[nodiscard]] std::int64_t pages() const { return pages_; }
    /// Write amplification over time, by cause, where the host wrote so many bytes. No program is left out.
    [[nodiscard]] Json amplification(const std::vector<double>& written, std::int64_t page_bytes) const;

private:
    TimeBins& at(std::vector<TimeBins>& all, std::int64_t index) const;
    [[nodiscard]] static Json to_json(const std::string& what, const std::vector<TimeBins>& rows);
    void take(const LogRow& row);
    std::int64_t begin_, end_;
    std::int64_t pages_ = 0;        ///< read, programmed; and blocks erased
    std::uint64_t implausible_ = 0; ///< rows with times, or of channels, that no drive has
    std::vector<TimeBins> buses_, planes_, programs_;
};

} // namespace flashlab

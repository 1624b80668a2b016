/// A trace file as requests. The reader opens the file, detects its format, parses, counts, and complains about bad lines.
///
/// Idea       The source is a file, standard input, a device directory whose event log holds what was recorded, or another source. open() says what
///            the format is and why. next() gives one request after the other, with times relative to the first.
/// Invariant  lines = requests + others + bad. Arrival times never decrease: a time that steps back is counted, and raised to the latest time so far.
///            More than one bad line in a hundred ends the reading with an error, unless the caller asked to go on.
/// Cost       Constant memory; about 0.2 us a line of text.
#pragma once

#include <functional>
#include <optional>

#include "tools/traces/trace_source.h"

namespace flashlab {

struct TraceOptions {
    std::string format = "auto";
    std::string columns; ///< for the format "columns", see parse_column_spec()
    std::string separator = ",";
    std::string op_words;
    bool has_header = false;
    char action = 'D'; ///< for block layer traces: D issue, Q queue, C completion
    bool skip_bad = false;
    std::optional<std::uint64_t> run;                 ///< of an event log: this one; none: all, if their clocks go on
    std::function<void(const std::string&)> complain; ///< called for the first bad lines
};

struct TraceCounts {
    std::uint64_t lines = 0, requests = 0, others = 0, bad = 0, backward_steps = 0;
};

class TraceReader {
public:
    [[nodiscard]] static std::expected<std::unique_ptr<TraceReader>, std::string> open(const std::string& path, const TraceOptions& options);
    /// Reads a source that was made already, or returns the error of its making. `reason`: why it has this format.
    [[nodiscard]] static std::expected<std::unique_ptr<TraceReader>, std::string>
    read(const std::string& path, std::string_view format, std::string_view reason, const TraceOptions& options,
         std::expected<std::unique_ptr<TraceSource>, std::string> source);

    /// Reads the next request. False at the end. After an error nothing more can be read.
    [[nodiscard]] std::expected<bool, std::string> next(TraceRequest& request);
    [[nodiscard]] const TraceCounts& counts() const { return counts_; }
    [[nodiscard]] const std::string& format() const { return format_; }
    /// "named", or why this format was taken.
    [[nodiscard]] const std::string& reason() const { return reason_; }
    /// The time of the first request in the trace's own epoch.
    [[nodiscard]] std::uint64_t first_time_ns() const { return first_time_ns_; }

private:
    TraceReader() = default;
    [[nodiscard]] std::expected<void, std::string> note_bad(const TraceParse& parse);

    std::string path_, format_, reason_;
    TraceOptions options_;
    std::unique_ptr<TraceSource> source_;
    TraceCounts counts_;
    std::uint64_t first_time_ns_ = 0, previous_time_ns_ = 0, last_time_ns_ = 0; ///< last: the latest so far
};

} // namespace flashlab

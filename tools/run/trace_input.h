/// The trace options that `replay` and `trace` share, as a stream of requests.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "tools/traces/trace_reader.h"

namespace flashlab {

struct TraceInput {
    std::string path;
    std::string format = "auto", columns, separator = ",", op_words;
    std::string action = "D";
    bool has_header = false, skip_bad = false;
    std::uint64_t skip = 0;
    std::optional<std::uint64_t> limit;
    std::optional<std::uint64_t> run; ///< of an event log
};

/// An unknown format, or a wrong description of columns, is wrong usage, whatever the file holds.
[[nodiscard]] std::expected<void, std::string> check_usage(const TraceInput& input);

class TraceStream {
public:
    /// Says on standard error which format was detected and why, unless the user named the format.
    [[nodiscard]] static std::expected<TraceStream, std::string> open(const TraceInput& input);
    /// Reads the next request. False at the end of the trace, or at the limit.
    [[nodiscard]] std::expected<bool, std::string> next(TraceRequest& request);
    [[nodiscard]] const TraceReader& reader() const { return *reader_; }
    /// To be called at the end. It is the user's error if --skip and --limit left no request.
    [[nodiscard]] std::expected<void, std::string> check_given() const;
    /// The number of requests that next() gave, and the number that --skip left out.
    [[nodiscard]] std::uint64_t given() const { return given_; }
    [[nodiscard]] std::uint64_t skipped() const { return skipped_; }

private:
    std::unique_ptr<TraceReader> reader_;
    std::uint64_t to_skip_ = 0;
    std::uint64_t left_ = 0;
    std::uint64_t base_ns_ = 0; ///< time of the first request taken
    std::uint64_t given_ = 0;
    std::uint64_t skipped_ = 0;
};

} // namespace flashlab

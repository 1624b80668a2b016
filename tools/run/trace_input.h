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
};

/// An unknown format or columns that describe nothing: wrong usage, whatever is in the file.
[[nodiscard]] std::expected<void, std::string> check_usage(const TraceInput& input);

class TraceStream {
public:
    /// Tells on standard error what the format is and why, unless it was named.
    [[nodiscard]] static std::expected<TraceStream, std::string> open(const TraceInput& input);
    /// False at the end, or at the limit.
    [[nodiscard]] std::expected<bool, std::string> next(TraceRequest& request);
    [[nodiscard]] const TraceReader& reader() const { return *reader_; }
    /// At the end: that --skip and --limit left something, which is an error of whoever asked.
    [[nodiscard]] std::expected<void, std::string> check_given() const;
    /// Requests that next() gave, and those that --skip left out.
    [[nodiscard]] std::uint64_t given() const { return given_; }
    [[nodiscard]] std::uint64_t skipped() const { return skipped_; }

private:
    std::unique_ptr<TraceReader> reader_;
    std::uint64_t to_skip_ = 0;
    std::uint64_t left_ = 0;
    std::uint64_t base_ns_ = 0; ///< of the first request taken
    std::uint64_t given_ = 0;
    std::uint64_t skipped_ = 0;
};

} // namespace flashlab

/// The trace options that `replay` and `trace` share, as a stream of requests.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "tools/commands/commands.h"
#include "tools/traces/trace_reader.h"

namespace flashlab {

class TraceStream {
public:
    /// Tells on standard error what the format is and why, unless it was named.
    [[nodiscard]] static std::expected<TraceStream, std::string> open(const TraceInput& input);
    /// False at the end, or at the limit.
    [[nodiscard]] std::expected<bool, std::string> next(TraceRequest& request);
    [[nodiscard]] const TraceReader& reader() const { return *reader_; }

private:
    std::unique_ptr<TraceReader> reader_;
    std::uint64_t to_skip_ = 0;
    std::uint64_t left_ = 0;
    std::uint64_t base_ns_ = 0; ///< of the first request taken
    bool any_ = false;
};

} // namespace flashlab

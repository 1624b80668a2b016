#include "tools/trace_input.h"

namespace flashlab {

std::expected<TraceStream, std::string> TraceStream::open(const TraceInput& input) {
    TraceOptions options;
    options.format = input.format;
    options.columns = input.columns;
    options.separator = input.separator;
    options.op_words = input.op_words;
    options.has_header = input.has_header;
    options.action = input.action.empty() ? 'D' : input.action.front();
    options.skip_bad = input.skip_bad;
    options.complain = [](const std::string& text) { complain(text); };
    auto reader = TraceReader::open(input.path, options);
    if (!reader)
        return std::unexpected(reader.error());
    TraceStream stream;
    stream.reader_ = std::move(*reader);
    stream.to_skip_ = input.skip;
    stream.left_ = input.limit.value_or(~std::uint64_t{0});
    return stream;
}

std::expected<bool, std::string> TraceStream::next(TraceRequest& request) {
    if (left_ == 0)
        return false;
    for (;;) {
        const auto more = reader_->next(request);
        if (!more || !*more)
            return more;
        if (to_skip_ == 0)
            break;
        --to_skip_;
    }
    --left_;
    if (!any_)
        base_ns_ = request.time_ns;
    any_ = true;
    request.time_ns -= base_ns_;
    return true;
}

} // namespace flashlab

#include "tools/run/trace_input.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/drive/config_schema.h"
#include "tools/host/complaint.h"
#include "tools/run/open_trace.h"
#include "tools/traces/column_format.h"
#include "tools/traces/trace_formats.h"
#include "tools/workloads/workload_source.h"

namespace flashlab {

std::expected<void, std::string> check_usage(const TraceInput& input) {
    if (is_workload_name(input.path))
        if (const auto made = make_workload_source(input.path); !made) return std::unexpected(made.error());
    if (!input.columns.empty()) {
        const auto spec = parse_column_spec(input.columns, input.separator, input.op_words, input.has_header);
        return spec ? std::expected<void, std::string>{} : std::unexpected(spec.error());
    }
    if (input.format == "columns") return std::unexpected("--format columns wants --columns; an example: ts:us=1,op=2,off:sector=3,len:B=4,dev=5");
    const auto names = trace_format_names();
    if (input.format == "auto" || std::ranges::find(names, input.format) != names.end()) return {};
    const std::string near = nearest_name(input.format, names);
    return std::unexpected(fmt::format("--format {}: unknown{}; there are auto, columns, {}", input.format,
                                       near.empty() ? "" : fmt::format("; did you mean {}?", near), fmt::join(names, ", ")));
}

std::expected<TraceStream, std::string> TraceStream::open(const TraceInput& input) {
    TraceOptions options;
    options.format = input.format;
    options.columns = input.columns;
    options.separator = input.separator;
    options.op_words = input.op_words;
    options.has_header = input.has_header;
    options.action = input.action.empty() ? 'D' : input.action.front();
    options.skip_bad = input.skip_bad;
    options.run = input.run;
    options.complain = [](const std::string& text) { complain(text); };
    auto reader = open_trace(input.path, options);
    if (!reader) return std::unexpected(reader.error());
    TraceStream stream;
    stream.reader_ = std::move(*reader);
    stream.to_skip_ = input.skip;
    stream.left_ = input.limit.value_or(~std::uint64_t{0});
    return stream;
}

std::expected<bool, std::string> TraceStream::next(TraceRequest& request) {
    if (left_ == 0) return false;
    for (;;) {
        const auto more = reader_->next(request);
        if (!more || !*more) return more;
        if (skipped_ == to_skip_) break;
        ++skipped_;
    }
    --left_;
    if (given_++ == 0) base_ns_ = request.time_ns;
    request.time_ns -= base_ns_;
    return true;
}

std::expected<void, std::string> TraceStream::check_given() const {
    if (given_ != 0) return {};
    return std::unexpected(skipped_ != 0 ? fmt::format("--skip leaves nothing of the {} requests of the trace", skipped_)
                                         : std::string{"--limit 0 leaves nothing of the trace"});
}

} // namespace flashlab

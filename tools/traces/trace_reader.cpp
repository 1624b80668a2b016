#include "tools/traces/trace_reader.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/traces/column_format.h"
#include "tools/traces/recorded_source.h"
#include "tools/traces/text_mark.h"
#include "tools/traces/trace_formats.h"

namespace flashlab {
namespace {

constexpr std::size_t sample_lines = 400;
constexpr std::uint64_t complaints_shown = 5;
constexpr std::uint64_t longest_ns = 3'200'000'000'000'000'000; ///< more overflows a simulated clock

struct Detection {
    std::string format, reason;
};

/// The lines of the sample that are whole.
std::vector<std::string_view> lines_of(std::string_view sample) {
    std::vector<std::string_view> lines;
    for (std::size_t at = 0; at < sample.size() && lines.size() < sample_lines;) {
        const std::size_t end = sample.find('\n', at);
        if (end == std::string_view::npos && !lines.empty()) break;
        std::string_view line = sample.substr(at, end - at);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.push_back(line);
        at = end == std::string_view::npos ? sample.size() : end + 1;
    }
    return lines;
}

std::expected<Detection, std::string> detect(std::string_view sample, char action) {
    if (sample.empty()) return std::unexpected(std::string{"the file is empty"});
    if (const auto binary = detect_binary_trace(sample); !binary.empty())
        return Detection{std::string{binary}, "its first bytes are those of this format"};
    const auto lines = lines_of(sample);
    Detection best;
    std::size_t best_requests = 0;
    for (const auto& format : text_trace_formats()) {
        const auto parser = format.make(action);
        std::size_t requests = 0, bad = 0, others = 0;
        TraceRequest request;
        for (const std::string_view line : lines) {
            const auto kind = parser->parse(line, request).kind;
            requests += kind == TraceParse::Kind::request ? 1 : 0;
            bad += kind == TraceParse::Kind::bad ? 1 : 0;
            others += kind == TraceParse::Kind::other ? 1 : 0;
        }
        // A block layer trace may begin with hundreds of events of other actions: they count when every line parses.
        const std::size_t worth = requests > 0 || format.name != "blkparse" ? requests : others;
        if (bad * 20 <= lines.size() && worth > best_requests) {
            best_requests = worth;
            best = {std::string{format.name}, fmt::format("{} of its first {} lines read as {}", lines.size() - bad, lines.size(), format.what)};
        }
    }
    if (best.format.empty())
        return std::unexpected(fmt::format("no known format reads it; name one with --format ({}), or describe its columns with --columns",
                                           fmt::join(trace_format_names(), ", ")));
    return best;
}

std::expected<std::unique_ptr<LineFormat>, std::string> make_line_format(const std::string& name, const TraceOptions& o) {
    if (name == "columns") {
        auto spec = parse_column_spec(o.columns, o.separator, o.op_words, o.has_header);
        if (!spec) return std::unexpected(spec.error());
        return std::make_unique<ColumnFormat>(std::move(*spec));
    }
    for (const auto& format : text_trace_formats())
        if (format.name == name) return format.make(o.action);
    return std::unexpected(fmt::format("--format {}: unknown; there are auto, columns, {}", name, fmt::join(trace_format_names(), ", ")));
}

std::expected<std::unique_ptr<TraceSource>, std::string> make_source(const std::string& path, const std::string& format, const TraceOptions& options,
                                                                     std::unique_ptr<ByteReader> reader) {
    if (format == "vscsi1" || format == "vscsi2") return make_vscsi_source(std::move(reader), format == "vscsi1" ? 1 : 2);
    if (format == "srt") return make_srt_source(std::move(reader));
    if (format == "blktrace") return make_blktrace_source(path, std::move(reader), options.action);
    auto line_format = make_line_format(format, options);
    if (!line_format) return std::unexpected(line_format.error());
    return make_text_source(std::move(reader), std::move(*line_format));
}

} // namespace

std::expected<std::unique_ptr<TraceReader>, std::string> TraceReader::open(const std::string& path, const TraceOptions& options) {
    if (path != "-" && is_recorded_trace(path)) return read(path, "recorded", "it is a device's event log", options, make_recorded_source(path));
    auto stream = open_byte_stream(path);
    if (!stream) return std::unexpected(stream.error());
    auto reader = std::make_unique<ByteReader>(std::move(*stream));
    std::unique_ptr<TraceReader> trace{new TraceReader};
    trace->path_ = path == "-" ? "standard input" : path;
    trace->options_ = options;
    trace->format_ = options.columns.empty() ? options.format : "columns";
    trace->reason_ = "named";
    if (trace->format_ == "auto") {
        const auto sample = reader->peek();
        if (!sample) return std::unexpected(sample.error());
        const auto detected = detect(without_mark(*sample), options.action);
        if (!detected) return std::unexpected(fmt::format("{}: {}", trace->path_, is_utf16(*sample) ? utf16_remedy : detected.error()));
        trace->format_ = detected->format;
        trace->reason_ = detected->reason;
    }
    auto source = make_source(path, trace->format_, options, std::move(reader));
    if (!source) return std::unexpected(source.error());
    trace->source_ = std::move(*source);
    return trace;
}

std::expected<std::unique_ptr<TraceReader>, std::string> TraceReader::read(const std::string& path, std::string_view format, std::string_view reason,
                                                                           const TraceOptions& options,
                                                                           std::expected<std::unique_ptr<TraceSource>, std::string> source) {
    if (!source) return std::unexpected(source.error());
    std::unique_ptr<TraceReader> trace{new TraceReader};
    trace->path_ = path;
    trace->options_ = options;
    trace->format_ = format;
    trace->reason_ = reason;
    trace->source_ = std::move(*source);
    return trace;
}

std::expected<bool, std::string> TraceReader::next(TraceRequest& request) {
    for (;;) {
        const auto parse = source_->next(request);
        if (!parse) return std::unexpected(fmt::format("{}: {}", path_, parse.error()));
        if (!*parse) {
            if (counts_.requests == 0)
                return std::unexpected(fmt::format("{}: no request in {} lines read as {}; name another --format", path_, counts_.lines, format_));
            if (!options_.skip_bad && counts_.bad * 100 > counts_.lines)
                return std::unexpected(fmt::format("{}: {} of {} lines are bad; --skip-bad goes on all the same", path_, counts_.bad, counts_.lines));
            return false;
        }
        ++counts_.lines;
        TraceParse found = **parse;
        if (found.kind == TraceParse::Kind::request && counts_.requests != 0 && request.time_ns > first_time_ns_ &&
            request.time_ns - first_time_ns_ > longest_ns)
            found = TraceParse::bad(0, "the time is more than a century after the first request's");
        if (found.kind == TraceParse::Kind::request && request.bytes > longest_request_bytes(request.op))
            found = TraceParse::bad(0, "the request is longer than anything can be");
        if (found.kind == TraceParse::Kind::request) break;
        if (found.kind == TraceParse::Kind::other)
            ++counts_.others;
        else if (auto noted = note_bad(found); !noted)
            return std::unexpected(noted.error());
    }
    if (counts_.requests++ == 0) first_time_ns_ = last_time_ns_ = previous_time_ns_ = request.time_ns;
    counts_.backward_steps += request.time_ns < previous_time_ns_ ? 1 : 0;
    previous_time_ns_ = request.time_ns;
    last_time_ns_ = std::max(last_time_ns_, request.time_ns);
    request.time_ns = last_time_ns_ - first_time_ns_;
    return true;
}

std::expected<void, std::string> TraceReader::note_bad(const TraceParse& parse) {
    ++counts_.bad;
    const std::string column = parse.column == 0 ? "" : fmt::format(", field {}", parse.column);
    const std::string text = fmt::format("{}: {}{}: {}", path_, source_->where(), column, parse.why);
    if (options_.complain && counts_.bad <= complaints_shown) options_.complain(text);
    if (!options_.skip_bad && counts_.bad * 100 > counts_.lines && counts_.bad >= 10)
        return std::unexpected(fmt::format("{} ({} of {} lines are bad as {}; {}--skip-bad goes on all the same)", text, counts_.bad, counts_.lines,
                                           format_, counts_.requests == 0 ? "without --format its content tells what it is; " : ""));
    return {};
}

} // namespace flashlab

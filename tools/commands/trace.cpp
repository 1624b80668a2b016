#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "tools/commands/commands.h"
#include "tools/table.h"
#include "tools/trace_input.h"
#include "tools/traces/trace_formats.h"
#include "tools/traces/trace_statistics.h"

namespace flashlab {
namespace {

int print_formats() {
    for (const auto& format : text_trace_formats())
        fmt::print("{:13} {}\n", format.name, format.what);
    fmt::print("{:13} {}\n{:13} {}\n{:13} {}\n", "vscsi1/vscsi2", "VMware vscsiStats and CloudPhysics, binary records of 32 and 40 bytes", "blktrace",
               "binary, the per-CPU files NAME.blktrace.N merged by time", "srt", "HP SRT TR_IOREC-1.3, binary");
    return exit_done;
}

using OutputFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::expected<OutputFile, std::string> open_output(const std::optional<std::string>& path) {
    if (!path)
        return OutputFile{stdout, [](std::FILE*) { return 0; }};
    OutputFile file{std::fopen(path->c_str(), "wx"), &std::fclose};
    if (file == nullptr)
        return std::unexpected(fmt::format("{}: {}", *path, std::generic_category().message(errno)));
    return file;
}

/// False for what the format cannot say: only MQSim-like lines, SPC and MSR are written, and none of them knows trims or flushes.
bool print_as(std::FILE* out, const std::string& format, const TraceRequest& r) {
    if (r.op != TraceOp::read && r.op != TraceOp::write)
        return false;
    const bool is_read = r.op == TraceOp::read;
    const std::uint64_t sector = r.offset / 512, sectors = (r.offset + r.bytes + 511) / 512 - sector;
    if (format == "mqsim")
        fmt::print(out, "{} {} {} {} {}\n", r.time_ns, r.device, sector, sectors, is_read ? 1 : 0);
    else if (format == "spc")
        fmt::print(out, "{},{},{},{},{}.{:09}\n", r.device, sector, r.bytes, is_read ? 'R' : 'W', r.time_ns / 1'000'000'000, r.time_ns % 1'000'000'000);
    else
        fmt::print(out, "{},trace,{},{},{},{},0\n", r.time_ns / 100, r.device, is_read ? "Read" : "Write", r.offset, r.bytes);
    return true;
}

int convert(const TraceCommandOptions& o, TraceStream& stream) {
    auto out = open_output(o.output);
    if (!out)
        return complain("trace: " + out.error());
    std::uint64_t written = 0, left_out = 0;
    TraceRequest request;
    for (;;) {
        const auto more = stream.next(request);
        if (!more)
            return complain("trace: " + more.error());
        if (!*more)
            break;
        ++(print_as(out->get(), *o.convert, request) ? written : left_out);
    }
    if (const auto some = stream.check_given(); !some)
        return complain("trace: " + some.error());
    if (std::fflush(out->get()) != 0 || std::ferror(out->get()) != 0)
        return complain("trace: the output could not be written: is its disk full?");
    if (left_out != 0)
        complain(fmt::format("trace: {} of {} requests are trims or flushes, which {} cannot say: left out", left_out, written + left_out, *o.convert));
    return exit_done;
}

std::string to_text(const TraceRequest& r) {
    return fmt::format("{:.6f} s, device {}, {} {} bytes at {}", static_cast<double>(r.time_ns) / 1e9, r.device, to_string(r.op), r.bytes, r.offset);
}

} // namespace

int run_trace(const TraceCommandOptions& o) {
    if (o.input.path.empty())
        return print_formats();
    if (auto good = check_usage(o.input); !good)
        return complain("trace: " + good.error(), exit_usage);
    auto stream = TraceStream::open(o.input);
    if (!stream)
        return complain("trace: " + stream.error());
    if (o.convert)
        return convert(o, *stream);
    TraceStatistics statistics;
    std::vector<std::string> first;
    TraceRequest request;
    for (;;) {
        const auto more = stream->next(request);
        if (!more)
            return complain("trace: " + more.error());
        if (!*more)
            break;
        if (first.size() < 3)
            first.push_back(to_text(request));
        statistics.add(request);
    }
    if (const auto some = stream->check_given(); !some)
        return complain("trace: " + some.error());
    const TraceCounts& counts = stream->reader().counts();
    Json result = Json::object({{"trace", o.input.path},
                                {"format", stream->reader().format()},
                                {"reason", stream->reader().reason()},
                                {"lines", counts.lines},
                                {"other_lines", counts.others},
                                {"bad_lines", counts.bad},
                                {"time_steps_backwards", counts.backward_steps}});
    Json records{Json::Array{}};
    for (const auto& text : first)
        records.push(text);
    result.add("first_requests", std::move(records));
    const Json measured = statistics.to_json();
    for (const auto& [key, value] : measured.members())
        result.add(key, value);
    fmt::print("{}", o.json ? result.dump() + "\n" : to_key_value_text(result));
    return exit_done;
}

} // namespace flashlab

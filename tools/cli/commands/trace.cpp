/// flashlab trace: what is in a trace, and its conversion.
#include <cstdio>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "tools/cli/command_options.h"
#include "tools/host/aside_file.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/run/trace_input.h"
#include "tools/text/table.h"
#include "tools/traces/trace_formats.h"
#include "tools/traces/trace_statistics.h"

namespace flashlab {
namespace {

struct TraceCommandOptions {
    TraceInput input;
    std::optional<std::string> convert, output;
    bool formats = false; ///< list them instead
    OutputFormat format = OutputFormat::table;
};

int print_formats() {
    for (const auto& format : text_trace_formats()) fmt::print("{:13} {}\n", format.name, format.what);
    fmt::print("{:13} {}\n{:13} {}\n{:13} {}\n", "vscsi1/vscsi2", "VMware vscsiStats and CloudPhysics, binary records of 32 and 40 bytes", "blktrace",
               "binary, the per-CPU files NAME.blktrace.N merged by time", "srt", "HP SRT TR_IOREC-1.3, binary");
    return exit_done;
}

/// The next request; false at the end, or at a signal.
std::expected<bool, std::string> next_until_signal(TraceStream& stream, TraceRequest& request) {
    if (Interruption::came()) return false;
    auto more = stream.next(request);
    return Interruption::came() ? false : more;
}

/// False for what the format cannot say: of those that are written FlashLab's own alone knows trims and flushes.
bool print_as(std::FILE* out, const std::string& format, const TraceRequest& r) {
    if (format == "flashlab") {
        fmt::print(out, "{},{},{},{}{},{},{}{}\n", r.time_ns, r.device, r.queue, to_string(r.op), r.fua ? "-fua" : "", r.offset, r.bytes,
                   r.stream == no_stream ? "" : fmt::format(",{}", r.stream.value()));
        return true;
    }
    if (r.op != TraceOp::read && r.op != TraceOp::write) return false;
    const bool is_read = r.op == TraceOp::read;
    const std::uint64_t sector = r.offset / 512, sectors = (r.offset + r.bytes + 511) / 512 - sector;
    if (format == "mqsim")
        fmt::print(out, "{} {} {} {} {}\n", r.time_ns, r.device, sector, sectors, is_read ? 1 : 0);
    else if (format == "spc")
        fmt::print(out, "{},{},{},{},{}.{:09}\n", r.device, sector, r.offset % 512 == 0 ? r.bytes : sectors * 512, is_read ? 'R' : 'W',
                   r.time_ns / 1'000'000'000, r.time_ns % 1'000'000'000);
    else
        fmt::print(out, "{},trace,{},{},{},{},0\n", r.time_ns / 100, r.device, is_read ? "Read" : "Write", r.offset, r.bytes);
    return true;
}

int convert(const TraceCommandOptions& o, TraceStream& stream) {
    std::optional<AsideFile> file;
    if (o.output) {
        auto made = AsideFile::make(*o.output, AsideFile::Existing::refused);
        if (!made) return complain("trace: " + made.error());
        file.emplace(std::move(*made));
    }
    std::FILE* const out = file ? file->stream() : stdout;
    if (out == nullptr) return complain(fmt::format("trace: {}: {}", *o.output, std::generic_category().message(errno)));
    if (*o.convert == "flashlab") fmt::print(out, "ns,device,queue,op,offset,bytes\n");
    std::uint64_t written = 0, left_out = 0, without_fua = 0, without_stream = 0, widened = 0;
    TraceRequest request;
    for (;;) {
        const auto more = next_until_signal(stream, request);
        if (!more) return complain("trace: " + more.error());
        if (!*more) break;
        const bool is_said = print_as(out, *o.convert, request);
        ++(is_said ? written : left_out);
        if (*o.convert == "flashlab" || !is_said) continue;
        without_fua += request.fua ? 1 : 0;
        without_stream += request.stream != no_stream ? 1 : 0;
        const bool needs_sectors = *o.convert == "spc" ? request.offset % 512 != 0 : (request.offset | request.bytes) % 512 != 0;
        widened += *o.convert != "msr" && needs_sectors ? 1 : 0;
    }
    if (Interruption::came())
        return complain(file ? fmt::format("trace: interrupted: {} is not made", *o.output)
                             : std::string{"trace: interrupted: what was printed is partial"});
    if (const auto some = stream.check_given(); !some) return complain("trace: " + some.error());
    if (file)
        if (const auto whole = file->commit(); !whole) return complain("trace: " + whole.error());
    if (left_out != 0)
        complain(
            fmt::format("trace: {} of {} requests are trims or flushes, which {} cannot say: left out", left_out, written + left_out, *o.convert));
    if (without_fua != 0)
        complain(fmt::format("trace: {} writes were to be durable when answered (FUA), which {} cannot say: they are plain ones", without_fua,
                             *o.convert));
    if (without_stream != 0) complain(fmt::format("trace: {} requests name a stream, which {} cannot say", without_stream, *o.convert));
    if (widened != 0)
        complain(fmt::format("trace: {} requests did not begin or end on a sector of 512 bytes: {} has the whole sectors", widened, *o.convert));
    return exit_done;
}

std::string to_text(const TraceRequest& r) {
    return fmt::format("{:.6f} s, device {}, {} {} bytes at {}", static_cast<double>(r.time_ns) / 1e9, r.device, to_string(r.op), r.bytes, r.offset);
}

int run_trace(const TraceCommandOptions& o) {
    if (o.formats) return print_formats();
    if (auto good = check_usage(o.input); !good) return complain("trace: " + good.error(), exit_usage);
    const Interruption interruption;
    auto stream = TraceStream::open(o.input);
    if (!stream) return complain("trace: " + stream.error());
    if (o.convert) return convert(o, *stream);
    TraceStatistics statistics;
    std::vector<std::string> first;
    TraceRequest request;
    for (;;) {
        const auto more = next_until_signal(*stream, request);
        if (!more) return complain("trace: " + more.error());
        if (!*more) break;
        if (first.size() < 3) first.push_back(to_text(request));
        statistics.add(request);
    }
    if (const auto some = stream->check_given(); !some && !Interruption::came()) return complain("trace: " + some.error());
    const TraceCounts& counts = stream->reader().counts();
    Json result = Json::object({{"trace", o.input.path},
                                {"format", stream->reader().format()},
                                {"reason", stream->reader().reason()},
                                {"lines", counts.lines},
                                {"other_lines", counts.others},
                                {"bad_lines", counts.bad},
                                {"time_steps_backwards", counts.backward_steps}});
    Json records{Json::Array{}};
    for (const auto& text : first) records.push(text);
    result.add("first_requests", std::move(records));
    const Json measured = statistics.to_json();
    for (const auto& [key, value] : measured.members()) result.add(key, value);
    if (Interruption::came()) result.add("partial", true);
    fmt::print("{}", shown(o.format, result));
    return exit_done;
}

} // namespace

void add_trace(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_trace, "trace", "Say what is in a trace (requests, mix, sizes, footprint), or convert it",
                              "flashlab trace financial1.spc.gz", [](const TraceCommandOptions& given) {
                                  if (!given.formats && given.input.path.empty()) throw CLI::RequiredError("TRACE");
                              });
    add_trace_input(c, o.input);
    c.get_option("TRACE")->required(false);
    c.add_flag("--formats", o.formats, "List the formats known");
    auto* convert = c.add_option("--convert", o.convert, "Write it as flashlab (all of it, with queues), spc, msr or mqsim")
                        ->check(CLI::IsMember({"flashlab", "spc", "msr", "mqsim"}));
    c.add_option("-o,--output", o.output, "of --convert: the file; otherwise standard output")->needs(convert);
    add_format(c, o.format, "One JSON object");
}

} // namespace flashlab

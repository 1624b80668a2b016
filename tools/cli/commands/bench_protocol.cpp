#include "tools/cli/commands/bench_protocol.h"

#include <optional>

#include <fmt/format.h>

#include "tools/cli/progress.h"
#include "tools/drive/config_schema.h"
#include "tools/host/aside_file.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/report/protocol_report.h"
#include "tools/run/protocols.h"
#include "tools/run/run_device.h"

namespace flashlab {

int run_bench_protocol(const BenchOptions& o) {
    if (o.device.directory || o.level != "device" || !o.queues.empty() || !o.precondition.empty() || o.device.events_file)
        return complain("bench: --protocol says all of its load, on a drive in memory that holds nothing: not with --device, --level, --queue, "
                        "--precondition or --events",
                        exit_usage);
    const Interruption interruption;
    std::optional<AsideFile> page;
    if (o.html) { // told before the first round, not after the last
        const auto& read = o.device.config_file;
        auto file = AsideFile::make(*o.html, AsideFile::Existing::replaced, read ? std::vector{*read} : std::vector<std::string>{});
        if (!file) return complain("bench: --html " + file.error());
        page.emplace(std::move(*file));
    }
    auto on = RunDevice::open(o.device, {.kind = "bench", .default_bytes = default_bench_bytes, .tells_warnings = true});
    if (!on) return complain("bench: " + on.error().text, on.error().code);
    const auto space = (*on)->sectors();
    if (!space) return complain("bench: " + space.error());
    Progress rounds{"rounds"};
    auto result =
        run_protocol(o.protocol, *space, o.runtime == Duration::max() ? usual_cell : o.runtime, o.seed, [&](std::uint64_t done) { rounds.at(done); });
    if (!result) return complain(fmt::format("bench: --protocol {}: {}", o.protocol, result.error()));
    const DeviceConfig& config = (*on)->device().config();
    result->add("ftl", config.ssd.ftl.scheme);
    result->add("preset", config.ssd.preset);
    result->add("config_hash", config_hash(config));
    result->add("device_bytes", space->bytes());
    result->add("seed", o.seed);
    result->add("version", FLASHLAB_VERSION);
    rounds.clear();
    fmt::print("{}", o.format == OutputFormat::table ? protocol_text(*result) : shown(o.format, *result));
    auto written = page ? page->write(protocol_page(*result)) : std::expected<void, std::string>{};
    if (written && page) written = page->commit();
    return written ? exit_done : complain("bench: --html " + written.error());
}

} // namespace flashlab

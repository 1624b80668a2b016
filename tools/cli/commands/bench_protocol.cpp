#include "tools/cli/commands/bench_protocol.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "tools/cli/progress.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/run/protocols.h"
#include "tools/run/run_device.h"
#include "tools/text/sizes.h"

namespace flashlab {
namespace {

/// A row a block size, a column a mix of reads and writes.
Table iops_table(const Json& result) {
    std::vector<std::string> heads{"bytes"};
    std::map<std::uint64_t, std::vector<std::string>, std::greater<>> rows;
    for (const Json& cell : result["cells"].items()) {
        const std::uint64_t reads = cell["read_percent"].number();
        const std::string head = fmt::format("{}/{}", reads, 100 - reads);
        if (std::ranges::find(heads, head) == heads.end()) heads.push_back(head);
        rows[cell["block_bytes"].number()].push_back(fmt::format("{:.0f}", cell["iops"].real()));
    }
    Table table{heads};
    for (auto& [bytes, cells] : rows) {
        cells.insert(cells.begin(), human_size(bytes));
        table.add(cells);
    }
    return table;
}

/// A row an object, a column a key.
Table rows_table(const Json& rows) {
    std::vector<std::string> heads;
    for (const auto& [key, value] : rows.items().front().members()) heads.push_back(key);
    Table table{heads};
    for (const Json& row : rows.items()) {
        std::vector<std::string> cells;
        for (const auto& [key, value] : row.members()) cells.push_back(fmt::format("{:.6g}", value.real()));
        table.add(cells);
    }
    return table;
}

void print_protocol(const Json& result) {
    const Json& steady = result["steady"];
    fmt::print("{} on {}, {}: {}.\n", result["protocol"].text(), result["ftl"].text(), result["preset"].text(),
               steady["reached"].truth() ? fmt::format("steady after {} rounds", result["rounds"].number())
                                         : fmt::format("NOT steady after {} rounds", result["rounds"].number()));
    fmt::print("Rounds {} to {}: {}, mean {:.5g}, excursion {:.1f} %, slope {:.1f} % (20 and 10 % are allowed). A cell takes {} s of the drive.\n\n",
               steady["first_round"].number(), steady["last_round"].number(), steady["tracked"].text(), steady["mean"].real(),
               steady["excursion"].real() * 100, steady["slope"].real() * 100, result["cell_seconds"].real());
    if (result["protocol"].text() == "snia-pts-iops")
        fmt::print("Requests a second, by bytes of a request and percent of reads/writes:\n{}\n", iops_table(result).to_text());
    else
        fmt::print("{}\n", rows_table(result["cells"]).to_text());
    if (!result["beside"].items().empty())
        fmt::print("A thread that waits, beside an open load of 99 % writes:\n{}\n", rows_table(result["beside"]).to_text());
    Table rounds{{"round", steady["tracked"].text()}};
    for (std::size_t i = 0; i < result["tracked"].items().size(); ++i)
        rounds.add({std::to_string(i + 1), fmt::format("{:.6g}", result["tracked"].items()[i].real())});
    fmt::print("{}\nAll of it, with exact numbers: --json.\n", rounds.to_text());
}

} // namespace

int run_bench_protocol(const BenchOptions& o) {
    if (o.device.directory || o.level != "device" || !o.queues.empty() || !o.precondition.empty() || o.device.events_file)
        return complain("bench: --protocol says all of its load, on a drive in memory that holds nothing: not with --device, --level, --queue, "
                        "--precondition or --events",
                        exit_usage);
    const Interruption interruption;
    auto on = RunDevice::open(o.device, {.kind = "bench", .default_bytes = default_bench_bytes});
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
    result->add("seed", o.seed);
    rounds.clear();
    if (o.format == OutputFormat::table)
        print_protocol(*result);
    else
        fmt::print("{}", shown(o.format, *result));
    return exit_done;
}

} // namespace flashlab

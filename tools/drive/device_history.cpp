#include "tools/drive/device_history.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "tools/host/private_file.h"
#include "tools/host/regular_file.h"
#include "tools/log/event_log_schema.h"

namespace flashlab {
namespace {

constexpr std::size_t largest_file = 1u << 16;
constexpr std::uint64_t latest_clock_ns = std::uint64_t{1} << 61; ///< 73 years

std::string path_in(const std::string& directory) { return directory + "/counters.json"; }

SampleEvent sample_from(const Json& json) {
    SampleEvent s;
    s.host_reads = json["host_reads"].number();
    s.host_writes = json["host_writes"].number();
    s.host_trims = json["host_trims"].number();
    s.host_flushes = json["host_flushes"].number();
    s.host_read_bytes = json["host_read_bytes"].number();
    s.host_write_bytes = json["host_write_bytes"].number();
    s.pram_words_written = json["pram_words_written"].number();
    for (std::uint8_t c = 0; c < cause_count; ++c) {
        const Json& cause = json["nand"][name_of_cause(c)];
        s.nand_reads[c] = cause["page_reads"].number();
        s.nand_programs[c] = cause["page_programs"].number();
        s.nand_erases[c] = cause["block_erases"].number();
    }
    return s;
}

} // namespace

Json to_json(const SampleEvent& s) {
    Json nand;
    for (std::uint8_t c = 0; c < cause_count; ++c)
        nand.add(std::string{name_of_cause(c)},
                 Json::object({{"page_reads", s.nand_reads[c]}, {"page_programs", s.nand_programs[c]}, {"block_erases", s.nand_erases[c]}}));
    return Json::object({{"host_reads", s.host_reads},
                         {"host_writes", s.host_writes},
                         {"host_trims", s.host_trims},
                         {"host_flushes", s.host_flushes},
                         {"host_read_bytes", s.host_read_bytes},
                         {"host_write_bytes", s.host_write_bytes},
                         {"pram_words_written", s.pram_words_written},
                         {"free_blocks", s.free_blocks},
                         {"nand", std::move(nand)}});
}

std::expected<DeviceHistory, std::string> DeviceHistory::read(const std::string& directory) {
    const auto failed = [&](std::string_view why) {
        return std::unexpected(
            fmt::format("{}: {}; the device is unharmed, its clock and the counters of smart begin again at zero", path_in(directory), why));
    };
    const auto text = read_regular_file(path_in(directory), largest_file);
    if (!text) return failed(text.error());
    const auto json = Json::parse(*text);
    if (!json) return failed(json.error());
    if (!(*json)["clock_ns"].is_number() || (*json)["clock_ns"].number(latest_clock_ns + 1) > latest_clock_ns) return failed("clock_ns is no time");
    DeviceHistory history;
    history.clock_ns = static_cast<std::int64_t>((*json)["clock_ns"].number());
    history.power_cycles = (*json)["power_cycles"].number();
    history.unsafe_shutdowns = (*json)["unsafe_shutdowns"].number();
    history.in_use = (*json)["in_use"].truth();
    history.gc_jobs = (*json)["gc_jobs"].number();
    history.gc_page_copies = (*json)["gc_page_copies"].number();
    history.uncorrectable_reads = (*json)["uncorrectable_reads"].number();
    history.unmapped_reads = (*json)["unmapped_reads"].number();
    history.own_counters = (*json)["counters"];
    history.bit_errors = (*json)["bit_errors"];
    history.totals = sample_from((*json)["totals"]);
    return history;
}

std::expected<void, std::string> DeviceHistory::write(const std::string& directory) const {
    Json json = Json::object({{"clock_ns", clock_ns},
                              {"power_cycles", power_cycles},
                              {"unsafe_shutdowns", unsafe_shutdowns},
                              {"in_use", in_use},
                              {"gc_jobs", gc_jobs},
                              {"gc_page_copies", gc_page_copies},
                              {"uncorrectable_reads", uncorrectable_reads},
                              {"unmapped_reads", unmapped_reads},
                              {"totals", to_json(totals)}});
    if (!own_counters.is_null()) json.add("counters", own_counters);
    if (!bit_errors.is_null()) json.add("bit_errors", bit_errors);
    const std::string path = path_in(directory);
    const std::string next = path + ".new";
    if (auto written = write_private_file(next, json.dump() + "\n"); !written) return written;
    if (std::rename(next.c_str(), path.c_str()) != 0) return std::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
    return {};
}

DeviceHistory DeviceHistory::plus(const SampleEvent& s, const FtlCounters& ftl, const Json& counters, const Json& raw_errors,
                                  const SsdCounters& ssd) const {
    DeviceHistory out = *this;
    auto& t = out.totals;
    t.host_reads += s.host_reads;
    t.host_writes += s.host_writes;
    t.host_trims += s.host_trims;
    t.host_flushes += s.host_flushes;
    t.host_read_bytes += s.host_read_bytes;
    t.host_write_bytes += s.host_write_bytes;
    t.pram_words_written += s.pram_words_written;
    t.free_blocks = s.free_blocks;
    for (std::size_t c = 0; c < cause_count; ++c) {
        t.nand_reads[c] += s.nand_reads[c];
        t.nand_programs[c] += s.nand_programs[c];
        t.nand_erases[c] += s.nand_erases[c];
    }
    out.gc_jobs += ftl.gc_jobs;
    out.gc_page_copies += ftl.gc_page_copies;
    const auto add = [](Json& all, const Json& before, const Json& now) {
        all = Json{};
        for (const auto& [name, value] : now.members()) all.add(name, before[name].number() + value.number());
    };
    add(out.own_counters, own_counters, counters);
    add(out.bit_errors, bit_errors, raw_errors);
    out.uncorrectable_reads += ssd.uncorrectable_reads;
    out.unmapped_reads += ssd.unmapped_reads;
    return out;
}

} // namespace flashlab

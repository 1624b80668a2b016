#include "tools/drive/prometheus_text.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace flashlab {

namespace {

std::string escaped(const std::string& value) {
    std::string out;
    for (const char c : value) {
        if (c == '\n') {
            out += "\\n";
            continue;
        }
        if (c == '\\' || c == '"') out += '\\';
        out += c;
    }
    return out;
}

struct Metric {
    const char* key;
    const char* name;
    const char* type;
    const char* help;
};

constexpr std::array of_stats{
    Metric{"host_reads", "host_reads_total", "counter", "Requests of the host to read, since the mount"},
    Metric{"host_writes", "host_writes_total", "counter", "Requests of the host to write, since the mount"},
    Metric{"host_trims", "host_trims_total", "counter", "Requests of the host to trim, since the mount"},
    Metric{"host_flushes", "host_flushes_total", "counter", "Flushes of the host, since the mount"},
    Metric{"host_read_bytes", "host_read_bytes_total", "counter", "Bytes that the host read, since the mount"},
    Metric{"host_write_bytes", "host_written_bytes_total", "counter", "Bytes that the host wrote, since the mount"},
    Metric{"unmapped_reads", "unmapped_reads_total", "counter", "Pages that were read and never written, or trimmed, since the mount"},
    Metric{"pram_words_written", "pram_words_written_total", "counter", "Words written to the PRAM, since the mount"},
    Metric{"gc_jobs", "collections_total", "counter", "Collections and merges, since the mount"},
    Metric{"gc_page_copies", "collection_copies_total", "counter", "Pages copied by them, since the mount"},
    Metric{"late_answers", "late_answers_total", "counter", "Answers that came later than the simulated drive would have given them"},
    Metric{"waf", "write_amplification_ratio", "gauge", "Bytes programmed / bytes the host wrote, since the mount"},
    Metric{"free_blocks", "free_blocks", "gauge", "Erased blocks"},
    Metric{"waiting_answers", "waiting_answers", "gauge", "Calls that wait for their simulated time"},
};

constexpr std::array of_smart{
    Metric{"critical_warning", "smart_critical_warning", "gauge", "As in the NVMe SMART log"},
    Metric{"avail_spare", "smart_available_spare_percent", "gauge", "As in the NVMe SMART log"},
    Metric{"percent_used", "smart_percentage_used_percent", "gauge", "As in the NVMe SMART log"},
    Metric{"media_errors", "smart_media_errors_total", "counter", "As in the NVMe SMART log, since mkfs"},
    Metric{"unsafe_shutdowns", "smart_unsafe_shutdowns_total", "counter", "As in the NVMe SMART log, since mkfs"},
    Metric{"power_cycles", "smart_power_cycles_total", "counter", "As in the NVMe SMART log, since mkfs"},
    Metric{"physical_media_units_written_bytes", "media_written_bytes_total", "counter", "Bytes programmed on the flash, since mkfs"},
    Metric{"physical_media_units_read_bytes", "media_read_bytes_total", "counter", "Bytes read on the flash, since mkfs"},
    Metric{"bad_user_nand_blocks", "bad_blocks", "gauge", "Bad blocks, factory and grown"},
    Metric{"wear_min", "block_erases_min", "gauge", "Erases of the least worn block"},
    Metric{"wear_mean", "block_erases_mean", "gauge", "Erases of a block, on the mean"},
    Metric{"wear_max", "block_erases_max", "gauge", "Erases of the most worn block"},
    Metric{"remaining_percent", "lifetime_remaining_percent", "gauge", "Of the rated erases"},
    Metric{"tbw_bytes", "lifetime_host_bytes", "gauge", "That the host may write in the drive's whole life at its write amplification until now"},
};

class Text {
public:
    explicit Text(const std::string& device) : device_{fmt::format("device=\"{}\"", escaped(device))} {}
    void begin(const std::string& name, const char* type, const char* help) {
        text_ += fmt::format("# HELP flashlab_{0} {1}\n# TYPE flashlab_{0} {2}\n", name, help, type);
    }
    void sample(const std::string& name, const std::string& labels, const Json& value) {
        text_ += fmt::format("flashlab_{}{{{}{}{}}} {}\n", name, device_, labels.empty() ? "" : ",", labels, value.dump());
    }
    template <class Metrics>
    void plain(const Metrics& metrics, const Json& from) {
        for (const Metric& m : metrics) {
            if (!from[m.key].is_number()) continue;
            begin(m.name, m.type, m.help);
            sample(m.name, "", from[m.key]);
        }
    }
    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    std::string device_, text_;
};

} // namespace

std::string prometheus_text(const Json& stats, const Json& smart, const std::string& device) {
    Text text{device};
    text.plain(of_stats, stats);
    constexpr std::array by_cause{Metric{"page_programs", "nand_page_programs_total", "counter", "Pages programmed, by cause, since the mount"},
                                  Metric{"page_reads", "nand_page_reads_total", "counter", "Pages read, by cause, since the mount"},
                                  Metric{"block_erases", "nand_block_erases_total", "counter", "Blocks erased, by cause, since the mount"}};
    for (const Metric& m : by_cause) {
        text.begin(m.name, m.type, m.help);
        for (const auto& [cause, counts] : stats["nand"].members()) text.sample(m.name, fmt::format("cause=\"{}\"", escaped(cause)), counts[m.key]);
    }
    text.begin("channel_busy_seconds_total", "counter", "Simulated time that the bus of a channel was busy, since the mount");
    const auto& channels = stats["channel_busy_ns"].items();
    for (std::size_t c = 0; c < channels.size(); ++c)
        text.sample("channel_busy_seconds_total", fmt::format("channel=\"{}\"", c), channels[c].real() / 1e9);
    text.begin("call_latency_seconds", "summary", "Simulated latency of the calls of programs, since the mount");
    for (const Json& o : stats["operations"].items()) {
        const std::string op = fmt::format("op=\"{}\"", escaped(o["op"].text()));
        text.sample("call_latency_seconds", op + ",quantile=\"0.5\"", o["p50_us"].real() / 1e6);
        text.sample("call_latency_seconds", op + ",quantile=\"0.99\"", o["p99_us"].real() / 1e6);
        text.sample("call_latency_seconds", op + ",quantile=\"1\"", o["max_us"].real() / 1e6);
        text.sample("call_latency_seconds_count", op, o["calls"]);
    }
    if (const auto& counters = stats["counters"].members(); !counters.empty()) {
        text.begin("scheme_counter_total", "counter", "What the translation layer counts besides what all do, since the mount");
        for (const auto& [name, value] : counters) text.sample("scheme_counter_total", fmt::format("counter=\"{}\"", escaped(name)), value);
    }
    text.plain(of_smart, smart);
    return text.take();
}

} // namespace flashlab

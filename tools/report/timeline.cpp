#include "tools/report/timeline.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "base/events.h"
#include "tools/report/log_run.h"
#include "tools/report/timeline_tracks.h"

namespace flashlab {
namespace {

/// The layers, in the order in which they are shown.
enum class Layer : std::uint8_t { applications = 1, host, link, channels, planes, collections, pram, caches };
constexpr std::string_view layer_names[] = {"",       "Applications",           "Host requests", "Host link",        "Channels",
                                            "Planes", "Collections and merges", "PRAM",          "Caches and blocks"};

class Timeline {
public:
    Timeline(LogRowsReader& log, LogRunRange run, const TimelineWindow& window, AsideFile& file, const ReadProgress& progress)
        : log_{log}, run_{std::move(run)}, file_{file}, progress_{progress}, from_{run_.start_ns + window.from_ns},
          to_{window.to_ns ? run_.start_ns + *window.to_ns : run_.to_ns} {}

    std::expected<TimelineCount, std::string> write() {
        put("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
        write_applications();
        write_requests();
        write_collections();
        write_operations();
        write_pram();
        write_counters();
        write_names();
        put("\n]}\n");
        drain();
        if (!failure_.empty()) return std::unexpected(failure_);
        return count_;
    }

private:
    /// Where the slice of a parent lies, for the arrows from it.
    struct Place {
        Layer layer;
        std::uint32_t track;
        std::int64_t at;
    };

    void write_applications() {
        each("SELECT f.id, ts_ns, dur_ns, o.name, ino, offset_bytes, bytes, error FROM fs_op f JOIN fs_op_name o USING(op) WHERE " +
                 overlap(run_.ids()) + " ORDER BY ts_ns, dur_ns DESC",
             [&](const LogRow& r) {
                 const auto track = slice(Layer::applications, 0, "calls", r.text(3), r.number(1), r.number(2),
                                          fmt::format("\"id\":{},\"ino\":{},\"offset\":{},\"bytes\":{},\"errno\":{}", r.number(0), r.number(4),
                                                      r.number(5), r.number(6), r.number(7)));
                 begin(r.number(0), Layer::applications, track, r.number(1));
             });
    }

    void write_requests() {
        const auto setting = [&](const char* key) { return static_cast<std::int64_t>(std::strtoll(run_.setting(key).c_str(), nullptr, 10)); };
        const std::int64_t overhead = setting("request_overhead_ns"), ps = setting("ps_per_byte");
        std::int64_t link_free = 0;
        each("SELECT h.id, ts_ns, dur_ns, o.name, op, first_sector, sectors, fua, failed, queue, waited_ns FROM host_request h JOIN host_op_name o "
             "USING(op) WHERE " +
                 overlap(run_.ids()) + " ORDER BY ts_ns, dur_ns DESC",
             [&](const LogRow& r) {
                 const std::int64_t ts = r.number(1), end = ts + r.number(2), data = (r.number(6) * 512 * ps + 999) / 1000;
                 const bool is_write = r.number(4) == static_cast<std::int64_t>(HostOp::write),
                            is_read = r.number(4) == static_cast<std::int64_t>(HostOp::read);
                 const auto track =
                     slice(Layer::host, 0, "requests", r.text(3), ts, r.number(2),
                           fmt::format("\"id\":{},\"first_sector\":{},\"sectors\":{},\"fua\":{},\"failed\":{},\"queue\":{},\"waited_ns\":{}",
                                       r.number(0), r.number(5), r.number(6), r.number(7), r.number(8), r.number(9), r.number(10)));
                 begin(r.number(0), Layer::host, track, ts);
                 const std::int64_t in = std::max(ts, link_free), in_ns = std::min(end - std::min(in, end), overhead + (is_write ? data : 0));
                 link_free = in + in_ns;
                 if (in_ns > 0) slice(Layer::link, 0, "to the drive", r.text(3), in, in_ns, fmt::format("\"request\":{}", r.number(0)));
                 if (is_read && r.number(8) == 0 && data > 0) answers_.push_back({end - std::min(data, r.number(2)), end, r.number(0)});
             });
        std::ranges::sort(answers_);
        for (const auto& [at, end, request] : answers_)
            slice(Layer::link, 1, "to the host", "data", at, end - at, fmt::format("\"request\":{}", request));
    }

    void write_collections() {
        each("SELECT j.id, ts_ns, dur_ns, c.name, group_no, victim_block, valid_pages FROM gc_job j JOIN cause_name c USING(cause) WHERE " +
                 overlap(run_.ids()) + " ORDER BY ts_ns, dur_ns DESC",
             [&](const LogRow& r) {
                 const auto track =
                     slice(Layer::collections, static_cast<std::uint32_t>(r.number(4)), fmt::format("group {}", r.number(4)), r.text(3), r.number(1),
                           r.number(2), fmt::format("\"id\":{},\"victim_block\":{},\"valid_pages\":{}", r.number(0), r.number(5), r.number(6)));
                 begin(r.number(0), Layer::collections, track, r.number(1));
             });
    }

    void write_operations() {
        each("SELECT n, ts_ns, dur_ns, op, cause, parent, channel, plane, block, page, pages, lpn, bus_in_at_ns, bus_in_ns, bus_out_at_ns, "
             "bus_out_ns, page_kind "
             "FROM nand_op WHERE " +
                 overlap(run_.rows("nand_op")) + " ORDER BY ts_ns, dur_ns DESC",
             [&](const LogRow& r) {
                 const std::int64_t ts = r.number(1), parent = r.number(5);
                 const std::string name = fmt::format("{} {}", nand_op_names[static_cast<std::size_t>(r.number(3)) % nand_op_names.size()],
                                                      cause_names[static_cast<std::size_t>(r.number(4)) % cause_names.size()]);
                 const auto plane = static_cast<std::uint32_t>(r.number(7)), channel = static_cast<std::uint32_t>(r.number(6));
                 const auto track =
                     slice(Layer::planes, plane, fmt::format("plane {} (channel {})", plane, channel), name, ts, r.number(2),
                           fmt::format("\"parent\":{},\"block\":{},\"page\":{},\"pages\":{},\"lpn\":{}", r.is_null(5) ? "null" : r.text(5),
                                       r.number(8), r.number(9), r.number(10), r.is_null(11) ? "null" : r.text(11)));
                 if (r.number(10) == 1)
                     for (const int phase : {12, 14})
                         if (r.number(phase + 1) > 0)
                             moves_.push_back({ts + r.number(phase), ts + r.number(phase) + r.number(phase + 1), channel, r.number(0)});
                 if (track && !r.is_null(5)) arrow(parent, r.number(0), *track, ts);
             });
        std::ranges::sort(moves_);
        for (const auto& [at, end, channel, operation] : moves_)
            slice(Layer::channels, channel, fmt::format("channel {}", channel), "transfer", at, end - at, fmt::format("\"nand_op\":{}", operation));
    }

    void write_pram() {
        each("SELECT ts_ns, dur_ns, u.name, parent, log_words, home_words, compared_words, user FROM pram_write JOIN pram_user_name u USING(user) "
             "WHERE " +
                 overlap(run_.rows("pram_write")) + " ORDER BY ts_ns, dur_ns DESC",
             [&](const LogRow& r) {
                 slice(Layer::pram, static_cast<std::uint32_t>(r.number(7)), r.text(2), "transaction", r.number(0), r.number(1),
                       fmt::format("\"parent\":{},\"log_words\":{},\"home_words\":{},\"compared_words\":{}", r.is_null(3) ? "null" : r.text(3),
                                   r.number(4), r.number(5), r.number(6)));
             });
    }

    void write_counters() {
        const std::string at = fmt::format("ts_ns >= {} AND ts_ns < {} AND run = {}", from_, to_, run_.run);
        each("SELECT ts_ns, free_blocks FROM sample WHERE " + at,
             [&](const LogRow& r) { counter("free blocks", r.number(0), fmt::format("\"blocks\":{}", r.number(1))); });
        each("SELECT ts_ns, map_bytes, buffer_bytes FROM partition_decision WHERE " + at,
             [&](const LogRow& r) { counter("DRAM", r.number(0), fmt::format("\"maps\":{},\"write buffer\":{}", r.number(1), r.number(2))); });
        if (log_.has_table("sample_counter"))
            each("SELECT ts_ns, name, value FROM sample JOIN sample_counter USING(sample) WHERE " + at,
                 [&](const LogRow& r) { counter(r.text(1), r.number(0), fmt::format("\"count\":{}", r.number(2))); });
        if (!log_.has_table("sample_scheme")) return;
        each("SELECT ts_ns, buffer_read_hits + buffer_write_hits, buffer_read_misses + buffer_write_misses, map_read_hits + map_write_hits, "
             "map_read_misses + "
             "map_write_misses FROM sample JOIN sample_scheme USING(sample) WHERE " +
                 at,
             [&](const LogRow& r) {
                 counter("write buffer", r.number(0), fmt::format("\"hits\":{},\"misses\":{}", r.number(1), r.number(2)));
                 counter("mapping cache", r.number(0), fmt::format("\"hits\":{},\"misses\":{}", r.number(3), r.number(4)));
             });
    }

    void write_names() {
        for (std::size_t layer = 1; layer < std::size(layer_names); ++layer) {
            put(fmt::format("{}{{\"ph\":\"M\",\"pid\":{},\"name\":\"process_name\",\"args\":{{\"name\":\"{}\"}}}}", comma(), layer,
                            layer_names[layer]));
            put(fmt::format(",\n{{\"ph\":\"M\",\"pid\":{0},\"name\":\"process_sort_index\",\"args\":{{\"sort_index\":{0}}}}}", layer));
        }
        for (const auto& [track, name] : names_)
            put(fmt::format(",\n{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"thread_name\",\"args\":{{\"name\":\"{}\"}}}}", track.first,
                            track.second, name));
    }

    /// The further tracks of a resource are for what overlaps. Answers the track, or none where all are taken.
    std::optional<std::uint32_t> slice(Layer layer, std::uint32_t resource, const std::string& resource_name, const std::string& name,
                                       std::int64_t ts, std::int64_t ns, const std::string& arguments) {
        const auto pid = static_cast<std::uint32_t>(layer);
        const auto further = tracks_[{pid, resource}].place(ts, ts + ns);
        if (!further) {
            ++count_.left_out;
            return std::nullopt;
        }
        const std::uint32_t tid = resource * TimelineTracks::most + *further + 1;
        auto& known = names_[{pid, tid}];
        if (known.empty()) known = *further == 0 ? resource_name : fmt::format("{} ({})", resource_name, *further + 1);
        put(fmt::format("{}{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"ts\":{},\"dur\":{},\"args\":{{{}}}}}", comma(), pid, tid, name,
                        micros(ts), micros(ns), arguments));
        ++count_.slices;
        return tid;
    }

    void begin(std::int64_t id, Layer layer, std::optional<std::uint32_t> track, std::int64_t at) {
        if (track) places_[id] = {layer, *track, at};
    }

    void arrow(std::int64_t parent, std::int64_t operation, std::uint32_t track, std::int64_t ts) {
        const auto found = places_.find(parent);
        if (found == places_.end()) return;
        const Place& from = found->second;
        put(fmt::format("{}{{\"ph\":\"s\",\"pid\":{},\"tid\":{},\"id\":{},\"cat\":\"cause\",\"name\":\"caused\",\"ts\":{}}}", comma(),
                        static_cast<int>(from.layer), from.track, operation, micros(from.at)));
        put(fmt::format(",\n{{\"ph\":\"f\",\"bp\":\"e\",\"pid\":{},\"tid\":{},\"id\":{},\"cat\":\"cause\",\"name\":\"caused\",\"ts\":{}}}",
                        static_cast<int>(Layer::planes), track, operation, micros(ts)));
        ++count_.arrows;
    }

    void counter(std::string_view name, std::int64_t ts, const std::string& values) {
        put(fmt::format("{}{{\"ph\":\"C\",\"pid\":{},\"name\":\"{}\",\"ts\":{},\"args\":{{{}}}}}", comma(), static_cast<int>(Layer::caches), name,
                        micros(ts), values));
        ++count_.counters;
    }

    /// Microseconds since the window's run began, as the format wants them; three decimals are nanoseconds.
    [[nodiscard]] std::string micros(std::int64_t ns) const { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }
    [[nodiscard]] std::string overlap(const std::string& rows) const {
        return fmt::format("ts_ns < {} AND ts_ns + dur_ns > {} AND ts_ns >= {} AND {}", to_, from_, run_.start_ns, rows);
    }
    std::string_view comma() { return std::exchange(first_, false) ? "" : ",\n"; }

    void each(const std::string& sql, const std::function<void(const LogRow&)>& row) {
        if (!failure_.empty()) return;
        if (auto done = log_.read(sql, row, progress_); !done) failure_ = done.error();
    }
    void put(std::string_view text) {
        buffer_ += text;
        if (buffer_.size() > std::size_t{1} << 20) drain();
    }
    void drain() {
        if (auto done = file_.write(buffer_); !done && failure_.empty()) failure_ = done.error();
        buffer_.clear();
    }

    LogRowsReader& log_;
    LogRunRange run_;
    AsideFile& file_;
    const ReadProgress& progress_;
    std::int64_t from_, to_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, TimelineTracks> tracks_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> names_;
    std::unordered_map<std::int64_t, Place> places_; ///< looked up only
    std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> answers_;
    std::vector<std::tuple<std::int64_t, std::int64_t, std::uint32_t, std::int64_t>> moves_;
    TimelineCount count_;
    bool first_ = true;
    std::string buffer_, failure_;
};

} // namespace

std::expected<TimelineCount, std::string> write_timeline(const std::string& log_path, const TimelineWindow& window, AsideFile& to,
                                                         const ReadProgress& progress) {
    auto log = LogRowsReader::open(log_path);
    if (!log) return std::unexpected(log.error());
    auto run = find_run(*log, window.run);
    if (!run) return std::unexpected(fmt::format("{}: {}", log_path, run.error()));
    return Timeline{*log, std::move(*run), window, to, progress}.write();
}

} // namespace flashlab

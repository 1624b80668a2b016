#include "tools/fit/fio_results.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "tools/host/regular_file.h"
#include "tools/text/fio_values.h"
#include "tools/text/json.h"

namespace flashlab {

namespace {

constexpr std::uint64_t longest_results = std::uint64_t{64} << 20;

std::expected<std::uint64_t, std::string> size_of(std::string_view text) {
    constexpr std::uint64_t kb_base = 1024; // fio's own
    return fio_size(text, kb_base);
}

/// One job's options, over those of all jobs.
class FioOptions {
public:
    FioOptions(const Json& global, const Json& own) : global_{global}, own_{own} {}
    [[nodiscard]] bool has(std::string_view name) const { return !text(name, name, "").empty(); }
    [[nodiscard]] std::string text(std::string_view name, std::string_view other, std::string_view otherwise) const {
        for (const Json* options : {&own_, &global_})
            for (const std::string_view key : {name, other})
                if (!(*options)[key].is_null()) return (*options)[key].text();
        return std::string{otherwise};
    }
    /// A size or a number, as fio reads it: of a list "4k,8k" what is for this direction. Of what is none: not_understood().
    [[nodiscard]] std::uint64_t number(std::string_view name, std::string_view other, std::uint64_t otherwise, bool of_writes = false) const {
        const std::string all = text(name, other, "");
        const FioDirections list = fio_directions(all);
        const std::string_view one = of_writes ? list.writes : list.reads;
        return one.empty() ? otherwise : understood(name, one).value_or(otherwise);
    }
    /// Of the settings of a mix the later counts, and the job's own.
    [[nodiscard]] std::uint32_t mixed_reads() const {
        std::uint64_t reads = 50;
        for (const Json* options : {&global_, &own_})
            for (const auto& [name, value] : options->members()) {
                if (name != "rwmixread" && name != "rwmixwrite") continue;
                const std::uint64_t percent = std::min<std::uint64_t>(understood(name, value.text()).value_or(50), 100);
                reads = name == "rwmixread" ? percent : 100 - percent;
            }
        return static_cast<std::uint32_t>(reads);
    }
    [[nodiscard]] const std::string& not_understood() const { return not_understood_; }

private:
    [[nodiscard]] std::optional<std::uint64_t> understood(std::string_view name, std::string_view text) const {
        if (const auto value = size_of(text)) return *value;
        if (not_understood_.empty()) not_understood_ = fmt::format("{}={}: is not understood as a number or a size", name, text);
        return std::nullopt;
    }

    mutable std::string not_understood_;
    const Json& global_;
    const Json& own_;
};

double percentile_us(const Json& direction, double percent) {
    for (const auto& [latency, in_us] : {std::pair{"clat_ns", 1e3}, {"lat_ns", 1e3}, {"clat", 1.0}}) // the last of fio 2
        for (const auto& [key, value] : direction[latency]["percentile"].members()) {
            double number = 0;
            const auto end = std::from_chars(key.data(), key.data() + key.size(), number);
            if (end.ec == std::errc{} && std::abs(number - percent) < 1e-6) return value.real() / in_us;
        }
    return 0;
}

/// Of what is measured, what no drive can do: a request a picosecond, one that takes ten days, or a number that is none.
std::expected<void, std::string> is_possible(std::string_view direction, const Json& of) {
    constexpr double most_a_second = 1e12, longest_us = 1e12;
    const auto wrong = [&](std::string_view key, double value) {
        return std::unexpected(fmt::format("{}.{} = {:g}: no drive does that", direction, key, value));
    };
    for (const std::string_view key : {"iops", "total_ios"})
        if (const double value = of[key].real(); !(value >= 0 && value <= (key == "iops" ? most_a_second : 1e18))) return wrong(key, value);
    for (const double percent : {50.0, 99.0})
        if (const double us = percentile_us(of, percent); !(us >= 0 && us <= longest_us))
            return wrong(fmt::format("percentile.{}", percent), us * 1e3);
    return {};
}

/// Rates add up; of latencies the mean by requests stands for what the file does not say.
void take_direction(TimedDirection& into, double& requests_before, const Json& direction) {
    const double requests = direction["total_ios"].real(), all = requests_before + requests;
    if (requests == 0) return;
    const auto blend = [&](double& mean, double one) { mean = (mean * requests_before + one * requests) / all; };
    blend(into.p50_us, percentile_us(direction, 50));
    blend(into.p99_us, percentile_us(direction, 99));
    into.iops += direction["iops"].real();
    requests_before = all;
}

/// "900" of both directions, "900,100" of reads and writes; of bytes, with `divisor`.
std::array<double, 2> planned_of(const std::string& text, double divisor, std::uint32_t read_percent) {
    std::array<double, 2> out{};
    const FioDirections list = fio_directions(text);
    for (const std::size_t direction : {0u, 1u}) {
        const auto value = size_of(direction == 0 ? list.reads : list.writes);
        if (value && (direction == 0 ? read_percent != 0 : read_percent != 100)) out[direction] = static_cast<double>(*value) / divisor;
    }
    return out;
}

std::expected<FitStream, std::string> stream_of(const std::string& name, const FioOptions& options) {
    FitStream stream;
    stream.name = name;
    for (const std::string_view other : {"bsrange", "bssplit", "random_distribution", "thinktime"})
        if (const std::string value = options.text(other, other, ""); !value.empty() && value != "random" && value != "0")
            return std::unexpected(fmt::format("job {}: {}={}: no load of the fit; leave the job out", name, other, value));
    const std::string rw = options.text("rw", "readwrite", "read");
    stream.in_order = !rw.starts_with("rand");
    if (rw.find("trim") != rw.npos) return std::unexpected(fmt::format("job {}: rw={}: trims are not fitted; leave the job out", name, rw));
    const bool mixes = rw.starts_with("randrw") || rw.starts_with("rw") || rw.starts_with("readwrite");
    stream.read_percent = mixes ? options.mixed_reads() : rw.find("read") != rw.npos ? 100 : 0;
    stream.block_bytes = options.number("bs", "blocksize", 4096, stream.read_percent == 0);
    if (mixes && options.number("bs", "blocksize", 4096, true) != stream.block_bytes)
        return std::unexpected(
            fmt::format("job {}: bs={}: sizes of reads and writes differ; leave the job out", name, options.text("bs", "blocksize", "")));
    if (stream.block_bytes == 0 || stream.block_bytes % 512 != 0)
        return std::unexpected(fmt::format("job {}: bs={}: a multiple of 512 is wanted", name, stream.block_bytes));
    const std::string engine = options.text("ioengine", "ioengine", "");
    const std::uint64_t depth = (is_fio_synchronous(engine) ? 1 : options.number("iodepth", "iodepth", 1)) *
                                std::max<std::uint64_t>(1, options.number("numjobs", "numjobs", 1));
    stream.depth = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(depth, 1, 65536));
    if (options.has("rate_iops")) stream.planned_iops = planned_of(options.text("rate_iops", "rate_iops", ""), 1, stream.read_percent);
    if (options.has("rate"))
        stream.planned_iops = planned_of(options.text("rate", "rate", ""), static_cast<double>(stream.block_bytes), stream.read_percent);
    stream.is_poisson = options.text("rate_process", "rate_process", "linear") == "poisson";
    if (const std::string& wrong = options.not_understood(); !wrong.empty()) return std::unexpected(fmt::format("job {}: {}", name, wrong));
    return stream;
}

/// From the first line that begins with { to the last that begins with }: fio's warnings may stand before, its normal output behind.
std::string_view object_in(std::string_view text) {
    const std::size_t begin = text.starts_with('{') ? 0 : text.find("\n{") + 1; // npos + 1 is 0
    const std::size_t end = text.rfind("\n}");
    return end == text.npos || end < begin ? text.substr(begin) : text.substr(begin, end + 2 - begin);
}

} // namespace

std::expected<std::vector<FitPoint>, std::string> parse_fio_results(const std::string& text, const std::string& path) {
    const auto json = Json::parse(object_in(text));
    if (!json) return std::unexpected(fmt::format("{}: no JSON of fio (--output-format=json): {}", path, json.error()));
    const Json& jobs = (*json)["jobs"].is_null() ? (*json)["client_stats"] : (*json)["jobs"];
    if (jobs.items().empty()) return std::unexpected(fmt::format("{}: no jobs in it: fio --output-format=json is wanted", path));
    std::vector<FitPoint> points;
    std::array<double, 2> requests{};
    std::uint64_t group = 0;
    for (const Json& job : jobs.items()) {
        if (job["jobname"].text() == "All clients") continue; // their sum
        const FioOptions options{(*json)["global options"], job["job options"]};
        auto stream = stream_of(job["jobname"].text("?"), options);
        if (!stream) return std::unexpected(fmt::format("{}: {}", path, stream.error()));
        if (const auto error = job["error"].number(); error != 0)
            return std::unexpected(fmt::format("{}: job {}: it failed: error {}; leave the job out", path, stream->name, error));
        const bool is_first = points.empty();
        const std::uint64_t own = job["groupid"].number();
        const bool goes_on = !is_first && own == group && points.back().streams.back().name == stream->name; // another process of the same job
        if (!goes_on) {
            if (is_first || own != group) points.push_back({path, {}});
            group = own;
            points.back().streams.push_back(std::move(*stream));
            requests = {};
        }
        for (const char* direction : {"read", "write"})
            if (const auto possible = is_possible(direction, job[direction]); !possible)
                return std::unexpected(fmt::format("{}: job {}: {}", path, points.back().streams.back().name, possible.error()));
        FitStream& of = points.back().streams.back();
        take_direction(of.read, requests[0], job["read"]);
        take_direction(of.write, requests[1], job["write"]);
    }
    return points;
}

std::expected<std::vector<FitPoint>, std::string> read_fio_results(const std::string& path) {
    const auto text = read_regular_file(path, longest_results);
    if (!text) return std::unexpected(fmt::format("{}: {}", path, text.error()));
    return parse_fio_results(*text, path);
}

} // namespace flashlab

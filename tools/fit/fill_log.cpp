#include "tools/fit/fill_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tools/host/regular_file.h"

namespace flashlab {

namespace {

constexpr std::size_t parts = 400; ///< of a fill
constexpr double clear_change = 4.0 / 3;
constexpr std::uint64_t longest_log = std::uint64_t{256} << 20;

/// The speed of each of `parts` equal shares of the bytes.
std::vector<double> speeds_by_share(const std::vector<FillStep>& steps) {
    double all = 0;
    for (const FillStep& step : steps) all += step.bytes;
    std::vector<double> seconds(parts, 0.0);
    const double share = all / parts;
    double written = 0;
    for (const FillStep& step : steps) {
        for (double left = step.bytes; left > 0;) {
            const auto part = std::min(parts - 1, static_cast<std::size_t>(written / share + 1e-9));
            const double room = std::max(share * static_cast<double>(part + 1) - written, share * 1e-6);
            const double here = part + 1 == parts ? left : std::min(left, room);
            seconds[part] += step.seconds * here / step.bytes;
            written += here;
            left -= here;
        }
    }
    for (double& part : seconds) part = share / std::max(part, 1e-12);
    return seconds;
}

/// Sums of logarithms, so that the squares of any stretch follow from two differences.
class Stretches {
public:
    explicit Stretches(std::span<const double> speeds) : sum_(speeds.size() + 1), squares_(speeds.size() + 1) {
        for (std::size_t i = 0; i < speeds.size(); ++i) {
            const double log = std::log(speeds[i]);
            sum_[i + 1] = sum_[i] + log;
            squares_[i + 1] = squares_[i] + log * log;
        }
    }
    [[nodiscard]] double mean(std::size_t from, std::size_t to) const { return (sum_[to] - sum_[from]) / static_cast<double>(to - from); }
    [[nodiscard]] double error(std::size_t from, std::size_t to) const {
        const double sum = sum_[to] - sum_[from];
        return squares_[to] - squares_[from] - sum * sum / static_cast<double>(to - from);
    }

private:
    std::vector<double> sum_, squares_;
};

/// Where a stretch is best taken for two, if the second is clearly slower.
std::optional<std::size_t> fall_in(const Stretches& of, std::size_t from, std::size_t to) {
    constexpr std::size_t least = parts / 100;
    if (to - from < 2 * least) return std::nullopt;
    std::size_t best = from + least;
    for (std::size_t at = from + least; at + least <= to; ++at)
        if (of.error(from, at) + of.error(at, to) < of.error(from, best) + of.error(best, to)) best = at;
    if (of.mean(from, best) - of.mean(best, to) < std::log(clear_change)) return std::nullopt;
    return best;
}

/// Bytes by the millisecond until which they were written.
using BytesByTime = std::map<std::uint64_t, double>;

/// Adds a log's bytes to those of other processes, whose times are the same when they are rounded up to `step_ms`.
std::expected<void, std::string> take_log(const LogText& log, std::uint64_t step_ms, BytesByTime& times) {
    std::uint64_t line = 0, before = 0;
    for (std::size_t at = 0; at < log.text.size();) {
        const std::size_t end = std::min(log.text.find('\n', at), log.text.size());
        const std::string_view here = std::string_view{log.text}.substr(at, end - at);
        at = end + 1;
        ++line;
        if (here.find_first_not_of(" \t\r") == here.npos) continue;
        std::array<std::uint64_t, 3> numbers{};
        const char* from = here.data();
        const char* const stop = here.data() + here.size();
        for (std::uint64_t& number : numbers) {
            while (from != stop && (*from == ' ' || *from == ',' || *from == '\t')) ++from;
            const auto read = std::from_chars(from, stop, number);
            if (read.ec != std::errc{})
                return std::unexpected(
                    fmt::format("{}, line {}, column {}: a time in ms, KiB/s and 0 or 1 are wanted, as fio's write_bw_log has them", log.path, line,
                                from - here.data() + 1));
            from = read.ptr;
        }
        const auto& [ms, kib_a_second, is_write] = numbers;
        if (ms < before) return std::unexpected(fmt::format("{}, line {}, column 1: its time lies before the line before", log.path, line));
        if (is_write == 1)
            times[(ms + step_ms - 1) / step_ms * step_ms] += static_cast<double>(kib_a_second) * 1024 * static_cast<double>(ms - before) / 1000;
        before = ms;
    }
    return {};
}

} // namespace

FillPhases phases_of(const std::vector<FillStep>& steps) {
    FillPhases out;
    double bytes = 0, seconds = 0;
    for (const FillStep& step : steps) {
        bytes += step.bytes;
        seconds += step.seconds;
    }
    if (bytes <= 0 || seconds <= 0) return out;
    out.mean = out.first = bytes / seconds;
    const std::vector<double> speeds = speeds_by_share(steps);
    const Stretches of{speeds};
    std::size_t end = parts, first = parts;
    while (const auto fall = fall_in(of, 0, first)) { // the first of several falls
        end = first;
        first = *fall;
    }
    if (first == parts) return out;
    out.cache_share = static_cast<double>(first) / parts;
    out.first = std::exp(of.mean(0, first));
    out.then = std::exp(of.mean(first, end));
    return out;
}

std::expected<std::vector<FillStep>, std::string> parse_bandwidth_logs(const std::vector<LogText>& logs) {
    BytesByTime times;
    for (const LogText& log : logs)
        if (auto taken = take_log(log, logs.size() == 1 ? 1 : 1000, times); !taken) return std::unexpected(taken.error());
    std::vector<FillStep> steps;
    std::uint64_t before = 0;
    for (const auto& [ms, bytes] : times) {
        if (bytes > 0) steps.push_back({bytes, static_cast<double>(ms - before) / 1000});
        before = ms;
    }
    if (steps.size() < 10)
        return std::unexpected(fmt::format("{}: {} times with writes: ten at least are wanted (log_avg_msec=1000)", logs.front().path, steps.size()));
    return steps;
}

std::expected<std::vector<FillStep>, std::string> read_bandwidth_logs(const std::vector<std::string>& paths) {
    std::vector<LogText> logs;
    for (const std::string& path : paths) {
        auto text = read_regular_file(path, longest_log);
        if (!text) return std::unexpected(fmt::format("{}: {}", path, text.error()));
        logs.push_back({path, std::move(*text)});
    }
    return parse_bandwidth_logs(logs);
}

} // namespace flashlab

#include "tools/cli/commands/bench_load.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/random.h"
#include "tools/text/sizes.h"
#include "tools/workloads/arrivals.h"

namespace flashlab {
namespace {

std::expected<std::uint64_t, std::string> number_in(std::string_view value, std::uint64_t least, std::uint64_t most) {
    const auto number = parse_size(value);
    if (!number) return number;
    if (*number < least || *number > most) return std::unexpected(fmt::format("allowed: {} to {}", least, most));
    return number;
}

/// --rate in requests, or --rate-iops. One number is of reads and of writes, each; two are of reads, and of writes.
std::expected<void, std::string> set_rates(BenchOptions& o) {
    const std::string& text = o.rate.empty() ? o.rate_iops : o.rate;
    const std::size_t comma = std::min(text.find_first_of(",:"), text.size());
    for (std::size_t direction = 0; direction < 2 && !text.empty(); ++direction) {
        const std::string part = direction == 0 || comma == text.size() ? text.substr(0, comma) : text.substr(comma + 1);
        const auto number = o.rate.empty() ? number_in(part, 1, 1'000'000'000) : number_in(part, 1, std::uint64_t{1} << 40);
        if (!number) return std::unexpected(fmt::format("rate{} {}: {}", o.rate.empty() ? "-iops" : "", text, number.error()));
        const bool is_mixed = o.rw == "rw" || o.rw == "randrw";
        if (is_mixed || (direction == 0) == (read_percent(o) != 0))
            o.iops[direction] = static_cast<double>(*number) / (o.rate.empty() ? 1.0 : static_cast<double>(o.block_bytes));
    }
    return {};
}

} // namespace

std::uint32_t read_percent(const BenchOptions& o) {
    return o.rw == "read" || o.rw == "randread" ? 100 : o.rw == "write" || o.rw == "randwrite" ? 0 : o.rwmixread;
}

std::expected<void, std::string> set_of_queue(BenchOptions& o, std::string_view key, const std::string& value) {
    const auto put = [&](auto& to, std::uint64_t least, std::uint64_t most) -> std::expected<void, std::string> {
        const auto number = number_in(value, least, most);
        if (!number) return std::unexpected(number.error());
        to = static_cast<std::remove_cvref_t<decltype(to)>>(*number);
        return {};
    };
    if (key == "bs") return put(o.block_bytes, sector_bytes, std::uint64_t{1} << 32);
    if (key == "io-size") return put(o.io_bytes.emplace(), sector_bytes, std::uint64_t{1} << 60);
    if (key == "runtime") {
        const auto ns = parse_seconds(value);
        if (!ns) return std::unexpected(ns.error());
        o.runtime = Duration{static_cast<std::int64_t>(*ns)};
        return {};
    }
    if (key == "iodepth") return put(o.iodepth, 1, 65536);
    if (key == "rwmixread") return put(o.rwmixread, 0, 100);
    if (key == "numjobs") return put(o.numjobs, 1, most_queues);
    if (key == "stream") {
        const auto number = number_in(value, 0, 0xffff);
        if (!number) return std::unexpected(number.error());
        o.stream = StreamId{static_cast<std::uint16_t>(*number)};
        return {};
    }
    const auto choose = [&](std::string& to, const std::vector<std::string>& known) -> std::expected<void, std::string> {
        if (std::ranges::find(known, value) == known.end()) return std::unexpected(fmt::format("allowed: {}", fmt::join(known, ", ")));
        to = value;
        return {};
    };
    if (key == "rw") return choose(o.rw, bench_patterns);
    if (key == "rate-process") return choose(o.rate_process, bench_rate_processes);
    if (key == "rate" || key == "rate-iops") { // of the queue, instead of the other one for all
        o.rate = key == "rate" ? value : "";
        o.rate_iops = key == "rate" ? "" : value;
        return {};
    }
    if (key != "priority")
        return std::unexpected(
            std::string{"known are rw, bs, io-size, runtime, iodepth, rwmixread, numjobs, rate, rate-iops, rate-process, stream and priority"});
    const auto priority = parse_priorities(value);
    if (!priority || priority->size() != 1) return std::unexpected(priority ? "a name is wanted" : priority.error());
    o.priority = priority->front();
    return {};
}

std::expected<std::vector<BenchOptions>, std::string> loads_of_queues(const BenchOptions& o) {
    std::vector<BenchOptions> loads;
    const bool has_one = o.queues.empty() && (o.numjobs > 1 || !o.rate.empty() || !o.rate_iops.empty());
    for (const std::string& text : has_one ? std::vector<std::string>{""} : o.queues) {
        BenchOptions load = o;
        std::string_view rest = text;
        std::vector<std::string_view> seen;
        while (!rest.empty()) {
            const std::string_view setting = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(rest.size(), setting.size() + 1));
            const auto equals = setting.find('=');
            const auto done = equals == setting.npos ? std::unexpected(std::string{"KEY=VALUE is wanted"})
                                                     : set_of_queue(load, setting.substr(0, equals), std::string{setting.substr(equals + 1)});
            if (!done) return std::unexpected(fmt::format("--queue {}: {}: {}", text, setting, done.error()));
            // --rate and --rate-iops are one
            const std::string_view key = setting.starts_with("rate-iops=") ? "rate" : setting.substr(0, equals);
            if (std::ranges::find(seen, key) != seen.end())
                return std::unexpected(fmt::format("--queue {}: {}: {} is given twice: say it once", text, setting, key));
            seen.push_back(key);
        }
        if (bytes_of(load) < load.block_bytes) return std::unexpected(fmt::format("--queue {}: io-size holds no request of bs", text));
        if (auto rates = set_rates(load); !rates) return std::unexpected(fmt::format("{}{}", has_one ? "--" : "--queue: ", rates.error()));
        for (std::uint32_t job = 0; job < load.numjobs; ++job) {
            if (loads.size() == most_queues) return std::unexpected(fmt::format("--queue, --numjobs: at most {} queues", most_queues));
            load.seed = o.seed + loads.size();
            load.queue = static_cast<std::uint16_t>(loads.size());
            loads.push_back(load);
        }
    }
    return loads;
}

NextRequest load_of(const BenchOptions& o, const DistributionSpec& distribution, std::uint64_t span_bytes) {
    const std::uint64_t slots = span_bytes / o.block_bytes;
    const bool in_order = !o.rw.starts_with("rand") || distribution.kind == DistributionKind::sequential;
    Random choice{o.seed};
    Random place = choice.fork();
    return [=, arrivals = Arrivals{o.iops, o.rate_process == "poisson", o.seed}, is_planned = o.iops[0] + o.iops[1] > 0, queue = o.queue,
            stream = o.stream, reads = read_percent(o), places = RandomPlaces{distribution, slots}, left = bytes_of(o) / o.block_bytes,
            n = std::uint64_t{0}, bytes = o.block_bytes](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        if (left-- == 0) return false;
        if (is_planned)
            arrivals.take(request);
        else
            request.op = choice.below(100) >= reads ? TraceOp::write : TraceOp::read;
        request.queue = queue;
        request.stream = stream;
        request.offset = (in_order ? n++ % slots : places.draw(place)) * bytes;
        request.bytes = bytes;
        return true;
    };
}

} // namespace flashlab

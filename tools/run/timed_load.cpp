#include "tools/run/timed_load.h"

#include "base/random.h"
#include "tools/workloads/arrivals.h"

namespace flashlab {

namespace {

/// Without an end: the time ends it.
QueueLoad endless(const TimedStream& stream, std::uint64_t span_bytes, std::uint16_t queue, std::uint64_t seed) {
    const std::uint64_t slots = span_bytes / stream.block_bytes;
    NextRequest next = [=, bytes = stream.block_bytes, in_order = stream.in_order, reads = stream.read_percent, is_planned = stream.is_planned(),
                        arrivals = Arrivals{stream.planned_iops, stream.is_poisson, seed}, choice = Random{seed}, place = Random{seed + 1},
                        n = std::uint64_t{0}](TraceRequest& request) mutable -> std::expected<bool, std::string> {
        if (is_planned)
            arrivals.take(request);
        else
            request.op = choice.below(100) >= reads ? TraceOp::write : TraceOp::read;
        request.queue = queue;
        request.offset = (in_order ? n++ % slots : place.below(slots)) * bytes;
        request.bytes = bytes;
        return true;
    };
    return {.next = std::move(next), .depth = stream.depth, .is_planned = stream.is_planned()};
}

TimedDirection measured(const LatencyRecorder& of, double seconds) {
    if (of.count() == 0) return {};
    return {static_cast<double>(of.count()) / seconds, static_cast<double>(of.permille_ns(500)) / 1e3,
            static_cast<double>(of.permille_ns(990)) / 1e3};
}

double programmed_bytes(const RunSnapshot& before, const RunSnapshot& after, const Device& device) {
    std::uint64_t pages = 0;
    for (std::size_t cause = 0; cause < cause_count; ++cause) pages += after.sample.nand_programs[cause] - before.sample.nand_programs[cause];
    return static_cast<double>(pages) * device.config().ssd.nand.geometry.page_bytes;
}

} // namespace

std::expected<TimedMeasured, std::string> run_for(const RunSpace& space, const std::vector<TimedStream>& streams, Duration warm, Duration counted,
                                                  SimTime from, std::uint64_t seed, std::uint64_t least_written) {
    std::vector<QueueLoad> loads;
    for (const TimedStream& stream : streams)
        loads.push_back(endless(stream, space.bytes(), static_cast<std::uint16_t>(loads.size()), seed + 10 * loads.size()));
    Device& device = *space.device;
    HostQueues queues = host_queues(device.config().ssd, std::vector<QueuePriority>(loads.size(), QueuePriority::medium));
    AddressFit fit{FitPolicy::as_is, space.bytes()};
    SimTime counted_from = sim_never;
    RunSnapshot before = RunSnapshot::of(device, from);
    RunWatch watch{.every = 16};
    watch.look = [&](const RunTally& tally) {
        if (counted_from == sim_never) return tally.end - from < warm ? RunStep::go_on : RunStep::count_from_here;
        const bool is_enough =
            tally.end - counted_from >= counted && device.ssd().counters().host_write_bytes - before.sample.host_write_bytes >= least_written;
        return is_enough ? RunStep::stop : RunStep::go_on;
    };
    watch.counts_from = [&](SimTime now) {
        counted_from = now;
        before = RunSnapshot::of(device, now);
    };
    auto tally = run_queues(sectors_target(space, fit), loads, queues, from, watch);
    if (!tally) return std::unexpected(tally.error());
    TimedMeasured out{.seconds = static_cast<double>((tally->end - tally->begin).count()) / 1e9};
    const RunSnapshot after = RunSnapshot::of(device, tally->end);
    for (const QueueTally& queue : tally->queues) out.streams.push_back({measured(queue.read, out.seconds), measured(queue.write, out.seconds)});
    out.written_bytes = after.sample.host_write_bytes - before.sample.host_write_bytes;
    if (out.written_bytes > 0) out.waf = programmed_bytes(before, after, device) / static_cast<double>(out.written_bytes);
    out.tally = std::move(*tally);
    return out;
}

} // namespace flashlab

#include "ftl/host/host_interface.h"

#include <algorithm>

namespace flashlab {

namespace {

/// Answers that wait for the link, each with a place of its own on it: no host keeps more requests under way.
constexpr std::size_t most_on_link = 1024;

Duration shortest_on(const HostLinkConfig& link) {
    const Duration sector{(static_cast<std::int64_t>(sector_bytes * link.ps_per_byte) + 999) / 1000};
    const Duration overhead = link.request_overhead;
    const Duration shortest = overhead == Duration{0} ? sector : sector == Duration{0} ? overhead : std::min(sector, overhead);
    return std::max(shortest, Duration{1});
}

} // namespace

HostInterface::HostInterface(const HostLinkConfig& config)
    : config_{config}, link_{shortest_on(config), most_on_link}, firmware_{std::max(config.controller_request, Duration{1})} {}

/// What was read beyond the request (a cache's slot) is taken to have come first, what came from DRAM goes with the first page.
SimTime HostInterface::send(SimTime ready, std::uint64_t bytes) {
    if (!config_.pipelined || transfer_.out.size() < 2) return link_.reserve(ready, crossing(bytes)).end;
    std::ranges::sort(transfer_.out, {}, &LinkTransfer::Out::end);
    std::uint64_t from_flash = 0;
    for (const auto& out : transfer_.out) from_flash += out.bytes;
    std::uint64_t surplus = from_flash - std::min(from_flash, bytes);
    std::uint64_t beside = bytes - std::min(from_flash, bytes);
    SimTime end = ready;
    for (const auto& out : transfer_.out) {
        const std::uint64_t left_out = std::min<std::uint64_t>(surplus, out.bytes);
        surplus -= left_out;
        const std::uint64_t sent = out.bytes - left_out + beside;
        if (sent == 0) continue;
        beside = 0;
        end = std::max(end, link_.reserve(out.end, crossing(sent)).end);
    }
    return end;
}

Io HostInterface::begin_write(const WriteOnLink& write, SimTime all_there, const Origin& origin) {
    if (!config_.pipelined) return {all_there, origin};
    const SimTime first_there = all_there - crossing(write.bytes) + crossing(write.first_bytes);
    transfer_.begin_write(write.first, first_there, crossing(write.page_bytes), all_there);
    return {first_there, origin, &transfer_};
}

} // namespace flashlab

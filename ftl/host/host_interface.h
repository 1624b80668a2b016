/// The drive's side of the host: link and firmware, each with a calendar of its own.
///
/// Idea       A request crosses the link, waits for the firmware's processor, and is understood a firmware latency later. Only link and processor
///            are taken by one request at a time: their times bound the rate. The latency is paid by each request beside all others.
/// Invariant  What is accepted at a time is issued no earlier. A link without pipelining carries a read's data when all of them are there.
/// Cost       A reservation on the link a request, and one for each page on a pipelined link.
/// Power cut  Nothing is kept: a request that has not been answered was not accepted.
/// Source     Kang et al. (DUMBO) 3.1, MC1, MC2: one serial host interface before all channels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/calendar.h"
#include "base/io.h"
#include "ftl/ssd_config.h"

namespace flashlab {

/// The data of a write, as they come over the link: one logical page after the other.
struct WriteOnLink {
    Lpn first{0};
    std::uint64_t first_bytes = 0; ///< of the first page, which may be a part
    std::uint64_t page_bytes = 0;
    std::uint64_t bytes = 0;
};

class HostInterface {
public:
    /// `config` outlives it.
    explicit HostInterface(const HostLinkConfig& config);

    /// A request that carries so many bytes to the drive (0: it asks for data, or has none): when it is understood.
    [[nodiscard]] SimTime accept(SimTime now, std::uint64_t bytes) {
        const SimTime here = link_.reserve(now, config_.request_overhead + crossing(bytes)).end;
        const SimTime understood = config_.controller_request == Duration{0} ? here : firmware_.reserve(here, config_.controller_request).end;
        return understood + config_.firmware_latency;
    }
    /// The read that comes next is one whose pages may leave one by one. Null on a link that is not pipelined.
    [[nodiscard]] LinkTransfer* begin_read() {
        if (!config_.pipelined) return nullptr;
        transfer_.begin_read();
        return &transfer_;
    }
    /// A read's data to the host: in one piece at `ready`, or, on a pipelined link, each page as it leaves the flash.
    [[nodiscard]] SimTime send(SimTime ready, std::uint64_t bytes);
    /// When a write whose data are all there at `all_there` may be issued: then, or, on a pipelined link, when the first page's are there. The array
    /// programs no page before its data have come.
    [[nodiscard]] Io begin_write(const WriteOnLink& write, SimTime all_there, const Origin& origin);

    /// When all but the last `behind` bytes are there of a request of which all are at `all_there`.
    [[nodiscard]] SimTime there_but_for(std::uint64_t behind, SimTime all_there) const {
        return config_.pipelined ? all_there - crossing(behind) : all_there;
    }

    void settle(SimTime now) {
        link_.settle(now);
        firmware_.settle(now);
    }
    [[nodiscard]] SimTime free_at() const { return std::max(link_.free_at(), firmware_.free_at()); }

private:
    [[nodiscard]] Duration crossing(std::uint64_t bytes) const {
        const auto ps = static_cast<std::int64_t>(bytes) * static_cast<std::int64_t>(config_.ps_per_byte);
        return Duration{(ps + 999) / 1000};
    }

    const HostLinkConfig& config_;
    Calendar link_;
    Calendar firmware_;
    LinkTransfer transfer_; ///< of the request at hand, on a pipelined link
};

} // namespace flashlab

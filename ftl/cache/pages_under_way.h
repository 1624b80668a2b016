/// Pages that have left a write buffer and whose programs have not ended: reads take them from DRAM.
///
/// Idea       A drive keeps what it programs until it is programmed, since the program may fail. So nobody who reads it waits for the cells.
/// Invariant  U1 what find() gives is what the scheme was given last for the page. U2 nothing is found at or past the end of its program.
/// Cost       A look-up for each page that is not in the buffer; an entry, and a copy of its data where there are any, for each page under way.
/// Power cut  RAM only: the program is torn like any other.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/id.h"
#include "base/sim_time.h"

namespace flashlab {

class PagesUnderWay {
public:
    /// The page's program ends at `end`; it may begin in the future.
    void add(Lpn lpn, std::span<const std::byte> data, SimTime end) {
        Page& page = pages_[lpn.value()];
        page.end = end;
        page.data.assign(data.begin(), data.end());
        order_.push_back({lpn, end});
    }
    /// Nobody asks for a time before `now`.
    void settle(SimTime now) {
        for (; !order_.empty() && order_.front().end <= now; order_.pop_front()) {
            const auto gone = pages_.find(order_.front().lpn.value());
            if (gone != pages_.end() && gone->second.end <= now) pages_.erase(gone);
        }
    }
    /// Its bytes, none where there are none; null: it is not under way then. Valid until the next call.
    [[nodiscard]] const std::vector<std::byte>* find(Lpn lpn, SimTime now) const {
        const auto page = pages_.find(lpn.value());
        return page == pages_.end() || page->second.end <= now ? nullptr : &page->second.data;
    }
    /// The scheme was given something newer, or a trim.
    void drop(Lpn first, std::uint32_t pages) {
        const auto is_in = [&](std::uint32_t lpn) { return lpn >= first.value() && lpn - first.value() < pages; };
        if (pages > pages_.size())
            boost::unordered::erase_if(pages_, [&](const auto& page) { return is_in(page.first); });
        else
            for (std::uint32_t i = 0; i < pages; ++i) pages_.erase(first.value() + i);
    }

private:
    struct Page {
        SimTime end = sim_start;
        std::vector<std::byte> data;
    };
    struct Added {
        Lpn lpn;
        SimTime end;
    };
    boost::unordered_flat_map<std::uint32_t, Page> pages_;
    std::deque<Added> order_; ///< as their programs began
};

} // namespace flashlab

/// Pages that have left a write buffer and whose programs have not ended: reads take them from DRAM.
///
/// Idea       A drive keeps what it programs until it is programmed, since the program may fail. So nobody who reads it waits for the cells.
/// Invariant  U1 what find() gives is what the scheme was given last for the page. U2 nothing is found at or past the end of its program.
/// Cost       A look-up for each page that is not in the buffer, an entry for each page under way. The bytes are those that the scheme was given:
///            they change hands, and their memory comes back to the caller.
/// Power cut  RAM only: the program is torn like any other.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/id.h"
#include "base/sim_time.h"

namespace flashlab {

class PagesUnderWay {
public:
    /// The programs of the pages end at `end`; they may begin in the future. `data`: bytes_of_page of each, or none; gets memory for the next ones.
    void add(std::span<const Lpn> pages, std::vector<std::byte>& data, std::size_t bytes_of_page, SimTime end) {
        lines_.push_back(spare_.empty() ? Line{} : std::move(spare_.back()));
        if (!spare_.empty()) spare_.pop_back();
        Line& line = lines_.back();
        line.end = end;
        line.pages.assign(pages.begin(), pages.end());
        line.bytes_of_page = data.empty() ? 0 : bytes_of_page;
        line.data.swap(data);
        for (std::uint32_t i = 0; i < pages.size(); ++i) pages_[pages[i].value()] = {&line, i};
    }
    /// Nobody asks for a time before `now`.
    void settle(SimTime now) {
        for (; !lines_.empty() && lines_.front().end <= now; lines_.pop_front()) {
            Line& line = lines_.front();
            for (const Lpn lpn : line.pages)
                if (const auto page = pages_.find(lpn.value()); page != pages_.end() && page->second.line == &line) pages_.erase(page);
            line.data.clear();
            spare_.push_back(std::move(line));
        }
    }
    /// Its bytes, none where there are none; no value: it is not under way then. Valid until the next call.
    [[nodiscard]] std::optional<std::span<const std::byte>> find(Lpn lpn, SimTime now) const {
        const auto page = pages_.find(lpn.value());
        if (page == pages_.end() || page->second.line->end <= now) return std::nullopt;
        const Line& line = *page->second.line;
        return std::span{line.data}.subspan(page->second.index * line.bytes_of_page, line.bytes_of_page);
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
    /// What was programmed together.
    struct Line {
        SimTime end = sim_start;
        std::size_t bytes_of_page = 0;
        std::vector<Lpn> pages;
        std::vector<std::byte> data;
    };
    struct Page {
        const Line* line;
        std::uint32_t index;
    };
    boost::unordered_flat_map<std::uint32_t, Page> pages_;
    std::deque<Line> lines_;  ///< as their programs began
    std::vector<Line> spare_; ///< ended; their memory serves the next ones
};

} // namespace flashlab

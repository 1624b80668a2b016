/// A write buffer that is destaged before it is full.
#include <algorithm>

#include "ftl/cache/buffered_ftl.h"

namespace flashlab {

/// A newcomer that waits for a line makes the next one begin when that has ended, as the drive would do by itself.
FtlResult<SimTime> BufferedFtl::take_slot_ahead(const Io& io) {
    auto at = ahead_->take(io.when);
    if (!at) { // all slots hold pages: the first line is late
        const auto gone = evict(below().pages_a_line(), io);
        if (!gone) return gone;
        at = ahead_->take(io.when);
    }
    if (*at > io.when) (void)destage_ahead(io.at(*at));
    return *at + ahead_->throttled();
}

FtlResult<SimTime> BufferedFtl::destage_ahead(const Io& io) {
    destaged_at_ = std::max(destaged_at_, io.when);
    while (has_line_to_destage()) {
        const SimTime begin = ahead_->next_begin(destaged_at_);
        if (begin > destaged_at_) return begin;
        const auto gone = evict(below().pages_a_line(), io.at(begin));
        if (!gone) return gone;
    }
    return sim_never;
}

SimTime BufferedFtl::do_idle(SimTime now) {
    const SimTime next = below().idle(now);
    if (!ahead_) return next;
    return std::min(next, destage_ahead({now, {}}).value_or(sim_never));
}

FtlResult<SimTime> BufferedFtl::write_line(const Io& io) {
    const auto line = below().write_line(pages_, run_, io);
    if (!line) return std::unexpected(line.error());
    leaving_.resize(line->pages);
    pages_.resize(line->pages, Lpn{0});
    leave_all(line->done);
    under_way_.add(pages_, run_, logical_page_bytes(), line->done);
    return line->done;
}

} // namespace flashlab

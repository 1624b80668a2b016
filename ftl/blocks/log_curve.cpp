#include "ftl/blocks/log_curve.h"

#include <algorithm>
#include <limits>

#include "base/contract.h"

namespace flashlab {

LogCurve::LogCurve(std::vector<std::uint64_t> lengths, std::uint64_t bytes) : lengths_{std::move(lengths)}, bytes_{bytes}, merges_(lengths_.size()) {
    ensure(!lengths_.empty() && std::ranges::is_sorted(lengths_), "a curve has lengths that rise");
}

void LogCurve::settle(Home& home) {
    home.due = std::numeric_limits<Clock>::max();
    Clock all_until = home.due;
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
        for (;;) {
            Clock oldest = std::numeric_limits<Clock>::max();
            for (const Page& page : home.pages)
                if (page.written > home.until[i]) oldest = std::min(oldest, page.written);
            if (oldest == std::numeric_limits<Clock>::max()) break;
            if (now_ - oldest < lengths_[i]) {
                home.due = std::min(home.due, oldest + lengths_[i]);
                break;
            }
            merges_[i] += static_cast<double>(weight_);
            home.until[i] = oldest + lengths_[i] - 1; // what is written then comes after
        }
        all_until = std::min(all_until, home.until[i]);
    }
    pages_ -= std::erase_if(home.pages, [all_until](const Page& page) { return page.written <= all_until; });
}

void LogCurve::logged(LogicalBlock home, std::uint32_t offset) {
    ++now_;
    if (!is_sampled(home)) return;
    auto at = index_.find(home.value());
    if (at == index_.end()) {
        at = index_.emplace(home.value(), static_cast<std::uint32_t>(homes_.size())).first;
        homes_.push_back({.home = home.value(), .due = 0, .pages = {}, .until = std::vector<Clock>(lengths_.size(), now_ - 1)});
    }
    Home& record = homes_[at->second];
    if (record.due <= now_) settle(record);
    const auto page = std::ranges::find(record.pages, offset, &Page::offset);
    if (page != record.pages.end()) {
        page->written = now_;
    } else {
        record.pages.push_back({offset, now_});
        ++pages_;
    }
    settle(record);                                                  // the oldest may have changed
    while (bytes_used() > bytes_ && !homes_.empty()) sample_fewer(); // W1
}

void LogCurve::remove(std::size_t at) {
    pages_ -= homes_[at].pages.size();
    index_.erase(homes_[at].home);
    if (at + 1 != homes_.size()) {
        homes_[at] = std::move(homes_.back());
        index_[homes_[at].home] = static_cast<std::uint32_t>(at);
    }
    homes_.pop_back();
}

void LogCurve::sample_fewer() {
    weight_ *= 2;
    for (std::size_t at = homes_.size(); at-- != 0;)
        if (!is_sampled(LogicalBlock{homes_[at].home})) remove(at);
}

void LogCurve::merged_for_all(LogicalBlock home) {
    const auto at = index_.find(home.value());
    if (at == index_.end()) return;
    settle(homes_[at->second]); // what was due before
    remove(at->second);
}

double LogCurve::take(std::span<double> merges) {
    for (std::size_t at = homes_.size(); at-- != 0;) {
        if (homes_[at].due <= now_) settle(homes_[at]);
        if (homes_[at].pages.empty()) remove(at);
    }
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
        merges[i] += merges_[i];
        merges_[i] = 0;
    }
    return static_cast<double>(weight_);
}

} // namespace flashlab

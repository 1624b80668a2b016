#include "tools/explain/narrator.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "ftl/make_ftl.h"
#include "nand/page_oob.h"

namespace flashlab {

namespace {

std::string place_of(std::uint32_t block, std::uint32_t page) { return fmt::format("block {} page {}", block, page); }
std::string place_of(FlashPlace place) { return place_of(place.block, place.page); }

std::string name_of_page(std::uint8_t kind, std::optional<Lpn> number) {
    const std::uint32_t n = number ? number->value() : 0;
    switch (static_cast<PageKind>(kind)) {
    case PageKind::data:
        return fmt::format("page {}", n);
    case PageKind::translation:
        return fmt::format("translation page {}", n);
    case PageKind::checkpoint:
        return "a page of a checkpoint of the map";
    case PageKind::journal:
        return "a page of the drive's journal";
    case PageKind::summary:
        return "a summary page";
    case PageKind::backup:
        return fmt::format("a backup of page {}", n);
    case PageKind::padding:
        return "padding";
    case PageKind::parity:
        return "parity of other dies";
    }
    return "a page";
}

std::string_view because(Cause cause) {
    constexpr std::array<std::string_view, cause_count> names{
        "the host", "collection", "merge", "the map", "wear levelling", "recovery", "backup of paired pages", "folding", "scrubbing", "parity"};
    return names.at(static_cast<std::size_t>(cause));
}

bool is_copy(Cause cause) {
    return cause == Cause::gc || cause == Cause::merge || cause == Cause::wear || cause == Cause::fold || cause == Cause::scrub;
}

/// Hears which page a read of a logical page comes from.
class ReadWatch final : public EventSink {
public:
    ReadWatch() : EventSink{EventLevel::all} {}
    using EventSink::on;
    void on(const NandOpEvent& event) override {
        if (event.op == NandOp::read && event.page_kind == static_cast<std::uint8_t>(PageKind::data))
            last = FlashPlace{event.block.value(), event.page};
    }
    std::optional<FlashPlace> last;
};

} // namespace

Narrator::Narrator(std::uint32_t blocks, std::uint32_t pages_per_block) : EventSink{EventLevel::all}, picture_{blocks, pages_per_block} {}

void Narrator::on(const NandOpEvent& event) {
    if (event.op == NandOp::read) {
        totals_.nand_reads += event.pages;
        tell_read(event);
    } else if (event.op == NandOp::program) {
        totals_.nand_programs += event.pages;
        if (is_copy(event.origin.cause)) totals_.copies += event.pages;
        tell_program(event);
    } else {
        ++totals_.nand_erases;
        tell_erase(event);
    }
}

void Narrator::tell_program(const NandOpEvent& event) {
    for (std::uint32_t i = 0; i < event.pages; ++i) {
        const FlashPlace place{event.block.value(), event.page + i};
        const std::uint32_t number = event.lpn ? event.lpn->value() + i : 0;
        const auto before = picture_.programmed(place, event.page_kind, number);
        if (recovers_) {
            ++recovery_programs_;
            continue;
        }
        const std::string what = name_of_page(event.page_kind, Lpn{number});
        const std::string old = before ? fmt::format("; {} is stale now", place_of(*before)) : "";
        if (is_copy(event.origin.cause))
            lines_.push_back(fmt::format("{} copies {} {} to {}", because(event.origin.cause), what,
                                         before ? "from " + place_of(*before) : std::string{}, place_of(place)));
        else if (event.origin.cause == Cause::user)
            lines_.push_back(fmt::format("programs {} into {}{}", what, place_of(place), old));
        else
            lines_.push_back(fmt::format("writes {} into {}, for {}{}", what, place_of(place), because(event.origin.cause), old));
    }
}

void Narrator::tell_read(const NandOpEvent& event) {
    if (recovers_) {
        recovery_reads_ += event.pages;
        return;
    }
    if (is_copy(event.origin.cause) && event.page_kind == static_cast<std::uint8_t>(PageKind::data)) return; // the copy tells it
    const std::string what = name_of_page(event.page_kind, event.lpn);
    if (event.page_kind == static_cast<std::uint8_t>(PageKind::translation))
        lines_.push_back(fmt::format("looks up the map on flash: reads {} in {}", what, place_of(event.block.value(), event.page)));
    else
        lines_.push_back(fmt::format("reads {} in {}", event.page_kind == 0 ? "a spare area" : what, place_of(event.block.value(), event.page)));
}

void Narrator::tell_erase(const NandOpEvent& event) {
    const std::uint32_t block = event.block.value();
    const std::uint32_t lost = picture_.count(block, PageMark::newest);
    picture_.erased(block);
    if (recovers_) {
        ++recovery_erases_;
        return;
    }
    lines_.push_back(fmt::format("erases block {} for {}: its erase number {}{}", block, because(event.origin.cause), picture_.blocks()[block].erases,
                                 lost == 0 ? "" : fmt::format(", with {} newest pages in it", lost)));
}

void Narrator::on(const GcJobEvent& event) {
    if (event.cause != Cause::merge) ++totals_.collections;
    if (recovers_) return;
    lines_.push_back(fmt::format("{} of block {} is done: {} valid pages had to move", event.cause == Cause::merge ? "the merge" : "the collection",
                                 event.victim.value(), event.valid_pages));
}

void Narrator::on(const PramWriteEvent& event) {
    pram_words_ += event.log_words + event.home_words;
    totals_.pram_words += event.log_words + event.home_words;
}

void Narrator::trimmed(std::uint32_t first, std::uint32_t pages) {
    for (std::uint32_t lpn = first; lpn < first + pages; ++lpn)
        if (const auto before = picture_.trimmed(lpn)) lines_.push_back(fmt::format("page {} in {} is stale now", lpn, place_of(*before)));
}

void Narrator::tell_merges(CrashDevice& device) {
    const CounterValues now = own_counters(device.ftl());
    const auto tell = [&](std::string_view name, std::uint64_t& total, const char* sentence) {
        const std::uint64_t before = counted_[name], after = now[name];
        for (std::uint64_t n = before; n < after; ++n) lines_.emplace_back(sentence);
        if (after > before) total += after - before;
    };
    tell("switch_merges", totals_.merges_switch, "switch merge: the log block becomes the data block, nothing is copied");
    tell("partial_merges", totals_.merges_partial, "partial merge: the rest is copied into the log block, now the data block");
    tell("full_merges", totals_.merges_full, "full merge: the newest pages of data and log blocks go to a fresh block");
    counted_ = now;
}

void Narrator::tell_recovery() {
    lines_.push_back(fmt::format("recovery read {} pages, wrote {} and erased {} blocks", recovery_reads_, recovery_programs_, recovery_erases_));
    recovery_reads_ = recovery_programs_ = recovery_erases_ = 0;
    recovers_ = false;
}

void Narrator::begin(CrashDevice& device) {
    picture_.forget_wear();
    lines_.clear();
    totals_ = {};
    pram_words_ = 0;
    erases_before_.clear();
    for (std::uint32_t b = 0; b < device.geometry().blocks(); ++b) {
        erases_before_.push_back(device.array().erase_count(BlockId{b}));
        if (device.array().is_bad(BlockId{b})) picture_.set_bad(b);
    }
}

void Narrator::power_failed(CrashDevice& device) {
    const std::uint32_t pages = static_cast<std::uint32_t>(picture_.blocks().front().pages.size());
    for (std::uint32_t p = 0; p < picture_.blocks().size() * pages; ++p) {
        const auto found = device.page_store().read_record(Ppn{p});
        const FlashPlace place{p / pages, p % pages};
        const bool is_free = picture_.blocks()[place.block].pages[place.page].mark == PageMark::free;
        if (!found || found->state == CellState::erased) {
            picture_.set(place, {});
        } else if (const auto oob = PageOob::decode(found->oob); found->state != CellState::programmed || !oob) {
            picture_.set(place, {PageMark::damaged, 0, 0});
        } else if (is_free) { // its erase had not begun
            picture_.set(place,
                         {oob->kind == PageKind::data ? PageMark::stale : PageMark::own, static_cast<std::uint8_t>(oob->kind), oob->lpn.value()});
        }
    }
}

/// What each page holds is looked up in the drive's own array. Which logical pages are still there, a copy of the stores tells that is recovered
/// once more and read: what the drive itself has in its caches stays untouched. Where such a page lies the copy tells among copies of one sequence
/// only, for its recovery may have moved the page.
void Narrator::look_anew(CrashDevice& device, std::uint32_t units, SimTime now) {
    picture_.forget();
    std::map<std::uint32_t, std::pair<std::uint64_t, std::vector<FlashPlace>>> newest; // by logical page: its highest sequence, and where
    const std::uint32_t pages = static_cast<std::uint32_t>(picture_.blocks().front().pages.size());
    for (std::uint32_t b = 0; b < picture_.blocks().size(); ++b) picture_.set_erases(b, device.array().erase_count(BlockId{b}) - erases_before_[b]);
    for (std::uint32_t p = 0; p < picture_.blocks().size() * pages; ++p) {
        const auto found = device.array().inspect(Ppn{p});
        if (!found || found->state == CellState::erased) continue;
        const FlashPlace place{p / pages, p % pages};
        const auto oob = PageOob::decode(found->oob);
        if (found->state != CellState::programmed || !oob) {
            picture_.set(place, {PageMark::damaged, 0, 0});
            continue;
        }
        const bool is_data = oob->kind == PageKind::data;
        picture_.set(place, {is_data ? PageMark::stale : PageMark::own, static_cast<std::uint8_t>(oob->kind), oob->lpn.value()});
        if (!is_data) continue;
        auto& [sequence, places] = newest[oob->lpn.value()];
        if (places.empty() || oob->sequence.value() > sequence) places.clear();
        if (!places.empty() && oob->sequence.value() < sequence) continue;
        sequence = oob->sequence.value();
        places.push_back(place);
    }
    auto copy = CrashDevice::make(device.config(), Payload::keep, UndoPolicy::keep);
    if (!copy) return;
    ReadWatch watch;
    (*copy)->set_events(watch);
    (*copy)->copy_stores(device);
    if (!(*copy)->power_on(now)) return;
    const std::uint32_t per_unit = (*copy)->ftl().logical_page_bytes() / sector_bytes;
    for (std::uint32_t unit = 0; unit < units; ++unit) {
        watch.last.reset();
        const auto known = newest.find(unit);
        if (known == newest.end() || !(*copy)->ssd().read(Sector{unit * per_unit}, per_unit, {}, now) || !watch.last) continue;
        const auto& places = known->second.second;
        picture_.set_newest(unit, std::ranges::find(places, *watch.last) != places.end() ? *watch.last : places.front());
    }
}

void Narrator::finish(const std::string& title, const std::vector<std::string>& also, CrashDevice& device, std::vector<StoryFrame>& frames) {
    tell_merges(device);
    if (recovers_) tell_recovery();
    if (pram_words_ != 0) lines_.push_back(fmt::format("the map and the records in PRAM: {} words written", pram_words_));
    finish(title, also, frames);
}

void Narrator::finish(const std::string& title, const std::vector<std::string>& also, std::vector<StoryFrame>& frames) {
    lines_.insert(lines_.end(), also.begin(), also.end());
    frames.push_back({.title = title, .lines = std::exchange(lines_, {}), .blocks = picture_.blocks(), .totals = totals_});
    pram_words_ = 0;
}

} // namespace flashlab

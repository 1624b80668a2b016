#include "pram/pram.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/calendar.h"
#include "base/contract.h"
#include "pram/pram_line_checks.h"
#include "pram/pram_undo.h"
#include "pram/pram_wear.h"
#include "pram/pram_word.h"

namespace flashlab {

std::expected<void, std::string> PramConfig::validate() const {
    if (bytes == 0 || bytes % 4096 != 0) return std::unexpected(fmt::format("pram.bytes is {}, it must be a multiple of 4096 above zero", bytes));
    if (bytes > std::uint64_t{1} << 40) return std::unexpected(fmt::format("pram.bytes is {}, it must be at most 1 TiB", bytes));
    if (word_bytes != 2 && word_bytes != 4 && word_bytes != 8) {
        return std::unexpected(fmt::format("pram.word_bytes is {}, it must be 2, 4 or 8", word_bytes));
    }
    constexpr Duration longest = std::chrono::milliseconds{1};
    if (word_read < Duration{1} || word_read > longest) {
        return std::unexpected(fmt::format("pram.word_read is {} ns, it must be between 1 ns and 1 ms", word_read.count()));
    }
    if (word_write < Duration{1} || word_write > longest) {
        return std::unexpected(fmt::format("pram.word_write is {} ns, it must be between 1 ns and 1 ms", word_write.count()));
    }
    return {};
}

class Pram::Impl {
public:
    Impl(const PramConfig& config, PramStore& store, EventSink& events, PramUndo undo)
        : config_{config}, word_shift_{std::countr_zero(config.word_bytes)}, cells_{store.cells()}, wear_{store.wear()}, checks_{store.checks()},
          events_{events}, keeps_undo_{undo == PramUndo::keep}, undo_{config.word_bytes, config.word_write},
          port_{std::min(config.word_read, config.word_write)} {
        const auto valid = config.validate();
        ensure(valid.has_value(), "Pram: a valid configuration");
        ensure(cells_.size() == config.bytes, "Pram: the store has the size configured");
        ensure(wear_.size() == pram_wear_regions(config.bytes), "Pram: one wear counter a region");
        worn_.reserve(wear_.size());
        for (const std::uint64_t word : wear_) worn_.push_back(wear_count_of(word));
    }

    PramWritten write(PramUser user, PramAddress at, std::span<const std::byte> data, SimTime now);
    PramWritten write_words(PramUser user, std::span<const PramRun> runs, std::uint64_t compared, SimTime now);
    PramCutReport cut(SimTime at, PramCutOutcomes& outcomes);
    std::uint64_t rewind(SimTime at);
    [[nodiscard]] PramCutReport tear(SimTime at, PramCutOutcomes& outcomes, std::span<std::byte> target, PramLineChecks* checks) const;
    void append_moments(std::vector<SimTime>& to) const;

    SimTime read(std::uint64_t bytes, SimTime now) {
        ensure(!is_cut_, "Pram: no operation after a cut");
        if (bytes == 0) return now;
        const std::uint64_t words = (bytes + config_.word_bytes - 1) / config_.word_bytes;
        return port_.reserve(now, config_.word_read * static_cast<std::int64_t>(words)).end;
    }
    void settle(SimTime now) {
        undo_.settle(now);
        port_.settle(now);
    }

    const PramConfig config_;
    const int word_shift_; ///< words are a power of two long
    const std::span<std::byte> cells_;
    const std::span<std::uint64_t> wear_; ///< as the store keeps them (pram_wear.h)
    std::vector<std::uint64_t> worn_;     ///< the same as numbers
    PramLineChecks* const checks_;        ///< null: the store keeps none
    EventSink& events_;
    PramCounters counters_;
    bool forgets_order_ = false;

    [[nodiscard]] SimTime free_at() const { return port_.free_at(); }
    void ensure_inside(PramAddress at, std::uint64_t bytes) const {
        ensure(at.value() <= cells_.size(), "Pram: an address inside the cells");
        ensure(bytes <= cells_.size() - at.value(), "Pram: a range inside the cells");
    }

private:
    void lay_over(PramAddress first, std::uint64_t bytes, PramAddress at, std::span<const std::byte> data);
    void find_changed_runs(PramAddress first);
    void apply(const PramRun& run, SimTime start);
    void count_wear(PramAddress at, std::uint64_t bytes, bool worn);
    void tear_word(std::byte* cell, const std::byte* old, WordOutcome outcome, std::uint64_t random) const;
    [[nodiscard]] SimTime start_of(const PramUndoRecord& record, std::uint32_t offset) const {
        return record.first_start + config_.word_write * static_cast<std::int64_t>(offset / config_.word_bytes);
    }

    const bool keeps_undo_;
    bool is_cut_ = false;
    PramUndoRecords undo_;
    Calendar port_;
    std::array<SimTime, 2> user_end_{sim_start, sim_start}; ///< P1: nothing of a user starts before this
    std::vector<std::byte> words_;                          ///< write(): the whole words as they shall be
    std::vector<PramRun> runs_;                             ///< write(): those that change
};

PramWritten Pram::Impl::write(PramUser user, PramAddress at, std::span<const std::byte> data, SimTime now) {
    ensure_inside(at, data.size());
    if (data.empty()) return write_words(user, {}, 0, now);
    const std::uint64_t word = config_.word_bytes;
    const PramAddress first{at.value() / word * word};
    const std::uint64_t end = (at.value() + data.size() + word - 1) / word * word;
    lay_over(first, end - first.value(), at, data);
    find_changed_runs(first);
    return write_words(user, runs_, (end - first.value()) / word, now);
}

void Pram::Impl::lay_over(PramAddress first, std::uint64_t bytes, PramAddress at, std::span<const std::byte> data) {
    words_.resize(bytes);
    // Only the first and the last word can be covered in part.
    const std::uint64_t word = config_.word_bytes;
    std::memcpy(words_.data(), cells_.data() + first.value(), word);
    std::memcpy(words_.data() + bytes - word, cells_.data() + first.value() + bytes - word, word);
    std::memcpy(words_.data() + (at.value() - first.value()), data.data(), data.size());
}

void Pram::Impl::find_changed_runs(PramAddress first) {
    runs_.clear();
    const std::uint32_t word = config_.word_bytes;
    const std::byte* now = cells_.data() + first.value();
    const std::size_t size = words_.size();
    for (std::size_t begin = first_difference(words_.data(), now, 0, size, word); begin < size;) {
        std::size_t end = begin + word;
        while (end < size && !same_pram_word(words_.data() + end, now + end, word)) end += word;
        runs_.push_back({PramAddress{first.value() + begin}, std::span{words_}.subspan(begin, end - begin)});
        begin = first_difference(words_.data(), now, end, size, word);
    }
}

PramWritten Pram::Impl::write_words(PramUser user, std::span<const PramRun> runs, std::uint64_t compared, SimTime now) {
    ensure(!is_cut_, "Pram: no operation after a cut");
    std::uint64_t bytes = 0;
    const std::uint64_t within_word = config_.word_bytes - 1; // 2, 4 or 8
    for (const PramRun& run : runs) {
        ensure_inside(run.at, run.data.size());
        ensure((run.at.value() & within_word) == 0, "Pram::write_words: a run starts at a word");
        ensure((run.data.size() & within_word) == 0, "Pram::write_words: a run has whole words");
        bytes += run.data.size();
    }
    const std::uint64_t words = bytes >> word_shift_;
    const auto who = static_cast<std::size_t>(std::to_underlying(user));
    const Duration reading = config_.word_read * static_cast<std::int64_t>(compared);
    const Duration length = reading + config_.word_write * static_cast<std::int64_t>(words);
    const SimTime from = forgets_order_ ? user_end_[who] : std::max(now, user_end_[who]);
    const Slot slot = length > Duration{0} ? port_.reserve(from, length) : Slot{from, from};
    SimTime start = slot.start + reading;
    for (const PramRun& run : runs) {
        apply(run, start);
        start += config_.word_write * static_cast<std::int64_t>(run.data.size() >> word_shift_);
    }
    ensure(start == slot.end, "Pram: the words fill the reservation");
    user_end_[who] = slot.end;
    counters_.words_written[who] += words;
    counters_.words_compared[who] += compared;
    return {slot.start, slot.end, static_cast<std::uint32_t>(words), static_cast<std::uint32_t>(compared)};
}

void Pram::Impl::apply(const PramRun& run, SimTime start) {
    if (run.data.empty()) return;
    const std::span<std::byte> target{cells_.data() + run.at.value(), run.data.size()};
    if (keeps_undo_) undo_.remember(run.at, target, start);
    count_wear(run.at, run.data.size(), true); // before the cells change (pram_evidence.h)
    if (checks_ != nullptr) checks_->begin(run.at.value(), run.data.size());
    // Most runs are a single word.
    if (target.size() == sizeof(std::uint64_t))
        std::memcpy(target.data(), run.data.data(), sizeof(std::uint64_t));
    else
        std::memcpy(target.data(), run.data.data(), target.size());
    // A process that is killed leaves its stores in program order; the compiler must not move a later run before this one.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (checks_ != nullptr) checks_->end(run.at.value(), run.data.size());
}

void Pram::Impl::count_wear(PramAddress at, std::uint64_t bytes, bool worn) {
    for (std::uint64_t left = bytes, from = at.value(); left != 0;) {
        const std::uint64_t region = from / pram_wear_region_bytes;
        const std::uint64_t here = std::min(left, (region + 1) * pram_wear_region_bytes - from);
        const std::uint64_t words = here >> word_shift_;
        worn_[region] = worn ? worn_[region] + words : worn_[region] - words;
        wear_[region] = sealed_wear(worn_[region]);
        from += here;
        left -= here;
    }
}

PramCutReport Pram::Impl::cut(SimTime at, PramCutOutcomes& outcomes) {
    ensure(!is_cut_, "Pram::cut: once");
    const std::uint64_t undone = rewind(at);
    PramCutReport report = tear(at, outcomes, cells_, checks_);
    report.words_undone = undone;
    undo_.clear();
    return report;
}

/// Undoes from the last word issued to the first. The words of one user follow each other in time (P1),
/// so an older word is never undone before a newer one.
std::uint64_t Pram::Impl::rewind(SimTime at) {
    ensure(keeps_undo_, "Pram: a power cut needs undo records");
    is_cut_ = true;
    std::uint64_t words = 0;
    const std::uint32_t word = config_.word_bytes;
    undo_.for_each_backwards([&](PramUndoRecord& record, std::span<const std::byte> old) {
        for (; record.live != 0; record.live -= word) {
            const std::uint32_t offset = record.live - word;
            if (start_of(record, offset) < at) break;
            const std::uint64_t home = record.at.value() + offset;
            if (checks_ != nullptr) checks_->begin(home, word);
            std::memcpy(cells_.data() + home, old.data() + offset, word);
            if (checks_ != nullptr) checks_->end(home, word);
            count_wear(PramAddress{record.at.value() + offset}, word, false);
            ++words;
        }
    });
    undo_.drop_rewound();
    return words;
}

PramCutReport Pram::Impl::tear(SimTime at, PramCutOutcomes& outcomes, std::span<std::byte> target, PramLineChecks* checks) const {
    PramCutReport report;
    const std::uint32_t word = config_.word_bytes;
    undo_.for_each_backwards([&](const PramUndoRecord& record, std::span<const std::byte> old) {
        if (record.live == 0) return;
        // Words before the last that began are complete.
        const std::uint32_t offset = record.live - word;
        if (start_of(record, offset) + config_.word_write <= at) return;
        const WordOutcome outcome = outcomes.of_word(PramAddress{record.at.value() + offset});
        const std::uint64_t home = record.at.value() + offset;
        if (checks != nullptr) checks->begin(home, word);
        tear_word(target.data() + home, old.data() + offset, outcome, outcome == WordOutcome::mixed_bits ? outcomes.random() : 0);
        if (checks != nullptr) checks->end(home, word);
        ++report.words_torn;
    });
    return report;
}

void Pram::Impl::append_moments(std::vector<SimTime>& to) const {
    const std::uint32_t word = config_.word_bytes;
    undo_.for_each_backwards([&](const PramUndoRecord& record, std::span<const std::byte>) {
        for (std::uint32_t offset = 0; offset < record.live; offset += word) to.push_back(start_of(record, offset));
        to.push_back(start_of(record, record.live));
    });
}

void Pram::Impl::tear_word(std::byte* cell, const std::byte* old, WordOutcome outcome, std::uint64_t random) const {
    if (outcome == WordOutcome::new_value) return;
    const std::uint32_t word = config_.word_bytes;
    const std::uint64_t mask = outcome == WordOutcome::old_value ? 0 : random; // the bits that were written
    const std::uint64_t left = (load_pram_word(old, word) & ~mask) | (load_pram_word(cell, word) & mask);
    std::memcpy(cell, &left, word); // little-endian: the low bytes are the word
}

Pram::Pram(const PramConfig& config, PramStore& store, EventSink& events, PramUndo undo)
    : impl_{std::make_unique<Impl>(config, store, events, undo)} {}
Pram::~Pram() = default;

const PramConfig& Pram::config() const { return impl_->config_; }
std::span<const std::byte> Pram::cells() const { return impl_->cells_; }

std::span<const std::byte> Pram::view(PramAddress at, std::uint64_t bytes) const {
    impl_->ensure_inside(at, bytes);
    return impl_->cells_.subspan(at.value(), bytes);
}

PramWritten Pram::write(PramUser user, PramAddress at, std::span<const std::byte> data, SimTime now) { return impl_->write(user, at, data, now); }

PramWritten Pram::write_words(PramUser user, std::span<const PramRun> runs, std::uint64_t compared, SimTime now) {
    return impl_->write_words(user, runs, compared, now);
}

void Pram::note_commit(const PramWriteEvent& commit) {
    ++impl_->counters_.transactions[std::to_underlying(commit.user)];
    if (impl_->events_.wants(EventLevel::all)) impl_->events_.on(commit);
}

void Pram::forget_order() { impl_->forgets_order_ = true; }

SimTime Pram::read(std::uint64_t bytes, SimTime now) { return impl_->read(bytes, now); }
SimTime Pram::last_reserved_end() const { return impl_->free_at(); }
void Pram::settle(SimTime now) { impl_->settle(now); }
PramCutReport Pram::cut(SimTime at, PramCutOutcomes& outcomes) { return impl_->cut(at, outcomes); }
std::uint64_t Pram::rewind(SimTime at) { return impl_->rewind(at); }
PramCutReport Pram::tear(SimTime at, PramCutOutcomes& outcomes, PramStore& target) {
    return impl_->tear(at, outcomes, target.cells(), target.checks());
}
void Pram::append_moments(std::vector<SimTime>& to) const { impl_->append_moments(to); }
const PramCounters& Pram::counters() const { return impl_->counters_; }
std::span<const std::uint64_t> Pram::wear_by_region() const { return impl_->worn_; }
EventSink& Pram::events() const { return impl_->events_; }

} // namespace flashlab

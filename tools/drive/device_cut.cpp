// The power cut of a device: the instant at which it meets what it is meant to meet, and what it left.
#include <algorithm>
#include <utility>

#include "crash/seeded_outcomes.h"
#include "tools/drive/device.h"

namespace flashlab {

namespace {

/// Drawn outcomes, counted. An operation is torn where it leaves neither the old state nor the new one.
class CountedCutOutcomes final : public CutOutcomes {
public:
    CountedCutOutcomes(CutOutcomes& drawn, CutSummary& summary) : drawn_{drawn}, summary_{summary} {}
    ProgramOutcome of_program(Ppn page) override {
        const ProgramOutcome outcome = drawn_.of_program(page);
        note(std::to_underlying(outcome), outcome != ProgramOutcome::not_started && outcome != ProgramOutcome::complete);
        return outcome;
    }
    EraseOutcome of_erase(BlockId block) override {
        const EraseOutcome outcome = drawn_.of_erase(block);
        note(first_erase_outcome + std::to_underlying(outcome), outcome != EraseOutcome::not_started && outcome != EraseOutcome::complete);
        return outcome;
    }
    std::uint64_t random() override { return drawn_.random(); }

private:
    static constexpr std::size_t first_erase_outcome = 7;
    void note(std::size_t outcome, bool is_torn) {
        ++summary_.outcomes[outcome];
        ++summary_.operations_interrupted;
        if (is_torn) ++summary_.operations_torn;
    }
    CutOutcomes& drawn_;
    CutSummary& summary_;
};

/// The instants at which an operation is in flight: a cut exactly at its end finds it done.
struct Span {
    SimTime first;
    std::uint64_t instants;
};

bool is_of_kind(const NandFlight& flight, CutAt kind) {
    if (kind == CutAt::erase) return flight.op == NandOp::erase;
    if (kind == CutAt::gc) return flight.cause == Cause::gc || flight.cause == Cause::merge;
    return true;
}

std::vector<Span> spans_of(const NandArray& array, CutAt kind, SimTime earliest) {
    std::vector<NandFlight> flights;
    array.append_flights(flights);
    std::vector<Span> spans;
    for (const NandFlight& flight : flights) {
        const SimTime first = std::max(flight.cells + Duration{1}, earliest);
        if (first < flight.end && is_of_kind(flight, kind)) spans.push_back({first, static_cast<std::uint64_t>((flight.end - first).count())});
    }
    return spans;
}

/// Moments that are a word's time apart are of one word. Between others nothing need be in flight.
std::vector<Span> spans_of(const Pram& pram, SimTime earliest) {
    std::vector<SimTime> moments;
    pram.append_moments(moments);
    std::vector<Span> spans;
    for (std::size_t i = 1; i < moments.size(); ++i) {
        const SimTime first = std::max(moments[i - 1] + Duration{1}, earliest), end = moments[i];
        if (end - moments[i - 1] == pram.config().word_write && first < end)
            spans.push_back({first, static_cast<std::uint64_t>((end - first).count())});
    }
    return spans;
}

} // namespace

/// Each nanosecond of each operation is as likely as any other. A quarter of the cuts that may strike any work look at the PRAM first: its words are
/// shorter than programs by a factor of a thousand and would hardly ever be met.
std::optional<SimTime> Device::instant_in_flight(CutAt kind, SimTime earliest, std::uint64_t draw) {
    if (kind == CutAt::work) // of a drive that tears the buffer is at work as long as it holds pages: a flush would leave nothing to tear
        if (const auto at = ssd().instant_of_tearing(earliest)) return at;
    Random random{draw};
    std::vector<Span> spans;
    if (kind != CutAt::gc && kind != CutAt::erase && drive_->pram() != nullptr && random.chance(1, 4)) spans = spans_of(*drive_->pram(), earliest);
    if (spans.empty()) spans = spans_of(array(), kind, earliest);
    std::uint64_t total = 0;
    for (const Span& span : spans) total += span.instants;
    if (total == 0) return std::nullopt;
    std::uint64_t at = random.below(total);
    for (const Span& span : spans) {
        if (at < span.instants) return span.first + Duration{static_cast<std::int64_t>(at)};
        at -= span.instants;
    }
    return std::nullopt;
}

CutSummary Device::cut(SimTime at, std::uint64_t seed) {
    Random random{seed};
    SeededCutOutcomes drawn{random.next(), array().guards_pairs()};
    SeededPramCutOutcomes pram{random.next()};
    was_cut_ = true;
    last_cut_ = CutSummary{.at = at};
    CountedCutOutcomes nand{drawn, last_cut_};
    const auto report = ssd().cut(at, nand, pram);
    PowerEvent event{.kind = PowerEventKind::cut, .at = at};
    if (report) {
        event.operations_torn = report->nand.torn_programs + report->nand.torn_erases;
        event.operations_undone = report->nand.undone;
        event.words_torn = report->pram.words_torn;
        event.words_undone = report->pram.words_undone;
    }
    if (events_.wants(EventLevel::summary)) events_.on(event);
    last_cut_.operations_undone = event.operations_undone; // words are no operations: the log has them
    last_cut_.words_interrupted = event.words_torn;
    ready_at_ = at;
    return last_cut_;
}

} // namespace flashlab

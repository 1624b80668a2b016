#include "crash/scripted_outcomes.h"

#include "base/contract.h"

namespace flashlab {

void ScriptedOutcomes::begin(SimTime at, std::string_view script, Random* draw) {
    given_.assign(script);
    digits_.clear();
    choices_.clear();
    draw_ = draw;
    bits_ = Random{static_cast<std::uint64_t>(ns_since_start(at))};
    oob_parses_.reset();
    left_unstable_.clear();
}

std::uint64_t ScriptedOutcomes::combinations(std::uint64_t limit) const {
    std::uint64_t product = 1;
    for (const char choices : choices_) {
        product *= static_cast<std::uint64_t>(choices);
        if (product >= limit) return limit;
    }
    return product;
}

std::optional<std::string> ScriptedOutcomes::next() const {
    std::string script = digits_;
    while (!script.empty()) {
        if (script.back() - '0' + 1 < choices_[script.size() - 1]) {
            ++script.back();
            return script;
        }
        script.pop_back();
    }
    return std::nullopt;
}

std::uint32_t ScriptedOutcomes::choose(std::uint32_t choices) {
    const std::size_t index = digits_.size();
    std::uint32_t chosen = 0;
    if (index < given_.size())
        chosen = static_cast<std::uint32_t>(given_[index] - '0') % choices;
    else if (draw_ != nullptr)
        chosen = static_cast<std::uint32_t>(draw_->below(choices));
    digits_.push_back(static_cast<char>('0' + chosen));
    choices_.push_back(static_cast<char>(choices));
    return chosen;
}

ProgramOutcome ScriptedOutcomes::of_program(Ppn page) {
    constexpr ProgramOutcome outcomes[] = {ProgramOutcome::not_started,  ProgramOutcome::complete,    ProgramOutcome::prefix_torn,
                                           ProgramOutcome::prefix_torn,  ProgramOutcome::garbage,     ProgramOutcome::unstable,
                                           ProgramOutcome::looks_erased, ProgramOutcome::pair_damaged};
    constexpr std::size_t counted[] = {0, 1, 2, 2, 3, 4, 5, 6};
    std::uint32_t chosen = choose(damages_pairs_ ? 8 : 7);
    if (chosen == 6 && !looks_erased_) chosen = 4;
    oob_parses_.reset();
    if (chosen == 2 || chosen == 3) oob_parses_ = chosen == 2;
    if (chosen == 5) left_unstable_.push_back(page);
    ++counts_.counts[counted[chosen]];
    return outcomes[chosen];
}

EraseOutcome ScriptedOutcomes::of_erase(BlockId) {
    const std::uint32_t chosen = choose(5);
    oob_parses_.reset();
    ++counts_.counts[OutcomeCounts::first_erase + chosen];
    return static_cast<EraseOutcome>(chosen);
}

WordOutcome ScriptedOutcomes::of_word(PramAddress) {
    const std::uint32_t chosen = choose(3);
    ++counts_.counts[OutcomeCounts::first_word + chosen];
    return static_cast<WordOutcome>(chosen);
}

/// The array scrambles the OOB of a torn page when the lowest bit of its first draw is 0.
std::uint64_t ScriptedOutcomes::random() {
    const std::uint64_t bits = bits_.next();
    if (!oob_parses_) return bits;
    const bool parses = *oob_parses_;
    oob_parses_.reset();
    return (bits & ~std::uint64_t{1}) | (parses ? 1 : 0);
}

} // namespace flashlab

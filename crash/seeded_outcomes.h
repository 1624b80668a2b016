/// What a power cut leaves of the operations in flight, drawn from a seed: T0..T6, E0..E4 and the PRAM word (docs/crash-model.md).
///
/// Idea       Each operation in flight draws alone, so that one seed names one state.
/// Invariant  Same seed, same questions in the same order: same answers.
/// Cost       One draw a question.
/// Power cut  This is one.
#pragma once

#include "base/random.h"
#include "nand/nand_array.h"
#include "pram/pram.h"

namespace flashlab {

class SeededCutOutcomes final : public CutOutcomes {
public:
    /// `damages_pairs`: T6 is among the outcomes, which only an array that guards pairs survives.
    explicit SeededCutOutcomes(std::uint64_t seed, bool damages_pairs = false) : random_{seed}, damages_pairs_{damages_pairs} {}
    ProgramOutcome of_program(Ppn) override {
        constexpr ProgramOutcome outcomes[] = {ProgramOutcome::not_started, ProgramOutcome::complete, ProgramOutcome::prefix_torn,
                                               ProgramOutcome::garbage,     ProgramOutcome::unstable, ProgramOutcome::looks_erased,
                                               ProgramOutcome::pair_damaged};
        return outcomes[random_.below(damages_pairs_ ? 7 : 6)];
    }
    EraseOutcome of_erase(BlockId) override {
        constexpr EraseOutcome outcomes[] = {EraseOutcome::not_started, EraseOutcome::complete, EraseOutcome::garbage, EraseOutcome::weak,
                                             EraseOutcome::mixed};
        return outcomes[random_.below(5)];
    }
    std::uint64_t random() override { return random_.next(); }

private:
    Random random_;
    bool damages_pairs_;
};

class SeededPramCutOutcomes final : public PramCutOutcomes {
public:
    explicit SeededPramCutOutcomes(std::uint64_t seed) : random_{seed} {}
    WordOutcome of_word(PramAddress) override {
        constexpr WordOutcome outcomes[] = {WordOutcome::old_value, WordOutcome::new_value, WordOutcome::mixed_bits};
        return outcomes[random_.below(3)];
    }
    std::uint64_t random() override { return random_.next(); }

private:
    Random random_;
};

} // namespace flashlab

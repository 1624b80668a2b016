/// What a power cut leaves of the operations in flight, drawn from a seed: T0..T2, E0..E2 and the PRAM word (CRASH.md's table).
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
    explicit SeededCutOutcomes(std::uint64_t seed) : random_{seed} {}
    ProgramOutcome of_program(Ppn) override {
        constexpr ProgramOutcome outcomes[] = {ProgramOutcome::not_started, ProgramOutcome::complete, ProgramOutcome::prefix_torn};
        return outcomes[random_.below(3)];
    }
    EraseOutcome of_erase(BlockId) override {
        constexpr EraseOutcome outcomes[] = {EraseOutcome::not_started, EraseOutcome::complete, EraseOutcome::garbage};
        return outcomes[random_.below(3)];
    }
    std::uint64_t random() override { return random_.next(); }

private:
    Random random_;
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

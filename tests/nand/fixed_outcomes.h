/// A cut whose outcomes a test chooses; its random bits come from a seed.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "nand/nand_types.h"

namespace flashlab::test {

class FixedOutcomes final : public CutOutcomes {
public:
    FixedOutcomes(ProgramOutcome program, EraseOutcome erase, std::uint64_t seed = 1) : program_{program}, erase_{erase}, random_{seed} {}
    ProgramOutcome of_program(Ppn) override { return program_; }
    EraseOutcome of_erase(BlockId) override { return erase_; }
    std::uint64_t random() override { return random_.next(); }

private:
    ProgramOutcome program_;
    EraseOutcome erase_;
    Random random_;
};

} // namespace flashlab::test

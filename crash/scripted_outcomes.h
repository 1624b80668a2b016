/// The outcome of each operation in flight, as a string of digits (a script): enumerated, drawn from a seed, or read from a replay id.
///
/// Idea       Each operation takes one digit, in the order in which the cut meets the operations, flash first. Digits beyond the end of the script
///            are 0 or drawn, and become part of it. next() counts scripts up like an odometer.
///              program  0 T0 not started · 1 T1 complete · 2 T2 torn, the OOB parses · 3 T2 torn, nothing parses · 4 T3 garbage
///                       5 T4 reads right once · 6 T5 looks erased · 7 T6 its pair is damaged, too (only on devices that guard pairs)
///              erase    0 E0 not started · 1 E1 complete · 2 E2 garbage · 3 E3 weak · 4 E4 mixed
///              word     0 old · 1 new · 2 a mix of bits
/// Invariant  The same time and script leave the same bytes: random bytes are drawn from the time of the cut.
/// Cost       A byte an operation in flight.
/// Power cut  This is one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "nand/nand_array.h"
#include "pram/pram.h"

namespace flashlab {

/// How often each outcome was tried: T0..T6, E0..E4, then the PRAM word's.
struct OutcomeCounts {
    static constexpr std::array<std::string_view, 15> names{"T0", "T1", "T2", "T3", "T4",       "T5",       "T6",        "E0",
                                                            "E1", "E2", "E3", "E4", "word_old", "word_new", "word_mixed"};
    static constexpr std::size_t first_erase = 7, first_word = 12;
    std::array<std::uint64_t, names.size()> counts{};
};

class ScriptedOutcomes final : public CutOutcomes, public PramCutOutcomes {
public:
    /// `damages_pairs`: T6 is among the outcomes. `looks_erased` false: T5 is not, and T3 is in its place (judges.h).
    explicit ScriptedOutcomes(OutcomeCounts& counts, bool damages_pairs = false, bool looks_erased = true)
        : counts_{counts}, damages_pairs_{damages_pairs}, looks_erased_{looks_erased} {}

    /// Call before each cut. `draw` gives the digits beyond the script; null: these digits are 0.
    void begin(SimTime at, std::string_view script, Random* draw);
    /// After a cut: the digits that were used.
    [[nodiscard]] const std::string& script() const { return digits_; }
    /// After a cut: the pages that read right once.
    [[nodiscard]] const std::vector<Ppn>& left_unstable() const { return left_unstable_; }
    /// How many outcomes the operation of digit `index` could have had.
    [[nodiscard]] char choices(std::size_t index) const { return choices_[index]; }
    /// How many scripts there are for this moment, at most `limit`.
    [[nodiscard]] std::uint64_t combinations(std::uint64_t limit) const;
    /// The next script of this moment; nullopt when all have been tried.
    [[nodiscard]] std::optional<std::string> next() const;

    ProgramOutcome of_program(Ppn page) override;
    EraseOutcome of_erase(BlockId block) override;
    WordOutcome of_word(PramAddress at) override;
    std::uint64_t random() override;

private:
    std::uint32_t choose(std::uint32_t choices);

    OutcomeCounts& counts_;
    bool damages_pairs_;
    bool looks_erased_;
    std::string given_;
    std::string digits_;
    std::string choices_;
    Random* draw_ = nullptr;
    Random bits_{0};
    std::vector<Ppn> left_unstable_;
    std::optional<bool> oob_parses_; ///< of a T2 whose first draw comes next
};

} // namespace flashlab

/// A statement of a paper, what kind of evidence ours is for it, and whether our measurements confirm it.
///
/// Idea       paper_values.cpp has one line a claim: its words, its kind and its bounds. A figure hands over what it measured. A number that a paper
///            prints becomes a claim of its own: ours is within a fraction of it, on both sides.
/// Invariant  L1 the bound stands in the text of the claim, in the words that the bound itself gives. L2 only results count in the headline: what was
///            fitted to the paper, or could not have come out otherwise, is counted apart.
/// Cost       A search in a table of a hundred lines a claim.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/reproduce/verdict.h"

namespace flashlab {

struct Experiment;
struct Reproduction;

enum class ClaimKind : std::uint8_t {
    result,          ///< it could have failed, and nothing was chosen so that it holds
    fitted,          ///< a free parameter was chosen by this number or sentence, or changed after it had failed
    by_construction, ///< no measurement of this model could have refuted it
};
/// As in the JSON: result, fitted, by_construction.
[[nodiscard]] std::string_view to_text(ClaimKind kind);
/// For people: "by construction".
[[nodiscard]] std::string_view words_of(ClaimKind kind);

/// A line of the data file.
struct ClaimSpec {
    std::string_view id, claim; ///< a star stands for any text
    ClaimKind kind = ClaimKind::result;
    Bound bound;
    std::string_view paper; ///< its words; "ours: ..." where it says nothing of the kind
    Bound second{};         ///< of the second evidence, where a claim has two
};

/// A number that the paper prints for a point.
struct QuotedValue {
    std::string_view id, series;
    double x, paper;
    std::string_view section;
    ClaimKind kind = ClaimKind::result;
    bool is_judged = true; ///< false: shown beside ours, but no claim
    double within = 0.15;  ///< a number that is printed is met by one within this part of it, on both sides
};

/// Ours beside a number that a paper prints.
struct QuotedPoint {
    std::string_view series;
    double x = 0, paper = 0, ours = 0;
};

struct ReproducedClaim {
    std::string text;  ///< "NAME [BOUND]"
    std::string ours;  ///< the numbers that decide
    std::string bound; ///< in words
    ClaimKind kind = ClaimKind::result;
    bool holds = false;
    std::string paper;                 ///< its words
    std::string cause;                 ///< where it fails: the experiment that shows why, or "not explained"
    std::optional<QuotedPoint> quoted; ///< of judge_quoted(), where it was measured
    std::vector<Bound> bounds;         ///< one for each evidence
    std::vector<Evidence> evidence;    ///< the measured series: holds follows from these alone
    /// Without the bound.
    [[nodiscard]] std::string_view name() const;
    [[nodiscard]] bool is_of_the_paper() const { return !paper.starts_with("ours:"); }
};

[[nodiscard]] std::span<const QuotedValue> quoted_values();
/// Of ours over the paper's.
[[nodiscard]] Bound quoted_bound(const QuotedValue& value);
/// What stands behind a claim that fails: the experiment that shows it.
struct ClaimCause {
    std::string_view id, claim; ///< with stars, as in ClaimSpec
    std::string_view shown_by;
};
[[nodiscard]] std::span<const ClaimCause> claim_causes();
[[nodiscard]] std::span<const ClaimSpec> claim_specs();
/// The first line that fits; null if there is none.
[[nodiscard]] const ClaimSpec* find_claim_spec(std::string_view id, std::string_view claim);

/// Judged by its line in the data file, which must exist.
[[nodiscard]] ReproducedClaim judged(std::string_view id, std::string name, std::string ours, std::vector<Evidence> evidence);
[[nodiscard]] bool holds(const ReproducedClaim& claim);

/// One claim for each number that the paper prints for this experiment, where the data file wants it judged.
[[nodiscard]] std::vector<ReproducedClaim> judge_quoted(std::string_view id, const Reproduction& result);

/// How many claims of a kind there are, and how many hold. The papers' and what goes beyond them are counted apart.
class ClaimTally {
public:
    void add(std::string_view id, const ReproducedClaim& claim);
    void add(std::string_view id, std::span<const ReproducedClaim> claims);
    /// "results of the papers: 80 of 88 claims hold; fitted to the papers: 20 of 21 hold; true by construction: 9 of 9 hold; not the papers': ..."
    [[nodiscard]] std::string text() const;
    struct Count {
        std::size_t claims = 0, held = 0;
    };
    [[nodiscard]] Count results() const { return of(ClaimKind::result); }
    [[nodiscard]] Count of(ClaimKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
    [[nodiscard]] Count beyond() const { return beyond_; }

private:
    Count counts_[3], beyond_;
};

} // namespace flashlab

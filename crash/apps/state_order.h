/// Which states to try, and in which order: those that hurt most programs first, then drawn ones.
///
/// Idea       The points of the history fall into kinds (which call came before, which comes next, on which file). Of each kind one point is looked
///            at first, then more and more. At a point the edges come first: nothing unsynced survives, all of it, names without data, data without
///            names, all but one.
/// Invariant  The same history, model and seed give the same states in the same order. Everything drawn is legal: crash/apps/left_state.h sees to it.
/// Cost       A pass over the lines before a point that is looked at for the first time; points are remembered.
/// Source     The edges are those of Pillai et al., OSDI 2014, and of Mohan et al., OSDI 2018.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/random.h"
#include "crash/apps/left_state.h"

namespace flashlab {

/// A name without what counts it up: digits and random letters look alike, so that a.tmp17 and a.tmp18 are one kind.
[[nodiscard]] std::string kind_of_path(const std::string& path);

/// What is not durable at a point.
struct UnsyncedLines {
    std::shared_ptr<const Durability> durable;
    std::vector<std::uint32_t> names;  ///< and sizes set, attributes: what a journal orders
    std::vector<std::uint32_t> writes; ///< in order
};

[[nodiscard]] UnsyncedLines find_unsynced(const Past& past, const Persistence& model, std::uint32_t cut);

struct PossibleStates {
    double states = 0;
    std::size_t points = 0; ///< that were looked at
};

class StateOrder {
public:
    /// `from`: no cut comes before so many lines.
    StateOrder(const Past& past, const Persistence& model, std::uint64_t seed, std::uint32_t from = 0);

    /// The next state to try. Never the end: once the edges are through, states are drawn.
    [[nodiscard]] CutState next();
    /// A state of this cut: one of the edges, or a drawn one. Not to be mixed with next().
    [[nodiscard]] CutState draw_at(std::uint32_t cut);
    [[nodiscard]] bool is_drawing() const { return job_ == jobs_.size() && edges_.empty(); }
    [[nodiscard]] const UnsyncedLines& unsynced(std::uint32_t cut);
    /// So many points at which a cut may come.
    [[nodiscard]] std::size_t cuts() const { return cuts_; }
    /// An upper bound of the states that the model allows, torn pages apart; at most 1e300. Of a history so long that looking at each of its points
    /// would take longer than the search, it is estimated from some of them.
    [[nodiscard]] PossibleStates possible();

private:
    struct Job {
        unsigned priority = 0, tier = 0;
        std::uint32_t cut = 0;
    };
    void plan(std::uint32_t from);
    [[nodiscard]] double possible_at(std::uint32_t cut);
    [[nodiscard]] bool meets_block(const UnsyncedLines& u, std::uint32_t line) const;
    [[nodiscard]] std::uint32_t draw_cut();
    void push(std::uint32_t cut, std::vector<Loss> losses) { edges_.push_back({cut, std::move(losses)}); }
    void add_edges(const Job& job);
    void add_wholes(std::uint32_t cut, const UnsyncedLines& u);
    void add_kinds(std::uint32_t cut, const UnsyncedLines& u);
    void add_all_but_one(std::uint32_t cut, const UnsyncedLines& u);
    void add_last_writes(std::uint32_t cut, const UnsyncedLines& u);
    void add_only_one(std::uint32_t cut, const UnsyncedLines& u);
    void add_single_writes(std::uint32_t cut, const UnsyncedLines& u);
    [[nodiscard]] CutState draw(std::uint32_t cut);

    const Past& past_;
    const Persistence& model_;
    Random random_;
    std::vector<Job> jobs_;
    std::size_t job_ = 0, cuts_ = 0;
    std::vector<std::uint32_t> all_cuts_;
    std::unordered_map<std::uint32_t, std::size_t> choices_; ///< by cut: so many lines are unsynced
    std::deque<CutState> edges_;
    std::unordered_map<std::uint32_t, UnsyncedLines> known_;
};

} // namespace flashlab

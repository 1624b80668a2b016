/// Unpacks states of a recorded run into plain directories, runs the user's check in each, and sorts what failed by its cause.
///
/// Idea       Workers take the next state that was not tried yet, make their directory look like it, and run the check. A state that fails is tried
///            once more, then its losses are given back one after the other for as long as the check still fails.
/// Invariant  What is reported failed twice, and the losses reported are needed: with any one of them given back the check passed, as far as the
///            number of attempts allowed. A state whose check fails although nothing was lost is told as such. Any number of workers finds the
///            same: states are numbered, and judgements count in the order of the numbers.
/// Cost       A check a state, and some tens for each cause.
/// Threading  One mutex around order, causes and counts; directories and checks belong to their worker.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "crash/apps/loss_words.h"
#include "crash/apps/state_order.h"
#include "tools/explore/served_check.h"
#include "tools/explore/state_directory.h"

namespace flashlab {

struct ExploreConfig {
    std::string check, work;   ///< `work`: a directory for the workers' own
    bool check_serves = false; ///< it stays, and is asked (tools/explore/served_check.h)
    std::chrono::milliseconds limit{0};
    std::uint64_t states = 2000, seed = 1;
    unsigned workers = 1;
    std::uint32_t from = 0;                                                ///< no cut comes before so many lines
    std::shared_ptr<std::mutex> contents = std::make_shared<std::mutex>(); ///< held while a LeftState is made: contents are identified in common
    /// In place of `check`: the state stands in the directory, and why it fails is to be told in the file.
    std::function<CheckEnd(const LeftState&, const std::string& directory, const std::string& output)> judge{};
    std::function<void(std::uint64_t)> progress = [](std::uint64_t) {};
};

struct LossFinding {
    LossWords words;
    CutState state;              ///< shrunk
    bool has_timed_out = false;  ///< the check was ended, and judged nothing
    std::uint64_t found_at = 0;  ///< the number of its state, from 1 on
    std::uint64_t states = 0;    ///< that failed of this cause
    std::string said;            ///< first and last lines of the check
    std::string kept;            ///< directory; set by whoever keeps it
    std::set<std::string> kinds; ///< of the lines lost: what a state of the same cause has lost, too
};

struct ExploreResult {
    std::uint64_t states = 0; ///< tried, all different
    std::uint64_t checks = 0; ///< run, those of shrinking, too; a judgement that was made again counts once
    std::uint64_t failing = 0;
    std::uint64_t untold = 0;   ///< failing states of causes that there was no room for
    std::uint64_t unsteady = 0; ///< failed and passed later, made anew: the check does not always answer the same
    bool exhausted = false;     ///< no other state was found
    bool edges_done = false;    ///< all edges were tried, and states were drawn
    double wall_seconds = 0;
    double cpu_seconds = 0; ///< of this process and of the checks that ended; not of what left its check's process group
    std::string broken;     ///< why it could not go on; empty: it did
    bool is_misuse = false; ///< it could not because of what the check does
    std::vector<LossFinding> findings;
};

class StateExplorer {
public:
    StateExplorer(const Past& past, const Persistence& model, ExploreConfig config);

    /// Checks a state by itself, outside of a run. Nothing: it passes; else what the check said.
    [[nodiscard]] std::optional<std::string> check_alone(const CutState& state);
    [[nodiscard]] ExploreResult run();
    [[nodiscard]] StateOrder& order() { return order_; }

private:
    struct Worker {
        StateDirectory directory;
        std::string output, promises;
        std::unique_ptr<ServedCheck> server{}; ///< null: each state has a process of its own
        std::uint64_t promises_written = ~std::uint64_t{0};
        std::uint64_t checks = 0;   ///< of the state that it works on
        bool has_timed_out = false; ///< the last of fails()
    };
    struct Numbered {
        std::uint64_t number;
        LeftState state;
    };
    /// Of a state that fails: a cause that was known, or a finding; neither: it passed in the end.
    struct Judgement {
        std::string known;
        std::optional<LossFinding> finding;
    };
    [[nodiscard]] Worker make_worker(unsigned number);
    void work(Worker& worker);
    [[nodiscard]] std::optional<Numbered> take();
    void settle(const Worker& worker, std::uint64_t number);
    [[nodiscard]] CheckEnd check(Worker& worker, const LeftState& state);
    [[nodiscard]] CheckVerdict verdict_of(Worker& worker, const LeftState& state);
    [[nodiscard]] CheckCall call_of(const Worker& worker) const;
    [[nodiscard]] bool fails(Worker& worker, CutState state);
    void judge(Worker& worker, const Numbered& failing);
    [[nodiscard]] Judgement judgement_of(Worker& worker, const Numbered& failing);
    [[nodiscard]] std::string known_cause(Worker& worker, const LeftState& state, CutState& rest);
    [[nodiscard]] CutState shrink(Worker& worker, CutState state);
    [[nodiscard]] CutState with_its_begin(Worker& worker, CutState state);
    [[nodiscard]] std::shared_ptr<const Durability> durable_at(std::uint32_t cut);
    void add(LossFinding finding);
    void stop(std::string why, bool is_misuse = false);

    const Past& past_;
    const Persistence& model_;
    ExploreConfig config_;
    std::mutex mutex_;
    StateOrder order_;
    std::unordered_set<std::uint64_t> seen_;
    std::vector<std::uint32_t> promises_before_; ///< by cut
    ExploreResult result_;
    std::set<std::uint64_t> open_; ///< states that are being worked on; the first may add to the findings
    std::condition_variable first_changed_;
};

} // namespace flashlab

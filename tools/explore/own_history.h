/// A judge that needs no check: the program's own next start on what a cut left must answer as it would have at some moment of its recorded run.
///
/// Idea       Of each moment the files are made as if all before it were on disk, and the program is started on them, or a question is asked: what it
///            answers there is legal. A state that a cut left is asked the same.
/// Invariant  A moment counts if it is not later than the cut and not earlier than the last one whose changes were all promised: by a line to
///            FLASHLAB_ACK_FD or to standard output, or by a sync of each file and directory concerned. Ends are good that the program has before its
///            run, after it, and at its promises, and, where it fails before, while nothing is there yet: any other is a finding, at a moment, too.
///            Without a question, what a start finds counts, too: the files that it reads may not all be those of an earlier moment. Of a program
///            that reads none, these are the files that its run leaves, and none that a rename put in its place may lack bytes.
/// Cost       A start for each moment that is needed to find a state's answer; files that look the same are asked once.
/// Threading  Any number of threads judge.
/// Source     Jiang et al., "Crash Consistency Validation Made Easy", FSE 2016
#pragma once

#include <chrono>
#include <expected>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "crash/apps/left_state.h"
#include "tools/explore/answer.h"
#include "tools/explore/state_directory.h"

namespace flashlab {

struct OwnHistoryConfig {
    std::string probe;        ///< as sh -c takes it
    bool is_question = false; ///< not the program's own next start: what it leaves in files is no answer
    std::string work;         ///< a directory of its own
    std::chrono::milliseconds limit{0};
    std::uint32_t from = 0;                 ///< no cut comes before so many lines
    std::shared_ptr<std::mutex> contents{}; ///< that of ExploreConfig
};

/// By cut: no answer of a moment before this one is good enough.
[[nodiscard]] std::vector<std::uint32_t> earliest_moments(const Past& past, std::uint32_t from);

class OwnHistory {
public:
    OwnHistory(const Past& past, const Persistence& model, OwnHistoryConfig config);

    /// Before anything is judged. The error: this program answers nothing that could be compared.
    [[nodiscard]] std::expected<void, std::string> learn();
    /// The state stands in `directory`. What the program printed goes to `output`, with the judgement behind it.
    [[nodiscard]] CheckEnd judge(const LeftState& state, const std::string& directory, const std::string& output);
    /// What was learnt: `probe`, `answers` (different ones before, after and at promises), `good_ends`, `reads`, `not_compared`.
    [[nodiscard]] Json facts() const;
    /// All that a judge of this state alone needs.
    [[nodiscard]] Json record_of(const LeftState& state);

private:
    struct Moment {
        std::uint64_t tree = 0, view = 0;
    };
    struct Known {
        std::string shown;
        bool is_good = false;
    };
    [[nodiscard]] LeftState state_at(std::uint32_t moment) const;
    [[nodiscard]] Answer ask(const std::string& directory, const std::string& output) const;
    [[nodiscard]] std::expected<Answer, std::string> ask_at(std::uint32_t moment, StateDirectory& directory, FileKinds* reads);
    [[nodiscard]] std::expected<void, std::string> learn_beginning(StateDirectory& directory);
    [[nodiscard]] std::expected<void, std::string> learn_at(std::uint32_t moment, StateDirectory& directory);
    [[nodiscard]] Moment moment(std::uint32_t at);
    [[nodiscard]] std::optional<Known> known(std::uint32_t at);
    [[nodiscard]] bool find(const std::string& shown, std::uint32_t from, std::uint32_t cut, const std::string& directory);
    [[nodiscard]] std::uint64_t view_of(const LeftTree& tree) const;
    [[nodiscard]] std::string wrong_files(const LeftState& state);
    [[nodiscard]] std::uint32_t before_clean_up(std::uint32_t at) const;
    [[nodiscard]] std::string half_replaced(const LeftState& state) const;
    [[nodiscard]] std::string nearest(const std::string& shown, std::uint32_t from, std::uint32_t cut);
    [[nodiscard]] std::string told_moment(std::uint32_t at) const;
    [[nodiscard]] bool is_landmark(std::uint32_t at) const;
    [[nodiscard]] bool is_good(const Answer& answer) const;

    const Past& past_;
    const Persistence& model_;
    OwnHistoryConfig config_;
    std::vector<std::uint32_t> earliest_;
    AnswerMasks masks_;
    FileKinds reads_;
    bool only_writes_ = false;
    std::set<std::string> good_ends_;
    std::vector<Answer> at_rest_;
    std::mutex mutex_; ///< of what follows
    std::unordered_map<std::uint32_t, Moment> moments_;
    std::unordered_map<std::uint64_t, Known> answers_; ///< by tree
    std::map<std::string, std::unique_ptr<StateDirectory>> places_;
};

/// Asks once more about files that were kept with record_of(). Nothing: the answer is legal, else what is wrong.
[[nodiscard]] std::optional<std::string> judge_by_record(const Json& record, const std::string& directory, const std::string& output,
                                                         std::chrono::milliseconds limit);

} // namespace flashlab

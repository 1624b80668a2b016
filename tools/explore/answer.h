/// What a program answers about a state of its files: how it ends, what it prints, which text it leaves in the files that it reads.
///
/// Idea       An answer is lines by source: what was printed, and each kind of file. Two answers of one state teach what differs by itself (times,
///            process numbers, an order): those kinds of lines are masked from then on, the rest counts to the letter.
/// Invariant  Masks only grow. With those that were learnt from two answers these two are equal.
/// Cost       The bytes of the answer.
/// Source     Jiang et al., "Crash Consistency Validation Made Easy", FSE 2016: a program's own recovery is its oracle.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/explore/check_run.h"
#include "tools/text/json.h"

namespace flashlab {

struct Answer {
    CheckVerdict verdict;
    std::map<std::string, std::vector<std::string>> lines; ///< by source
};

/// Paths by kind: those of one store's many files are one (crash/apps/state_order.h).
using FileKinds = std::set<std::string>;
[[nodiscard]] std::string kind_of_file(const std::string& path);

/// What stands in `output` and `errors`, and in the text files of these kinds in the directory. Where the directory lies is not part of it.
[[nodiscard]] Answer read_answer(const CheckVerdict& verdict, const CheckCall& call, const FileKinds& files);

/// What is not compared.
class AnswerMasks {
public:
    void learn(const Answer& one, const Answer& other);
    /// Equal for equal answers; a line a file, and one for each line printed.
    [[nodiscard]] std::string shown(const Answer& answer) const;
    /// For people: one a source.
    [[nodiscard]] std::vector<std::string> told() const;
    [[nodiscard]] Json to_json() const;
    [[nodiscard]] static AnswerMasks from_json(const Json& json);

private:
    struct Mask {
        std::set<std::string> kinds; ///< of lines whose digits and drawn letters differ
        bool is_sorted = false, is_ignored = false;
    };
    [[nodiscard]] std::vector<std::string> masked(const std::string& source, std::vector<std::string> lines) const;
    std::map<std::string, Mask> masks_;
};

/// Is what was shown the legal answer? More files of a kind than there were are none the worse: an unlink may be lost.
[[nodiscard]] bool answers_as(const std::string& shown, const std::string& legal);

/// The lines that only one of two shown answers has: "lacks ..., has ...". `count`: how many there are.
struct AnswerDifference {
    std::size_t count = 0;
    std::string told;
};
[[nodiscard]] AnswerDifference difference_of(const std::string& shown, const std::string& legal);

/// Which files a program reads, by their times of access: these are set back before, and looked at afterwards.
class ReadFiles {
public:
    explicit ReadFiles(const std::string& directory);
    ~ReadFiles();
    ReadFiles(const ReadFiles&) = delete;
    ReadFiles& operator=(const ReadFiles&) = delete;
    /// Files that were there before. All of them where the host keeps no times of access.
    [[nodiscard]] FileKinds kinds() const;

private:
    struct Watched {
        std::string kind;
        int fd;
    };
    std::vector<Watched> watched_;
    bool is_told_ = true;
};

} // namespace flashlab

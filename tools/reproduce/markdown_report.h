/// Results of `flashlab reproduce` as a page of tables for the repository: nobody types a number that a run has given.
///
/// Invariant  The page has no date. The same results give the same bytes.
/// Cost       Kilobytes a figure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/reproduce/experiment.h"

namespace flashlab {

class MarkdownReport {
public:
    explicit MarkdownReport(RunLength length) : length_{length} {}
    void add(const Experiment& experiment, const Reproduction& result);
    [[nodiscard]] std::string page() const;
    /// The part of the page that shows one experiment.
    [[nodiscard]] static std::string section(const Experiment& experiment, const Reproduction& result);
    /// Rows of its loads and free parameters; the page has each once, with the names of its experiments.
    [[nodiscard]] static std::vector<std::string> assumptions(const Reproduction& result);

private:
    RunLength length_;
    std::string body_;
    std::vector<std::pair<std::string, std::string>> assumptions_; ///< row, experiments
    ClaimTally tally_;
};

} // namespace flashlab

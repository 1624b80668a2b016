/// Results of `flashlab reproduce` as one self-contained page: a plot for each unit of a figure, the paper's numbers marked, claims with their
/// kind and bound, loads, free parameters.
///
/// Invariant  The page has no script, no date, and loads nothing from elsewhere. The same results give the same bytes.
/// Cost       Tens of kilobytes a figure.
#pragma once

#include <string>

#include "tools/reproduce/experiment.h"

namespace flashlab {

class HtmlReport {
public:
    explicit HtmlReport(RunLength length);
    void add(const Experiment& experiment, const Reproduction& result);
    [[nodiscard]] std::string page() const;

private:
    RunLength length_;
    std::string contents_, body_;
    ClaimTally tally_;
};

} // namespace flashlab

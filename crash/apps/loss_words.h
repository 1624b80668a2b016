/// A finding in plain words: what was lost, what was there all the same, and which call would have kept it.
///
/// Idea       Each loss is looked at with what came behind it: a rename that gave the lost data their name, a promise, another change that relies on
///            it. The call that is missing belongs between the two.
/// Invariant  The words name lines of the trace; `cause` names kinds of lines only, so that the same mistake made a hundred times is one cause.
#pragma once

#include <string>
#include <vector>

#include "crash/apps/left_state.h"

namespace flashlab {

struct LossWords {
    std::string what;              ///< a sentence
    std::vector<std::string> lost; ///< "line 3: write a.tmp 0+12"
    std::string missing_call;      ///< "fsync(a.tmp) before line 4 (rename a.tmp -> a)"
    std::string cause;             ///< equal for findings of one cause
};

[[nodiscard]] LossWords tell_losses(const Past& past, const Persistence& model, const LeftState& state);
/// Of a check that was ended after so many seconds: the state is what it may hang on, and nothing was found wrong with it.
[[nodiscard]] LossWords told_as_endless(LossWords words, double seconds);

} // namespace flashlab

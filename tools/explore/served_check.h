/// A check that stays: one process that is asked about state after state.
///
/// Idea       Starting a program costs more than most looks at a few files, in Python twenty times as much. So it is started once, in the directory
///            that is made to look like one state after the other. For each a line comes on its standard input, and it answers with one line on its
///            standard output: "ok", or what is wrong. What it says on standard error is told with that.
/// Invariant  An answer belongs to the question before it: more than a line is none. A process that says nothing in time has failed; so has one that
///            ends, if it was asked of nothing before; else a new one is asked. One that has found a state wrong is ended, too: what it keeps of that
///            state accuses no other.
/// Cost       Two switches of the processor from one process to the other.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "tools/explore/check_process.h"

namespace flashlab {

class ServedCheck {
public:
    /// Starts nothing yet.
    explicit ServedCheck(CheckCall call) : call_{std::move(call)} {}

    [[nodiscard]] CheckVerdict ask(const std::string& question);

private:
    [[nodiscard]] bool start();
    /// The next question is the first one of a new process.
    void end_saying(const std::string& why);
    [[nodiscard]] CheckVerdict end_without_answer(CheckEnd cut_short);

    CheckCall call_;
    FileDescriptor questions_{-1}, answers_{-1};
    std::unique_ptr<CheckProcess> process_;
};

} // namespace flashlab

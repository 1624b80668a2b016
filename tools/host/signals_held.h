/// INT, TERM and HUP held back, but for the moments in which one waits for them.
///
/// Idea       Around a fork. A signal that came just behind it would end the parent before it can pass the signal on; the child, in a session of its
///            own by then, would work for nobody. A signal between the look at a note and the next wait would be slept over.
/// Invariant  The former mask is restored at the end of the scope. Signals that came are delivered then, or in wait_for().
/// Cost       Two system calls, and one a wait.
#pragma once

#include <csignal>

namespace flashlab {

class SignalsHeld {
public:
    SignalsHeld();
    ~SignalsHeld() { release(); }
    SignalsHeld(const SignalsHeld&) = delete;
    SignalsHeld& operator=(const SignalsHeld&) = delete;

    /// For the child of a fork, which is ended by signals as ever.
    void release() const;
    /// Waits until `fd` can be read or is closed. False: a signal came first.
    [[nodiscard]] bool wait_for(int fd) const;

private:
    sigset_t before_{};
};

} // namespace flashlab

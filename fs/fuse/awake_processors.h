/// Keeps the processors out of sleep while answers wait for their time.
///
/// Idea       A processor that sleeps needs 5 to 100 us to come back, on a virtual machine mostly 30 to 50: more than many answers take. Linux lets
///            root ask for a wake-up latency of 0 through /dev/cpu_dma_latency, for as long as the file is open. Idle processors then poll.
/// Invariant  hold() more than once is as good as once. The wish ends with let_go(), with the object, and with the process, however it ends.
/// Cost       Two system calls at the first hold() after a let_go(); then none. Power, while held: the caller lets go when nothing waits any more.
/// Source     Linux, Documentation/power/pm_qos_interface.
#pragma once

namespace flashlab {

class AwakeProcessors {
public:
    AwakeProcessors() = default;
    ~AwakeProcessors() { let_go(); }
    AwakeProcessors(const AwakeProcessors&) = delete;
    AwakeProcessors& operator=(const AwakeProcessors&) = delete;

    /// Where it is refused (an ordinary user, a container) nothing happens, and it is not asked for again.
    void hold();
    void let_go();
    [[nodiscard]] bool are_held() const { return wish_ >= 0; }

private:
    int wish_ = -1; ///< the open file
    bool is_refused_ = false;
};

} // namespace flashlab

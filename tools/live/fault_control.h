/// `flashlab ctl MNT fault`: the faults of a live mount, set, listed, cleared, and logged.
///
/// Idea       It owns the plan, brings it to those who ask it, and answers the control socket's questions.
/// Invariant  An answer leaves when the rule is in force, or is no longer. All rules of one request are set, or none.
/// Cost       Nothing while no rule is set.
/// Power cut  The rules end with the mount.
/// Threading  answer() on the control thread; it enters the monitor. The plan is asked inside the monitor.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fs/fuse/mount.h"
#include "tools/drive/device_directory.h"
#include "tools/faults/fault_plan.h"
#include "tools/text/json.h"

namespace flashlab {

class FaultControl {
public:
    FaultControl();
    FaultControl(const FaultControl&) = delete;
    FaultControl& operator=(const FaultControl&) = delete;

    [[nodiscard]] FaultPlan& plan() { return plan_; }
    /// Both outlive this object's last call, but for calls of plan() while the device closes. `mount` may be null until set_mount().
    void attach(DeviceDirectory& opened, std::function<void(const std::string&)> complain);
    void set_mount(Mount& mount) { mount_ = &mount; }
    /// Sets the rules of the mount's options, before the mount serves. The error names the rule.
    [[nodiscard]] std::expected<void, std::string> set(const std::vector<FaultRule>& rules, SimTime now);
    [[nodiscard]] Json answer(const Json& request);

private:
    [[nodiscard]] Json add(const Json& request, SimTime now);
    [[nodiscard]] Json clear(const Json& request, SimTime now);
    [[nodiscard]] Json list() const;
    void bring_into_force();
    void tell_strike(const FaultStrike& strike);
    void tell(FaultAction action, std::uint64_t number, const FaultRule& rule, SimTime now);

    FaultPlan plan_;
    DeviceDirectory* opened_ = nullptr;
    Mount* mount_ = nullptr;
    std::function<void(const std::string&)> complain_;
    std::uint64_t strikes_told_ = 0;
};

} // namespace flashlab

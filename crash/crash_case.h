/// One power cut (or several in a row) of one workload on one tiny device: what a replay id names.
///
/// Idea       "hftl:chip-slc:w0x3.f.w1:1234567-02:2345678-1" = scheme, device, workload, then for each cut its nanosecond and the outcomes of what
///            was in
///            flight (scripted_outcomes.h). The second cut falls into the recovery from the first.
/// Invariant  parse(id()) == the case; an id runs the same on every host and for as long as scheme and formats stay the same.
/// Cost       None that counts.
/// Power cut  It is one.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/sim_time.h"
#include "crash/workload.h"

namespace flashlab {

struct CutPoint {
    SimTime at;
    std::string outcomes; ///< scripted_outcomes.h
    friend bool operator==(const CutPoint&, const CutPoint&) = default;
};

struct CrashCase {
    std::string scheme;
    std::string device; ///< tiny_devices.h
    Workload workload;
    std::vector<CutPoint> cuts; ///< none: the device misbehaved before any cut

    [[nodiscard]] std::string id() const;
    [[nodiscard]] static std::expected<CrashCase, std::string> parse(std::string_view id);
    friend bool operator==(const CrashCase&, const CrashCase&) = default;
};

} // namespace flashlab

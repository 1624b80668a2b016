/// One power cut, or several in a row, in one workload on one tiny device. A replay id names such a case.
///
/// Idea       "hftl:chip-slc:w0x3.f.w1:1234567-02:2345678-1" = scheme, device, workload, then for each cut its nanosecond and the outcomes of the
///            operations in flight (scripted_outcomes.h). The second cut falls into the recovery from the first.
/// Invariant  parse(id()) == the case. An id runs the same on every host, and for as long as the scheme and the formats stay the same.
/// Cost       Negligible.
/// Power cut  A case describes one.
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
    std::vector<CutPoint> cuts; ///< empty: the device misbehaved before any cut

    [[nodiscard]] std::string id() const;
    [[nodiscard]] static std::expected<CrashCase, std::string> parse(std::string_view id);
    friend bool operator==(const CrashCase&, const CrashCase&) = default;
};

} // namespace flashlab

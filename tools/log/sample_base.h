/// The counters of the device at the beginning of a run.
///
/// Idea       The device counts since power-on. A run of the log counts since its own beginning. So each sample is written as the difference.
/// Invariant  Only counters that grow are subtracted. Free blocks stay as they are.
/// Cost       Some thirty subtractions a sample.
#pragma once

#include <utility>

#include "base/events.h"
#include "tools/log/log_rows.h"

namespace flashlab {

class SampleBase {
public:
    SampleBase() = default; ///< the run begins with the device's power-on
    SampleBase(const SampleEvent& at, SampleDetails details) : at_{at}, details_{std::move(details)} {}
    [[nodiscard]] SimTime at() const { return at_.at; }
    [[nodiscard]] SampleEvent since(SampleEvent now) const;
    [[nodiscard]] SampleDetails since(SampleDetails now) const;

private:
    SampleEvent at_;
    SampleDetails details_;
};

} // namespace flashlab

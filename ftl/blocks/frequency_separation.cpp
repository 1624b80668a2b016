#include "ftl/blocks/frequency_separation.h"

#include <numeric>

#include "ftl/blocks/separation_policies.h"

namespace flashlab {

FrequencySeparation::FrequencySeparation(std::uint32_t logical_pages) : counts_(logical_pages), until_halved_{logical_pages} {}

StreamId FrequencySeparation::stream_of(Lpn lpn) const {
    constexpr std::uint32_t least = 2, times_the_mean = 2;
    const std::uint64_t count = counts_[lpn.value()];
    return count >= least && count * counts_.size() > times_the_mean * sum_ ? hot : cold;
}

void FrequencySeparation::written(Lpn lpn) {
    std::uint8_t& count = counts_[lpn.value()];
    if (count != 255) {
        ++count;
        ++sum_;
    }
    if (--until_halved_ == 0) halve();
}

void FrequencySeparation::halve() {
    for (std::uint8_t& count : counts_) count = static_cast<std::uint8_t>(count / 2);
    sum_ = std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
    until_halved_ = counts_.size();
}

const SeparationPolicyEntry& frequency_separation() {
    static constexpr SeparationPolicyEntry entry{
        "frequency", FrequencySeparation::streams,
        [](const OptionSet&, std::uint32_t pages) -> std::unique_ptr<SeparationPolicy> { return std::make_unique<FrequencySeparation>(pages); },
        "cost-benefit"}; // greedy waits until cold blocks hold as few valid pages as hot ones: then their spare lies idle, and little is gained
    return entry;
}

} // namespace flashlab

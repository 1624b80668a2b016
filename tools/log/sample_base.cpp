#include "tools/log/sample_base.h"

#include <algorithm>

namespace flashlab {

SampleEvent SampleBase::since(SampleEvent now) const {
    for (const auto counter : {&SampleEvent::host_reads, &SampleEvent::host_writes, &SampleEvent::host_trims, &SampleEvent::host_flushes,
                               &SampleEvent::host_read_bytes, &SampleEvent::host_write_bytes, &SampleEvent::pram_words_written})
        now.*counter -= at_.*counter;
    for (std::size_t cause = 0; cause < cause_count; ++cause) {
        now.nand_reads[cause] -= at_.nand_reads[cause];
        now.nand_programs[cause] -= at_.nand_programs[cause];
        now.nand_erases[cause] -= at_.nand_erases[cause];
    }
    return now;
}

std::vector<std::uint64_t> SampleBase::since(std::vector<std::uint64_t> channel_busy_ns) const {
    for (std::size_t c = 0; c < std::min(channel_busy_ns.size(), channel_busy_ns_.size()); ++c) channel_busy_ns[c] -= channel_busy_ns_[c];
    return channel_busy_ns;
}

} // namespace flashlab

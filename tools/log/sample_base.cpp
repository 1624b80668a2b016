#include "tools/log/sample_base.h"

#include <algorithm>
#include <array>
#include <bit>

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

SampleDetails SampleBase::since(SampleDetails now) const {
    auto& busy = now.channel_busy_ns;
    for (std::size_t c = 0; c < std::min(busy.size(), details_.channel_busy_ns.size()); ++c) busy[c] -= details_.channel_busy_ns[c];
    now.counts = now.counts.since(details_.counts);
    for (OwnCount& own : now.own_counts) {
        const auto before = std::ranges::find(details_.own_counts, own.name, &OwnCount::name);
        if (before != details_.own_counts.end()) own.value -= before->value;
    }
    return now;
}

SchemeCounts SchemeCounts::since(const SchemeCounts& before) const {
    using Numbers = std::array<std::uint64_t, sizeof(SchemeCounts) / sizeof(std::uint64_t)>;
    auto now = std::bit_cast<Numbers>(*this);
    const auto then = std::bit_cast<Numbers>(before);
    for (std::size_t i = 0; i < now.size(); ++i) now[i] -= then[i];
    return std::bit_cast<SchemeCounts>(now);
}

} // namespace flashlab

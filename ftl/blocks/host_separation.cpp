/// By the host's streams: data that it names alike share superblocks, and, where ftl.host_isolation says so, go on doing so when they are copied.
///
/// Idea       The host knows which of its data die together: a log, a compaction, a table. It says a stream with each write (HostIo).
/// Invariant  See separation_policy.h. A stream that the drive does not have is stream 0.
///            Copies apart are what NVMe calls persistently isolated handles; copies that all share superblocks of their own, initially isolated.
/// Cost       Remembers nothing. An open superblock for each stream in each group, and one for copies that share.
/// Power cut  The stream of each page is in its OOB.
/// Source     Kang, Hyun, Maeng and Cho, "The Multi-streamed Solid-State Drive", HotStorage 2014; NVMe TP4146, Flexible Data Placement.
#include <array>

#include "ftl/blocks/separation_policies.h"

namespace flashlab {

namespace {

constexpr OptionOf<std::uint32_t> host_streams{
    {.key = "ftl.host_streams",
     .help = "Streams of the host with superblocks of their own, stream 0 included. More: finer separation, more superblocks open.",
     .initial = 4,
     .min = 2,
     .max = 250,
     .behind = "ftl.separation"}};

constexpr OptionOf<bool> host_isolation{
    {.key = "ftl.host_isolation",
     .help = "1: pages of the host's streams stay apart when a collection copies them (NVMe: persistently isolated). 0: copies of all streams share "
             "superblocks (initially isolated), which takes one superblock more.",
     .initial = 1,
     .max = 1,
     .behind = "ftl.host_streams"}};

std::uint32_t count_streams(const OptionSet& set) { return set[host_streams] + (set[host_isolation] ? 0 : 1); }

class HostSeparation final : public SeparationPolicy {
public:
    explicit HostSeparation(const OptionSet& set) : streams_{set[host_streams]}, keeps_apart_{set[host_isolation]} {}
    [[nodiscard]] StreamId stream_of_write(Lpn, const Origin& by) const override { return known(by.stream); }
    [[nodiscard]] StreamId stream_of_copy(Lpn, StreamId from) const override {
        return keeps_apart_ ? known(from) : StreamId{static_cast<std::uint16_t>(streams_)};
    }
    void written(Lpn) override {}

private:
    [[nodiscard]] StreamId known(StreamId stream) const { return stream.value() < streams_ ? stream : no_stream; }
    std::uint32_t streams_;
    bool keeps_apart_;
};

} // namespace

const SeparationPolicyEntry& host_separation() {
    static constexpr std::array<const Option*, 2> options{&host_streams, &host_isolation};
    static constexpr SeparationPolicyEntry entry{
        .name = "host",
        .streams = host_streams.initial,
        .make = [](const OptionSet& set, std::uint32_t) -> std::unique_ptr<SeparationPolicy> { return std::make_unique<HostSeparation>(set); },
        .options = options,
        .count = count_streams};
    return entry;
}

} // namespace flashlab

/// By the host's streams: data that it names alike share superblocks, and go on doing so when they are copied.
///
/// Idea       The host knows which of its data die together: a log, a compaction, a table. It says a stream with each write (HostIo).
/// Invariant  See separation_policy.h. A stream that the drive does not have is stream 0.
/// Cost       Remembers nothing. An open superblock for each stream in each group.
/// Power cut  The stream of each page is in its OOB.
/// Source     Kang, Hyun, Maeng and Cho, "The Multi-streamed Solid-State Drive", HotStorage 2014.
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

class HostSeparation final : public SeparationPolicy {
public:
    explicit HostSeparation(std::uint32_t streams) : streams_{streams} {}
    [[nodiscard]] StreamId stream_of_write(Lpn, const Origin& by) const override { return known(by.stream); }
    [[nodiscard]] StreamId stream_of_copy(Lpn, StreamId from) const override { return known(from); }
    void written(Lpn) override {}

private:
    [[nodiscard]] StreamId known(StreamId stream) const { return stream.value() < streams_ ? stream : no_stream; }
    std::uint32_t streams_;
};

} // namespace

const SeparationPolicyEntry& host_separation() {
    static constexpr std::array<const Option*, 1> options{&host_streams};
    static constexpr SeparationPolicyEntry entry{.name = "host",
                                                 .streams = host_streams.initial,
                                                 .make = [](const OptionSet& set, std::uint32_t) -> std::unique_ptr<SeparationPolicy> {
                                                     return std::make_unique<HostSeparation>(set[host_streams]);
                                                 },
                                                 .options = options,
                                                 .asked = &host_streams};
    return entry;
}

} // namespace flashlab

/// zones: parts of the drive that share no superblocks. docs/adding-a-scheme.md shows it.
#include <array>

#include "ftl/blocks/separation_policies.h"

namespace flashlab {
namespace {

constexpr OptionOf<std::uint32_t> count{
    {.key = "zones.count", .help = "Equal parts of the drive whose pages share no superblocks.", .initial = 2, .min = 2, .max = 64}};

class ZonesSeparation final : public SeparationPolicy {
public:
    ZonesSeparation(std::uint32_t zones, std::uint32_t pages) : pages_{pages / zones + 1} {}
    [[nodiscard]] StreamId stream_of_write(Lpn lpn, const Origin&) const override {
        return StreamId{static_cast<std::uint16_t>(lpn.value() / pages_)};
    }
    [[nodiscard]] StreamId stream_of_copy(Lpn, StreamId from) const override { return from; }
    void written(Lpn) override {}

private:
    std::uint32_t pages_; ///< of a zone
};

} // namespace

const SeparationPolicyEntry& zones_separation() {
    static constexpr std::array<const Option*, 1> options{&count};
    static constexpr SeparationPolicyEntry entry{.name = "zones",
                                                 .streams = 2,
                                                 .make = [](const OptionSet& set, std::uint32_t pages) -> std::unique_ptr<SeparationPolicy> {
                                                     return std::make_unique<ZonesSeparation>(set[count], pages);
                                                 },
                                                 .options = options,
                                                 .count = [](const OptionSet& set) { return set[count]; }};
    return entry;
}

} // namespace flashlab

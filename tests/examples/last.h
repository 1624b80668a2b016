/// LAST: log blocks by the size of the write. The worked example of docs/adding-a-scheme.md; only tests have it.
///
/// Idea       A long write is probably one of a sequence: it goes to a log block of its own logical block, which a merge can switch or complete. A
///            short one goes to the newest of the log blocks that all logical blocks share. Each kind has half of the log blocks.
/// Invariant  MergeFtl's; after a write has found its place there are at most max_logs() log blocks.
/// Cost       Long writes: as BAST's. Short ones: as FAST's, without a merge of a sequential log block in between.
/// Power cut  MergeFtl's. After a cut there may be more log blocks than allowed; they are reclaimed when the next one is opened.
/// Source     Lee, Shin, Kim, Kim, "LAST: locality-aware sector translation for NAND flash memory-based storage systems", 2008. Its hot and cold
///            parts of the random log are left out.
#pragma once

#include "ftl/options.h"
#include "ftl/schemes/merge_ftl.h"

namespace flashlab {

namespace last_option {
inline constexpr OptionOf<std::uint32_t> long_pages{{.key = "last.long_pages",
                                                     .help = "Pages from which on a write is a long one; 0: a quarter of a block.",
                                                     .phase = OptionPhase::mount,
                                                     .max = 65536}};
} // namespace last_option

class LastFtl final : public MergeFtl {
public:
    LastFtl(MergeFtlConfig config, NandArray& array, EventSink& events, std::uint32_t long_pages)
        : MergeFtl{std::move(config), array, events}, long_pages_{long_pages != 0 ? long_pages : std::max(2u, map_.pages_per_block() / 4)} {}
    std::string_view name() const override { return "last"; }
    [[nodiscard]] std::uint64_t own_logs_opened() const { return own_logs_opened_; }

private:
    FtlResult<Place> place(Lpn lpn, std::uint32_t pages, SimTime now) override;
    [[nodiscard]] std::uint32_t most_of(LogKind kind) const { return kind == LogKind::own ? max_logs() / 2 : max_logs() - max_logs() / 2; }
    [[nodiscard]] FtlResult<LogSlot> open_one(std::optional<LogicalBlock> home, SimTime now);

    const std::uint32_t long_pages_; ///< a write of so many is a long one
    std::uint64_t own_logs_opened_ = 0;
};

} // namespace flashlab

/// A translation layer that is looked at while it is asked: its answers, and what it says of itself, beside what it was asked.
///
/// Idea       Reports, collections' policies and life in years are made of space(), status_of() and counters(). Requests never show whether these are
///            right. So the requests are counted here too, and the flash has counted its programs.
/// Invariant  W1 no answer comes before its request.
///            W2 is_mapped() is true of what was written and not trimmed since, and of nothing else that was read. After a flush space() has their
///               number, and the valid pages of all blocks hold them. No block has more valid pages than were programmed; a free or bad one has none.
///            W3 space() has as many free and bad blocks as status_of(), no more spare ones than there can be and no fewer than the fewest,
///               and is not read-only where writes succeed.
///            W4 counters of the host's pages are what was asked for; pages copied are what was programmed as copies; none ever falls.
/// Cost       A bit a page, and all pages and blocks at each look.
/// Power cut  A new one with each power-on: it begins with what is_mapped() says then, which GradeRig compares.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crash/lying_ftl.h"
#include "nand/nand_array.h"

namespace flashlab {

class Witness final : public LyingFtl {
public:
    /// `wrong` hears of W1.
    Witness(std::unique_ptr<Ftl> real, std::function<void(std::string)> wrong) : LyingFtl{std::move(real)}, wrong_{std::move(wrong)} {}
    /// W2 to W4; none: all is true. `flash` is what the layer works on, `failed` the programs that may have failed.
    [[nodiscard]] std::optional<std::string> untrue(const NandArray& flash, std::uint64_t failed);

    /// What is_mapped() says now is so. After a power-on a page of which nothing is known yet may count as mapped, until it has been read.
    void believe();

private:
    FtlResult<FtlRecovery> do_recover(SimTime now) override;
    FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override;
    FtlResult<SimTime> do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) override;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override;
    FtlResult<SimTime> do_write_each(std::span<const Lpn> pages, std::span<const std::byte> from, const Io& io) override;
    FtlResult<WrittenLine> do_write_line(std::span<const Lpn> pages, std::span<const std::byte> from, const Io& io) override;
    FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override;
    FtlResult<SimTime> do_flush(const Io& io) override;

    FtlResult<SimTime> seen(std::string_view call, FtlResult<SimTime> done, SimTime now);
    void written(Lpn lpn);
    [[nodiscard]] std::optional<std::string> untrue_pages() const;
    [[nodiscard]] std::optional<std::string> untrue_blocks(const NandArray& flash) const;
    [[nodiscard]] std::optional<std::string> untrue_counters(const NandArray& flash, std::uint64_t failed);

    std::function<void(std::string)> wrong_;
    std::vector<bool> mapped_; ///< by LPN
    std::uint32_t first_bad_ = 0;
    bool is_flushed_ = true; ///< nothing was written or trimmed since
    FtlCounters asked_;      ///< the host's pages
    FtlCounters last_;       ///< as the layer had counted at the last look
};

} // namespace flashlab

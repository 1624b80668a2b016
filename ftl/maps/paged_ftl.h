/// What page-mapping schemes are beside their table (page_table.h): requests, counters, and the blocks below.
///
/// Idea       A write is rows of new pages, a read one call of the array; both ask the table, in line.
/// Invariant  Each page is adopted by the table after its unit is valid and its old one is not. The blocks': B1 to B6 (ftl/blocks/page_blocks.h).
/// Cost       No allocation in steady state; no virtual call a page.
/// Power cut  The table's.
#pragma once

#include <span>
#include <utility>

#include "ftl/blocks/row_writer.h"
#include "ftl/blocks/unit_reader.h"
#include "ftl/maps/page_groups.h"
#include "ftl/maps/page_table.h"
#include "ftl/placement_handles.h"

namespace flashlab {

template <PageTable Table>
class PagedFtl final : public Ftl, public PlacementHandles, private PageOwner {
public:
    /// `name` lives as long as the program. `of_table`: what the table takes beside TableParts.
    template <class... OfTable>
    PagedFtl(std::string_view name, std::uint32_t logical_pages, const PageBlocksConfig& blocks, NandArray& array, EventSink& events,
             BlockPolicies policies, OfTable&&... of_table)
        : Ftl{{UnitGeometry{array.geometry(), blocks.pages_per_unit}.bytes_per_unit(), logical_pages, array.geometry().blocks()}}, name_{name},
          blocks_{blocks, array, events, static_cast<PageOwner&>(*this), std::move(policies)}, reader_{array, blocks_},
          payload_{array.keeps_payload()}, table_{TableParts{array, blocks_, counters_, logical_pages}, std::forward<OfTable>(of_table)...} {}

    static constexpr bool rewrites = requires(Table& table) { table.next_to_rewrite(); };

    [[nodiscard]] const Table& table() const { return table_; }
    [[nodiscard]] const PageBlocks& blocks() const { return blocks_; }

    std::string_view name() const override { return name_; }
    bool durable_when_answered() const override { return Table::durable_when_answered; }
    MappingSpace* mapping_space() override { return table_.mapping_space(); }
    std::uint64_t map_cache_bytes() const override {
        if constexpr (requires { table_.cache_bytes(); }) return table_.cache_bytes();
        return 0;
    }
    std::uint32_t pages_a_line() const override { return blocks_.units_a_line(); }
    std::uint32_t pages_a_batch() const override {
        if constexpr (requires { table_.pages_a_batch(); }) return std::max(pages_a_line(), table_.pages_a_batch());
        return pages_a_line();
    }
    std::uint32_t groups() const override { return blocks_.groups(); }
    std::vector<std::uint64_t> writable_pages() const override {
        std::vector<std::uint64_t> pages;
        for (std::uint16_t stream = 0; stream < blocks_.host_streams(); ++stream) pages.push_back(blocks_.room_of(StreamId{stream}));
        return pages;
    }
    std::vector<PlacementEvent> placement_events() const override { return blocks_.placement_events(); }
    FtlCounters counters() const override {
        FtlCounters all = counters_;
        blocks_.count_into(all);
        return all;
    }
    FtlSpace space() const override {
        FtlSpace s = blocks_.space();
        s.mapped_pages -= table_.own_pages();
        return s;
    }

private:
    FtlResult<FtlRecovery> do_recover(SimTime now) override { return table_.recover(now); }
    FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override {
        const auto looked_up = table_.look_up(first, pages, io);
        if (!looked_up) return looked_up;
        counters_.host_pages_read += pages;
        return reader_.read(first, pages, to, io.at(*looked_up), [this](Lpn lpn) { return table_.current(lpn); });
    }
    FtlResult<SimTime> do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) override {
        const auto looked_up = table_.look_up(lpn, 1, io);
        if (!looked_up) return looked_up;
        ++counters_.host_pages_read;
        return reader_.read_part(lpn, table_.current(lpn), offset, bytes, to, io.at(*looked_up));
    }
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
        return end_of(write_pages(arranged({first, pages, from}), io, false));
    }
    FtlResult<WrittenLine> do_write_line(std::span<const Lpn> pages, std::span<const std::byte> from, const Io& io) override {
        return write_pages({pages.front(), static_cast<std::uint32_t>(pages.size()), from, pages}, io, true);
    }
    FtlResult<SimTime> do_write_each(std::span<const Lpn> pages, std::span<const std::byte> from, const Io& io) override {
        return end_of(write_pages(arranged({pages.front(), static_cast<std::uint32_t>(pages.size()), from, pages}), io, false));
    }
    /// A table may want another order.
    [[nodiscard]] PagesToWrite arranged(const PagesToWrite& what) {
        if constexpr (requires { table_.arranged(what); }) return table_.arranged(what);
        return what;
    }
    [[nodiscard]] static FtlResult<SimTime> end_of(const FtlResult<WrittenLine>& written) {
        if (!written) return std::unexpected(written.error());
        return written->done;
    }
    /// `is_line`: of one row only.
    [[nodiscard]] FtlResult<WrittenLine> write_pages(const PagesToWrite& what, const Io& io, bool is_line) {
        if (blocks_.is_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, what.first, io.when});
        if (const auto begun = table_.begin_write(what.first, io); !begun) return std::unexpected(begun.error());
        const auto written = write_rows(
            blocks_, what, io,
            [&](std::uint32_t first, std::uint32_t pages) {
                if constexpr (rewrites)
                    if (const auto place = table_.place_to_write(what, first, pages)) return *place;
                return RowPlace{.run = blocks_.stream_run_of(what, first, pages, io), .of = what.pages};
            },
            [&](std::uint32_t first, std::uint32_t row, SimTime at) { return table_.before_row(what, first, row, io.at(at)); },
            [this](Lpn lpn) { return table_.current(lpn); },
            [this](Lpn lpn, UnitId unit, const OpenColumn& column, SimTime end) {
                table_.adopt(lpn, unit, column, end);
                blocks_.note_written(lpn);
            },
            [&](std::uint32_t placed, SimTime at) { return table_.after_row(placed, io.at(at)); }, is_line);
        if (!written) return written;
        counters_.host_pages_written += written->pages;
        table_.answered(written->done);
        if constexpr (rewrites)
            while (const auto stripe = table_.next_to_rewrite()) rewrite(*stripe, {io.when, {Cause::gc, no_event}});
        return written;
    }
    /// A stripe of pages, in order; what cannot be read or has no room stays where it is. Nobody waits for it.
    void rewrite(const PageRun& stripe, const Io& io)
        requires rewrites
    {
        const auto looked_up = table_.look_up_to_rewrite(stripe, io);
        if (!looked_up) return;
        const std::uint32_t end = stripe.first.value() + stripe.pages;
        const auto is_mapped = [&](std::uint32_t l) { return l < end && table_.current(Lpn{l}).has_value(); };
        for (std::uint32_t l = stripe.first.value(); l < end; ++l) {
            const std::uint32_t first = l;
            while (is_mapped(l)) ++l;
            if (l != first && !rewrite_mapped({Lpn{first}, l - first}, io.at(*looked_up))) return;
        }
    }
    /// False: there is no room now.
    [[nodiscard]] bool rewrite_mapped(const PageRun& run, const Io& io)
        requires rewrites
    {
        if (payload_) stripe_.resize(std::max<std::size_t>(stripe_.size(), std::size_t{run.pages} * blocks_.units().bytes_per_unit()));
        const auto bytes = std::span{stripe_}.first(payload_ ? std::size_t{run.pages} * blocks_.units().bytes_per_unit() : 0);
        const auto current = [this](Lpn lpn) { return table_.current(lpn); };
        const auto read = reader_.read(run.first, run.pages, bytes, io, current);
        if (!read) return true;
        const PagesToWrite what{run.first, run.pages, bytes};
        return write_rows(
                   blocks_, what, io.at(*read), [&](std::uint32_t, std::uint32_t pages) { return table_.place_to_rewrite(pages); },
                   [](std::uint32_t, std::uint32_t, SimTime at) { return FtlResult<SimTime>{at}; }, current,
                   [this](Lpn lpn, UnitId unit, const OpenColumn&, SimTime at) {
                       table_.rewritten(lpn, unit, at);
                       counters_.gc_page_copies += blocks_.units().pages_per_unit();
                   },
                   [&](std::uint32_t placed, SimTime at) { return table_.after_row(placed, io.at(at)); }, false)
            .has_value();
    }
    FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override {
        if (blocks_.is_read_only()) return std::unexpected(FtlError{FtlErrorKind::read_only, first, io.when});
        return table_.trim(first, pages, io);
    }
    FtlResult<SimTime> do_flush(const Io& io) override { return table_.flush(io); }
    SimTime do_idle(SimTime now) override { return table_.idle(now); }
    FtlResult<SimTime> do_relocate(BlockId block, SimTime now, Cause cause) override { return blocks_.relocate(block, now, cause); }
    FtlResult<SimTime> do_shut_down(SimTime now) override { return table_.shut_down(now); }
    bool do_is_mapped(Lpn lpn) const override { return table_.current(lpn).has_value(); }
    BlockStatus do_status_of(BlockId block) const override { return blocks_.status_of(block, table_.use_of(block)); }
    std::vector<CheckProblem> do_check() override { return table_.check(); }

    SimTime opened(OpenSuperblock& set, const OpenSuperblock& closing, SimTime ready) override { return table_.opened(set, closing, ready); }
    void closed(OpenSuperblock& set, SimTime at) override { table_.closed(set, at); }
    void prefetch(Lpn lpn) const override { table_.prefetch(lpn); }
    void moved(const PageOob& oob, UnitId from, UnitId to, const OpenColumn& column, SimTime end) override {
        table_.moved(oob, from, to, column, end);
    }
    FtlResult<SimTime> forget(BlockId victim, BlockFate fate, SimTime at, EventId job) override { return table_.forget(victim, fate, at, job); }
    SimTime condemned(BlockId block, SimTime now, EventId job) override { return table_.condemned(block, now, job); }

    std::string_view name_;
    FtlCounters counters_;
    PageBlocks blocks_;
    UnitReader reader_;
    const bool payload_;
    std::vector<std::byte> stripe_; ///< that is rewritten; where payload is kept
    Table table_;
};

} // namespace flashlab

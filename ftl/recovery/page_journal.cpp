#include "ftl/recovery/page_journal.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace flashlab {

namespace {

constexpr std::uint64_t pace_share = 4;    ///< a checkpoint is whole when this part of the interval to the next has been programmed
constexpr int idle_pause = 4;              ///< pauses, for each slice of an idle time
constexpr Duration idle_after{10'000'000}; ///< without a request an idle time begins

/// Largest head of a checkpoint that says what each block is.
std::uint64_t head_bytes_at_most(const UnitGeometry& units, std::uint32_t groups, std::uint32_t frontiers) {
    const std::uint64_t superblock = 20 + 4ull * units.geometry().planes_per_die();
    return PageCheckpoint::head_bytes + std::uint64_t{groups} * frontiers * superblock + units.geometry().blocks();
}

} // namespace

std::uint64_t PageJournal::checkpoint_bytes_at_most(const UnitGeometry& units, std::uint32_t groups, std::uint32_t frontiers,
                                                    std::uint64_t scheme_bytes) {
    return head_bytes_at_most(units, groups, frontiers) + scheme_bytes;
}

PageJournal::PageJournal(PageJournalConfig config, NandArray& array, PageBlocks& blocks)
    : config_{std::move(config)}, array_{array}, blocks_{blocks}, log_{config_.area, array}, holds_trimmed_(array.geometry().blocks()) {
    if (blocks.wear_threshold() != 0) log_.move_by_wear(blocks.exchange(), std::max(1u, blocks.wear_threshold() / 2));
    const Geometry& g = array.geometry();
    std::uint32_t interval = config_.interval_blocks;
    if (interval == 0) interval = std::max(4 * blocks.planes_in_use(), 100 * config_.area.checkpoint_pages / g.pages_per_block());
    interval_superblocks_ = std::max(1u, interval / g.planes_per_die());
}

FtlResult<PageJournal::Start> PageJournal::recover(SimTime now, FtlRecovery& report) {
    auto recovered = log_.recover(now);
    if (!recovered) return std::unexpected(blocks_.fail(recovered.error(), Lpn{0}));
    outside_ = log_.area().all();
    Start start;
    start.done = recovered->done;
    report.pages_scanned += recovered->pages_read;
    start.is_new = !recovered->checkpoint && recovered->records.empty();
    start.was_clean = start.is_new;
    if (recovered->checkpoint) {
        const auto decoded = PageCheckpoint::decode(config_.shape, blocks_.units(), recovered->checkpoint->payload);
        if (!decoded) return std::unexpected(FtlError{FtlErrorKind::foreign, Lpn{0}, start.done});
        start.checkpoint = decoded->head;
        start.scheme_part.assign(decoded->scheme_part.begin(), decoded->scheme_part.end());
        start.was_clean = start.checkpoint.clean && recovered->records.empty();
    }
    std::uint64_t next_sequence = start.checkpoint.next_sequence;
    for (const MetaRecord& record : recovered->records) {
        if (record.kind != static_cast<std::uint32_t>(Record::trims)) continue;
        if (!start.trims.add_record(record.payload)) return std::unexpected(FtlError{FtlErrorKind::foreign, Lpn{0}, start.done});
    }
    start.trims.for_each([&](const TrimRange& r) { next_sequence = std::max(next_sequence, r.sequence.value() + 1); });
    std::uint32_t next_stamp = start.checkpoint.next_stamp;
    if (!start.was_clean) {
        auto census = BlockCensus::take(array_, blocks_.units(), blocks_.blocks_in_use(), outside_, start.checkpoint, start.done);
        if (!census) return std::unexpected(blocks_.fail(census.error(), Lpn{0}));
        start.census = std::move(*census);
        start.done = start.census.done();
        report.pages_scanned += start.census.pages_read();
        next_sequence = std::max(next_sequence, start.census.next_sequence());
        next_stamp = std::max(next_stamp, start.census.next_stamp());
    }
    blocks_.set_next(next_sequence, next_stamp);
    stamp_at_checkpoint_ = start.checkpoint.next_stamp;
    report.was_clean = start.was_clean;
    return start;
}

FtlResult<SimTime> PageJournal::load(const Start& start, SimTime now) {
    if (start.was_clean && !start.is_new)
        load_clean(start.checkpoint);
    else
        load_unclean(start);
    SimTime ready = now;
    if (start.was_clean) {
        // Only a ring whose blocks failed is that short: then nothing may be programmed any more.
        if (log_.needs_checkpoint(0))
            blocks_.set_read_only();
        else if (const auto done = written(log_.append(static_cast<std::uint32_t>(Record::mounted), {}, {now, {Cause::map, no_event}})); !done)
            return done;
        else
            ready = *done;
    }
    blocks_.finish_loading(ready);
    trims_durable_at_ = ready;
    return ready;
}

void PageJournal::load_clean(const PageCheckpoint& checkpoint) {
    for (std::uint32_t b = 0; b < checkpoint.blocks.size(); ++b) {
        const BlockId block{b};
        if (std::ranges::binary_search(outside_, block)) continue;
        const auto is = static_cast<PageCheckpoint::BlockIs>(checkpoint.blocks[b] % 16);
        auto as = PageBlocks::LoadAs::garbage;
        if (is == PageCheckpoint::BlockIs::open)
            as = PageBlocks::LoadAs::open;
        else if (is == PageCheckpoint::BlockIs::data)
            as = PageBlocks::LoadAs::data;
        else if (array_.is_bad(block))
            as = PageBlocks::LoadAs::bad;
        else if (is == PageCheckpoint::BlockIs::erased)
            as = PageBlocks::LoadAs::erased;
        blocks_.load_block(block, as, FrontierId{checkpoint.blocks[b] / 16u});
    }
    for (const PageCheckpoint::Superblock& s : checkpoint.open) {
        std::vector<OpenColumn> columns;
        for (const BlockId b : s.columns) columns.push_back({b, 0});
        blocks_.resume(s.group, s.frontier, columns, s.next, s.stamp);
    }
}

/// A block in which nothing won is garbage: erased again before it is used. On a new device every block is as the factory erased it.
void PageJournal::load_unclean(const Start& start) {
    for (std::uint32_t b = 0; b < blocks_.blocks_in_use(); ++b) {
        const BlockId block{b};
        if (std::ranges::binary_search(outside_, block)) continue;
        auto as = start.is_new ? PageBlocks::LoadAs::erased : PageBlocks::LoadAs::garbage;
        const bool holds = blocks_.valid().count(block) != 0;
        if (holds)
            as = PageBlocks::LoadAs::data;
        else if (array_.is_bad(block))
            as = PageBlocks::LoadAs::bad;
        blocks_.load_block(block, as, holds && start.census.holds_translation(block) ? FrontierId{1} : host_frontier);
    }
}

void PageJournal::trimmed(Lpn first, std::uint32_t pages) { pending_.add({first, pages, blocks_.take_sequence()}); }

bool PageJournal::is_full() const {
    return pending_.encoded_bytes() + 2 * TrimRange::encoded_size > std::size_t{array_.geometry().page_bytes()} * array_.config().options.subpages;
}

/// A ring that has used up its blocks ends the device's life as a writable one.
FtlResult<SimTime> PageJournal::written(FtlResult<SimTime> done) {
    if (done) return done;
    blocks_.set_read_only();
    is_broken_ = true;
    if (done.error().kind == FtlErrorKind::no_free_block) done.error().kind = FtlErrorKind::read_only;
    return done;
}

FtlResult<SimTime> PageJournal::flush_trims(std::span<const std::byte> map, const Io& io) {
    if (pending_.count() == 0) return std::max(io.when, trims_durable_at_);
    if (log_.needs_checkpoint(pending_.encoded_bytes())) {
        if (const auto finished = finish(io.when); !finished) return finished;
        if (log_.needs_checkpoint(pending_.encoded_bytes())) return checkpoint(map, io);
    }
    pending_.encode(record_);
    const auto done = written(log_.append(static_cast<std::uint32_t>(Record::trims), record_, io.as(Cause::map)));
    if (!done) return done;
    trims_are_durable(*done);
    return done;
}

void PageJournal::trims_are_durable(SimTime at) {
    pending_.clear();
    for (const BlockId block : with_trimmed_) holds_trimmed_[block.value()] = false;
    with_trimmed_.clear();
    trims_durable_at_ = at;
}

PageCheckpoint PageJournal::head(bool clean) const {
    PageCheckpoint c;
    c.clean = clean;
    c.next_sequence = blocks_.next_sequence();
    c.next_stamp = blocks_.next_stamp();
    for (const GroupId group : ids<GroupId>(blocks_.groups()))
        for (const FrontierId frontier : ids<FrontierId>(blocks_.frontiers())) {
            const OpenSuperblock& open = blocks_.open(group, frontier);
            if (!open.is_active()) continue;
            PageCheckpoint::Superblock s{group, frontier, open.next, open.stamp, {}};
            for (const OpenColumn& column : open.columns) s.columns.push_back(column.block);
            c.open.push_back(std::move(s));
        }
    if (!clean) return c;
    c.blocks.resize(blocks_.blocks_in_use());
    for (std::uint32_t b = 0; b < c.blocks.size(); ++b) {
        const PageBlocks::BlockState state = blocks_.state(BlockId{b});
        const auto is = state == PageBlocks::BlockState::data   ? PageCheckpoint::BlockIs::data
                        : state == PageBlocks::BlockState::open ? PageCheckpoint::BlockIs::open
                                                                : PageCheckpoint::BlockIs::garbage;
        c.blocks[b] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(is) + 16 * blocks_.kind_of(BlockId{b}));
    }
    for (std::uint32_t p = 0; p < blocks_.planes_in_use(); ++p)
        for (const BlockId b : blocks_.free_blocks().erased_of(PlaneId{p}))
            c.blocks[b.value()] = static_cast<std::uint8_t>(PageCheckpoint::BlockIs::erased);
    return c;
}

FtlResult<SimTime> PageJournal::begin(std::span<const std::byte> map, const Io& io) {
    if (!log_.can_write()) return written(std::unexpected(FtlError{FtlErrorKind::no_free_block, Lpn{0}, io.when}));
    const PageCheckpoint checkpoint = head(false);
    const std::uint64_t bytes = checkpoint.encoded_bytes(map.size());
    if (!log_.is_planned(bytes)) return io.when; // once the table is within its size again
    if (array_.keeps_payload()) checkpoint.encode(config_.shape, blocks_.units(), map, buffer_);
    const auto payload = array_.keeps_payload() ? std::span<const std::byte>{buffer_} : std::span<const std::byte>{};
    const auto begun = written(log_.begin_checkpoint(bytes, payload, io.as(Cause::map)));
    if (!begun) return begun;
    if (!log_.is_writing()) ++checkpoints_;
    stamp_at_checkpoint_ = blocks_.next_stamp();
    programs_at_begin_ = programs();
    return begun;
}

FtlResult<SimTime> PageJournal::go_on(std::uint32_t pages, SimTime now) {
    const auto done = written(log_.continue_checkpoint(pages, now));
    if (done && !log_.is_writing()) ++checkpoints_;
    return done;
}

/// The rest of the checkpoint under way, in one go.
FtlResult<SimTime> PageJournal::finish(SimTime now) { return log_.is_writing() ? go_on(log_.pages_left(), now) : FtlResult<SimTime>{now}; }

std::uint64_t PageJournal::programs() const { return std::reduce(std::begin(array_.counters().programs), std::end(array_.counters().programs)); }

FtlResult<void> PageJournal::pace(std::span<const std::byte> map, const Io& io) {
    const auto no_value = [](const FtlResult<SimTime>& result) { return result ? FtlResult<void>{} : std::unexpected(result.error()); };
    if (!log_.is_writing()) {
        if (!is_checkpoint_due()) return {};
        // Trims are in the map, but the checkpoint is not whole for long.
        if (pending_.count() != 0 && log_.needs_checkpoint(pending_.encoded_bytes())) return no_value(checkpoint(map, io));
        if (const auto flushed = flush_trims(map, io); !flushed) return no_value(flushed);
        return no_value(begin(map, io));
    }
    const Geometry& g = array_.geometry();
    const std::uint64_t spread =
        std::max<std::uint64_t>(1, std::uint64_t{interval_superblocks_} * g.planes_per_die() * g.pages_per_block() / pace_share);
    const std::uint64_t due = std::min<std::uint64_t>(log_.pages_under_way(), log_.pages_under_way() * (programs() - programs_at_begin_) / spread);
    const std::uint32_t have = log_.pages_under_way() - log_.pages_left();
    if (due <= have) return {};
    return no_value(go_on(static_cast<std::uint32_t>(due - have), io.when));
}

FtlResult<SimTime> PageJournal::pace_idle(SimTime now) {
    if (!log_.is_writing()) return sim_never;
    const auto user = std::to_underlying(Cause::user);
    const std::uint64_t asked = array_.counters().reads[user] + array_.counters().programs[user];
    if (std::exchange(asked_, asked) != asked) next_idle_ = std::max(next_idle_, now + idle_after);
    if (now < next_idle_) return next_idle_;
    const auto end = go_on(config_.area.width, now);
    if (!end) return end;
    next_idle_ = *end + idle_pause * (*end - std::min(*end, now));
    return log_.is_writing() ? next_idle_ : sim_never;
}

FtlResult<SimTime> PageJournal::write_checkpoint(bool clean, std::span<const std::byte> map, const Io& io) {
    if (const auto finished = finish(io.when); !finished) return finished;
    const PageCheckpoint checkpoint = head(clean);
    if (!log_.can_write() || !log_.is_planned(checkpoint.encoded_bytes(map.size())))
        return written(std::unexpected(FtlError{FtlErrorKind::no_free_block, Lpn{0}, io.when}));
    const Io by = io.as(Cause::map);
    if (array_.keeps_payload()) checkpoint.encode(config_.shape, blocks_.units(), map, buffer_);
    const auto done = written(array_.keeps_payload() ? log_.checkpoint(buffer_, by) : log_.checkpoint_of(checkpoint.encoded_bytes(map.size()), by));
    if (!done) return done;
    stamp_at_checkpoint_ = blocks_.next_stamp();
    trims_are_durable(*done);
    ++checkpoints_;
    return done;
}

FtlResult<SimTime> PageJournal::checkpoint(std::span<const std::byte> map, const Io& io) { return write_checkpoint(false, map, io); }

FtlResult<SimTime> PageJournal::shut_down(std::span<const std::byte> map, SimTime now) {
    for (std::uint32_t p = 0; p < blocks_.planes_in_use(); ++p)
        for (const BlockId b : blocks_.free_blocks().erased_of(PlaneId{p})) now = std::max(now, blocks_.settled_at(b));
    return write_checkpoint(true, map, {now, {Cause::map, no_event}});
}

} // namespace flashlab

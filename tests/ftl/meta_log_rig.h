/// A small array with the on-flash log on it, a model of what the log must say, and a pool of blocks for a ring that moves.
#pragma once

#include "ftl/recovery/meta_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "base/random.h"
#include "nand/memory_page_store.h"
#include "tests/support/catch.h"
#include "tests/support/cut_rig.h"

namespace flashlab::meta_log_rig {

inline constexpr Origin origin{Cause::map, no_event};

inline NandConfig twelve_blocks_a_plane() {
    NandConfig config = test::tiny_config().nand;
    config.geometry.blocks_per_plane = 12; // the ring, its anchor, one that keeps the anchor's plane busy, and free ones to move to
    return config;
}

struct LogRig {
    NandConfig config = twelve_blocks_a_plane();
    Geometry geometry = *Geometry::make(config.geometry);
    MemoryPageStore store{geometry, Payload::keep};
    NullEventSink sink;
    std::unique_ptr<NandArray> array;
    std::unique_ptr<MetaLog> log;
    MetaLog::Recovered recovered;
    std::uint64_t checkpoint_bytes;
    RingPlace place;
    std::uint64_t journal_bytes;
    BlockExchange* exchange = nullptr;
    SimTime now = sim_start;

    explicit LogRig(std::uint64_t checkpoint_bytes_ = 700, RingPlace place_ = RingPlace::fixed, std::uint64_t journal_bytes_ = 0)
        : checkpoint_bytes{checkpoint_bytes_}, place{place_}, journal_bytes{journal_bytes_} {
        open();
    }
    [[nodiscard]] MetaArea planned() const {
        return plan_meta_area(config, geometry, geometry.planes(), {.checkpoint_bytes = checkpoint_bytes, .journal_bytes = journal_bytes}, place);
    }
    void open() {
        log.reset();
        array = std::make_unique<NandArray>(geometry, config, store, sink, UndoPolicy::keep);
        REQUIRE(array->open().has_value());
        const MetaArea area = planned();
        REQUIRE(area.rows != 0);
        log = std::make_unique<MetaLog>(area, *array);
        if (exchange != nullptr) log->move_by_wear(*exchange, 2);
        auto got = log->recover(now);
        REQUIRE(got.has_value());
        recovered = std::move(*got);
        now = recovered.done;
    }
    void cut(SimTime at, std::uint64_t seed) {
        SeededCutOutcomes outcomes{seed};
        REQUIRE(array->cut(at, outcomes).has_value());
        now = at + Duration{1'000'000};
        open();
    }
};

inline std::vector<std::byte> content(std::uint64_t number, std::size_t bytes) {
    std::vector<std::byte> out(bytes);
    for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(number * 31 + i);
    return out;
}

/// What the scheme above would know: the newest checkpoint and the records since, by number of the write.
struct Model {
    struct Write {
        std::uint64_t id;
        bool is_checkpoint;
        std::size_t bytes;
        SimTime ended;
    };
    std::vector<Write> writes;
    std::optional<std::size_t> under_way{}; ///< a checkpoint that is written in parts: its place among the writes is that of its begin
    std::vector<std::byte> payload{};       ///< of that one
    std::size_t records_beside = 0;         ///< records written while one was under way

    void continue_checkpoint(LogRig& rig, std::uint32_t pages) { ended_if_whole(rig, rig.log->continue_checkpoint(pages, rig.now)); }
    void ended_if_whole(LogRig& rig, const FtlResult<SimTime>& done) {
        REQUIRE(done.has_value());
        if (rig.log->is_writing()) return;
        writes[*under_way].ended = *done;
        under_way.reset();
    }
    void begin_checkpoint(LogRig& rig, std::size_t bytes) {
        writes.push_back({writes.empty() ? 1 : writes.back().id + 1, true, bytes, sim_never});
        under_way = writes.size() - 1;
        payload = content(writes.back().id, bytes);
        ended_if_whole(rig, rig.log->begin_checkpoint(bytes, payload, {rig.now, origin}));
    }
    /// As write(), but checkpoints are written in parts, with records between them.
    void write_in_parts(LogRig& rig, Random& random, std::size_t largest) {
        if (!under_way && random.chance(1, 4)) begin_checkpoint(rig, random.below(largest));
        if (under_way && random.chance(1, 2)) continue_checkpoint(rig, 1 + static_cast<std::uint32_t>(random.below(3)));
        const std::size_t bytes = random.below(600);
        if (under_way && rig.log->needs_checkpoint(bytes)) continue_checkpoint(rig, rig.log->pages_left());
        records_beside += under_way && !rig.log->needs_checkpoint(bytes) ? 1 : 0;
        write(rig, random, bytes, !under_way && rig.log->needs_checkpoint(bytes));
    }
    void write(LogRig& rig, Random& random) {
        const std::size_t bytes = random.below(1200);
        write(rig, random, bytes, rig.log->needs_checkpoint(bytes) || random.chance(1, 12));
    }
    void write(LogRig& rig, Random& random, std::size_t bytes, bool is_checkpoint) {
        Write w{writes.empty() ? 1 : writes.back().id + 1, is_checkpoint, bytes, sim_start};
        if (w.is_checkpoint) w.bytes = random.below(700);
        const auto done = w.is_checkpoint ? rig.log->checkpoint(content(w.id, w.bytes), {rig.now, origin})
                                          : rig.log->append(static_cast<std::uint32_t>(w.id), content(w.id, w.bytes), {rig.now, origin});
        REQUIRE(done.has_value());
        w.ended = *done;
        writes.push_back(w);
    }
    /// What is recovered is what had ended by `at`, perhaps followed by writes that had not; they become the past.
    void compare(const MetaLog::Recovered& got, SimTime at) {
        // A checkpoint that had not ended may be whole or not; one that was not issued as a whole is not. What was written beside it stays.
        under_way.reset();
        std::erase_if(writes, [](const Write& w) { return w.is_checkpoint && w.ended == sim_never; });
        const auto open = static_cast<std::size_t>(std::ranges::count_if(writes, [at](const Write& w) { return w.is_checkpoint && w.ended > at; }));
        for (std::size_t whole = 0; whole <= open; ++whole) {
            std::vector<Write> candidate = writes;
            std::size_t seen = 0;
            std::erase_if(candidate, [&](const Write& w) { return w.is_checkpoint && w.ended > at && seen++ >= whole; });
            if (compare(got, at, std::move(candidate))) return;
        }
        FAIL("what was recovered is no prefix of what was written, or too short a one");
    }
    bool compare(const MetaLog::Recovered& got, SimTime at, std::vector<Write> candidate) {
        std::swap(writes, candidate);
        std::size_t ended = writes.size();
        while (ended > 0 && writes[ended - 1].ended > at) --ended;
        for (std::size_t kept = writes.size() + 1; kept-- > ended;) {
            if (!matches(got, kept)) continue;
            writes.resize(kept);
            return true;
        }
        std::swap(writes, candidate);
        return false;
    }
    [[nodiscard]] bool matches(const MetaLog::Recovered& got, std::size_t kept) const {
        std::size_t from = kept;
        while (from > 0 && !writes[from - 1].is_checkpoint) --from;
        if (got.checkpoint.has_value() != (from > 0) || got.records.size() != kept - from) return false;
        if (from > 0 && got.checkpoint->payload != content(writes[from - 1].id, writes[from - 1].bytes)) return false;
        for (std::size_t i = from; i < kept; ++i)
            if (got.records[i - from].kind != writes[i].id || got.records[i - from].payload != content(writes[i].id, writes[i].bytes)) return false;
        return true;
    }
};

/// A scheme beside the ring: what is not the ring's is free; what the ring gives back is erased and written at once, and wanted until it is lent
/// again.
struct FreePool final : BlockExchange {
    struct Kept {
        BlockId block;
        SimTime end; ///< of its program
    };
    LogRig& rig;
    std::vector<Lent> free;
    std::vector<Kept> kept;
    BlockId aside; ///< of the anchor's plane: keeps it busy

    explicit FreePool(LogRig& rig_)
        : rig{rig_}, aside{rig.geometry.block_at(rig.geometry.plane_of(rig.planned().anchor.front()), rig.geometry.blocks_per_plane() - 1)} {}
    void load() {
        free.clear();
        const std::vector<BlockId> taken = rig.log->area().all();
        for (std::uint32_t b = 0; b < rig.geometry.blocks(); ++b)
            if (BlockId{b} != aside && !std::ranges::binary_search(taken, BlockId{b})) free.push_back({BlockId{b}, rig.now});
    }
    /// A table that is written now is durable some milliseconds late: whatever does not wait for it is early.
    void delay_table() {
        REQUIRE(rig.array->erase(aside, {rig.now, origin}).has_value());
        for (std::uint32_t page = 0; page < 4; ++page) {
            const std::vector<std::byte> data(rig.geometry.page_bytes());
            const PageProgram program{rig.geometry.page_of(aside, page), data, {Lpn{0}, WriteSequence{1}, PageKind::data, 0}};
            REQUIRE(rig.array->program({&program, 1}, {rig.now, origin}).has_value());
        }
    }
    /// After a cut: what the scheme had written into blocks that the ring gave back is not the ring's again.
    void require_kept(SimTime at) {
        std::erase_if(kept, [at](const Kept& k) { return k.end > at; });
        const std::vector<BlockId> taken = rig.log->area().all();
        for (const Kept& k : kept) {
            CAPTURE(k.block.value());
            REQUIRE_FALSE(std::ranges::binary_search(taken, k.block));
            REQUIRE(rig.array->inspect(rig.geometry.page_of(k.block, 0))->state == CellState::programmed);
        }
    }
    std::optional<Lent> offer(PlaneId plane) override {
        auto best = free.end();
        for (auto it = free.begin(); it != free.end(); ++it)
            if (rig.geometry.plane_of(it->block) == plane &&
                (best == free.end() || rig.array->erase_count(it->block) < rig.array->erase_count(best->block)))
                best = it;
        return best == free.end() ? std::nullopt : std::optional{*best};
    }
    void lend(BlockId offered) override {
        REQUIRE(std::erase_if(free, [offered](const Lent& l) { return l.block == offered; }) == 1);
        std::erase_if(kept, [offered](const Kept& k) { return k.block == offered; });
    }
    void give(BlockId block, SimTime ready) override {
        const auto erased = rig.array->erase(block, {ready, origin});
        REQUIRE(erased.has_value());
        const std::vector<std::byte> data(rig.geometry.page_bytes(), std::byte{0xdd});
        const PageProgram program{rig.geometry.page_of(block, 0), data, {Lpn{0}, WriteSequence{1}, PageKind::data, 0}};
        const auto programmed = rig.array->program({&program, 1}, {*erased, origin});
        REQUIRE(programmed.has_value());
        free.push_back({block, *programmed});
        kept.push_back({block, *programmed});
    }
};

/// Some writes, answered or not; an instant from before them to the end of the last.
inline SimTime write_some(
    LogRig& rig, Model& model, Random& random, const std::function<void()>& before_each = [] {}) {
    const SimTime from = rig.now;
    rig.array->settle(from);
    for (std::uint64_t k = random.below(9); k > 0; --k) {
        before_each();
        model.write(rig, random);
        if (random.chance(1, 2)) rig.now = rig.log->last_end();
    }
    const auto span = static_cast<std::uint64_t>(std::max<std::int64_t>(0, (rig.array->last_reserved_end() - from).count()));
    return from + Duration{static_cast<std::int64_t>(random.below(span + 1))};
}

} // namespace flashlab::meta_log_rig

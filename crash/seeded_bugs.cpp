#include "crash/seeded_bugs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "base/crc32c.h"
#include "crash/default_exploration.h"
#include "crash/endurance.h"
#include "crash/forwarding_page_store.h"
#include "crash/lying_ftl.h"
#include "crash/reading_liar.h"

namespace flashlab {

namespace {

template <class T>
std::unique_ptr<Sabotage> made() {
    return std::make_unique<T>();
}

struct AnswersWritesEarly : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
        const auto done = below().write(first, pages, from, io);
        return done ? FtlResult<SimTime>{io.when} : done;
    }
};

struct AnswersTrimsEarly : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override {
        const auto done = below().trim(first, pages, io);
        return done ? FtlResult<SimTime>{io.when} : done;
    }
};

struct AnswersFlushesEarly : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_flush(const Io& io) override {
        const auto done = below().flush(io);
        return done ? FtlResult<SimTime>{io.when} : done;
    }
};

struct ForgetsFlushes : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_flush(const Io& io) override { return io.when; }
};

struct LosesTrims : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_trim(Lpn, std::uint32_t, const Io& io) override { return io.when; }
};

/// Trims are kept in memory only.
struct KeepsTrimsInMemory : LyingFtl {
    using LyingFtl::LyingFtl;
    bool do_is_mapped(Lpn lpn) const override { return !trimmed_.contains(lpn.value()) && below().is_mapped(lpn); }
    FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override {
        for (std::uint32_t i = 0; i < pages; ++i) trimmed_.insert(first.value() + i);
        return io.when;
    }
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
        for (std::uint32_t i = 0; i < pages; ++i) trimmed_.erase(first.value() + i);
        return below().write(first, pages, from, io);
    }
    FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override {
        const auto done = below().read(first, pages, to, io);
        const std::size_t bytes = logical_page_bytes();
        for (std::uint32_t i = 0; !to.empty() && i < pages; ++i) {
            if (trimmed_.contains(first.value() + i)) std::ranges::fill(to.subspan(i * bytes, bytes), std::byte{0});
        }
        return done;
    }

private:
    std::set<std::uint32_t> trimmed_;
};

struct LosesAWriteInFive : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
        return ++writes_ % 5 == 0 ? FtlResult<SimTime>{io.when} : below().write(first, pages, from, io);
    }
    int writes_ = 0;
};

struct MisdirectsAWriteInFive : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
        const bool moves = ++writes_ % 5 == 0 && first.value() + pages < logical_pages();
        return below().write(Lpn{first.value() + (moves ? 1 : 0)}, pages, from, io);
    }
    int writes_ = 0;
};

/// The second half of a page keeps its old data: only half of the page is programmed.
struct WritesHalfOfAPageInFive : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
        if (++writes_ % 5 != 0 || from.empty()) return below().write(first, pages, from, io);
        std::vector<std::byte> half(from.begin(), from.end());
        std::fill(half.end() - static_cast<std::ptrdiff_t>(logical_page_bytes() / 2), half.end(), std::byte{0});
        return below().write(first, pages, half, io);
    }
    int writes_ = 0;
};

/// A read cache that no write invalidates.
struct ReadsFromAStaleCache : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override {
        const auto done = below().read(first, pages, to, io);
        if (first.value() != 0 || to.empty()) return done;
        const auto page = to.first(logical_page_bytes());
        if (cached_.empty()) cached_.assign(page.begin(), page.end());
        std::ranges::copy(cached_, page.begin());
        return done;
    }
    std::vector<std::byte> cached_;
};

struct ForgetsTheShutdown : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_shut_down(SimTime now) override { return now; }
};

/// The data trimmed last come back after a power cut.
class ResurrectsTrimmed final : public Sabotage {
    struct Liar : LyingFtl {
        Liar(std::unique_ptr<Ftl> real, ResurrectsTrimmed& memory) : LyingFtl{std::move(real)}, memory_{memory} {}
        FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override {
            std::vector<std::byte> old(logical_page_bytes());
            if (below().is_mapped(first) && below().read(first, 1, old, io)) memory_.old_ = {first, std::move(old)};
            return below().trim(first, pages, io);
        }
        FtlResult<FtlRecovery> do_recover(SimTime now) override {
            auto done = below().recover(now);
            if (done && memory_.old_ && !below().is_mapped(memory_.old_->first)) {
                if (const auto back = below().write(memory_.old_->first, 1, memory_.old_->second, {done->done, {}}); back) done->done = *back;
            }
            return done;
        }
        ResurrectsTrimmed& memory_;
    };

public:
    std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) override { return std::make_unique<Liar>(std::move(ftl), *this); }
    std::unique_ptr<PageStore> around(PageStore&) override { return nullptr; }

private:
    std::optional<std::pair<Lpn, std::vector<std::byte>>> old_;
};

/// Data that ECC refuses are taken as they are.
struct BelievesTornPages : ForwardingPageStore {
    using ForwardingPageStore::ForwardingPageStore;
    std::expected<PageRecord, HostIoError> read_record(Ppn page) override {
        auto record = real_.read_record(page);
        if (record && record->state == CellState::torn) believe(page, *record);
        return record;
    }
    std::expected<void, HostIoError> read_block_records(BlockId block, std::span<PageRecord> to) override {
        const auto read = real_.read_block_records(block, to);
        for (PageRecord& record : to) {
            if (record.state == CellState::torn && PageOob::decode(record.oob)) record.state = CellState::programmed;
        }
        return read;
    }

private:
    void believe(Ppn page, PageRecord& record) {
        if (!PageOob::decode(record.oob)) return;
        std::array<std::byte, 1024> data{};
        if (!real_.read_data(page, 0, std::span{data}.first(512))) return;
        record.state = CellState::programmed;
        record.data_crc = crc32c(std::span{data}.first(512));
    }
};

/// The erase reaches into the next block.
struct ErasesANeighbour : ForwardingPageStore {
    explicit ErasesANeighbour(PageStore& real) : ForwardingPageStore{real} {}
    std::expected<void, HostIoError> erase_records(BlockId block) override {
        if (block.value() != 0) (void)real_.erase_records(BlockId{block.value() - 1});
        return real_.erase_records(block);
    }
};

/// Each power-on, or one in `rarity`, gives up one erased block for good.
template <int rarity>
class LeaksABlock final : public Sabotage {
public:
    std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) override { return ftl; }
    std::unique_ptr<PageStore> around(PageStore& store) override {
        if (++power_ons_ % rarity != 0) return nullptr;
        std::vector<PageRecord> records(pages_per_block_);
        for (std::uint32_t b = 0; b < 8; ++b) {
            std::array<BlockRecord, 1> own{};
            if (!store.read_block_records(BlockId{b}, records) || !store.read_blocks(BlockId{b}, own) || own.front().grown_bad) continue;
            if (!std::ranges::all_of(records, [](const PageRecord& r) { return r.state == CellState::erased; })) continue;
            (void)store.write_block(BlockId{b}, {own.front().erase_count, true});
            break;
        }
        return nullptr;
    }
    void change(SsdConfig& config) override { pages_per_block_ = config.nand.geometry.pages_per_block; }

private:
    std::uint32_t pages_per_block_ = 4;
    int power_ons_ = 0;
};

class OlderVersionWins final : public RecoveryMisreads {
    void misread(Ppn, PageRecord& record) const override {
        auto oob = PageOob::decode(record.oob);
        if (!oob) return;
        oob->sequence = WriteSequence{(std::uint64_t{1} << 32) - oob->sequence.value()};
        oob->encode(record.oob);
    }
};

class StopsItsScanEarly final : public RecoveryMisreads {
    void misread(Ppn page, PageRecord& record) const override {
        if (page.value() % 4 != 0) record = PageRecord{};
    }
};

/// The caller forgets what its operation depends on: it starts as soon as the chip can.
class ForgetsOrder final : public Sabotage, public NandFaults {
public:
    ForgetsOrder(bool programs, bool erases) : programs_{programs}, erases_{erases} {}
    NandFaults* faults() override { return this; }
    bool program_fails(Ppn) override { return false; }
    bool erase_fails(BlockId) override { return false; }
    SimTime program_from(Ppn, SimTime now) override { return programs_ ? sim_start : now; }
    SimTime erase_from(BlockId, SimTime now) override { return erases_ ? sim_start : now; }

private:
    bool programs_;
    bool erases_;
};

class HastyPram final : public Sabotage {
public:
    bool pram_is_hasty() const override { return true; }
};

} // namespace

const std::vector<SeededBug>& seeded_bugs() {
    using Needs = SeededBug::Needs;
    static const std::vector<SeededBug> bugs = [] {
        std::vector<SeededBug> all{
            {"answers_writes_early", "a write is answered before it is programmed", made<FtlSabotage<AnswersWritesEarly>>, Needs::no_volatile_cache},
            {"answers_trims_early", "a trim is answered before it is durable", made<FtlSabotage<AnswersTrimsEarly>>, Needs::no_volatile_cache},
            {"answers_flushes_early", "a flush is answered before it has ended", made<FtlSabotage<AnswersFlushesEarly>>, Needs::volatile_cache},
            {"forgets_flushes", "a flush is answered and not done", made<FtlSabotage<ForgetsFlushes>>, Needs::volatile_cache},
            {"loses_trims", "a trim is answered and not done", made<FtlSabotage<LosesTrims>>, Needs::nothing},
            {"keeps_trims_in_memory", "trims do not survive, flushed or not", made<FtlSabotage<KeepsTrimsInMemory>>, Needs::nothing},
            {"resurrects_trimmed", "recovery brings a trimmed page back", made<ResurrectsTrimmed>, Needs::nothing},
            {"loses_writes", "a write in five is answered and not done", made<FtlSabotage<LosesAWriteInFive>>, Needs::nothing},
            {"misdirects_writes", "a write in five goes to the next page", made<FtlSabotage<MisdirectsAWriteInFive>>, Needs::nothing},
            {"writes_half_pages", "a page in five is programmed by half", made<FtlSabotage<WritesHalfOfAPageInFive>>, Needs::nothing},
            {"reads_stale_cache", "a page read once is remembered for ever", made<FtlSabotage<ReadsFromAStaleCache>>, Needs::nothing, "scheme",
             Judge::writing_on},
            {"forgets_shutdown", "a clean shutdown writes nothing", made<FtlSabotage<ForgetsTheShutdown>>, Needs::nothing, "scheme", Judge::running},
            {"believes_torn_pages", "recovery and reads skip the check of a torn page's data", made<StoreSabotage<BelievesTornPages>>,
             Needs::nothing},
            {"erases_neighbour", "an erase takes the block before it along", made<StoreSabotage<ErasesANeighbour>>, Needs::nothing},
            {"leaks_block", "each power-on gives up an erased block", made<LeaksABlock<1>>, Needs::nothing, "scheme", Judge::writing_on},
            {"leaks_block_seldom", "a power-on in 40 gives up an erased block", made<LeaksABlock<40>>, Needs::nothing, "scheme", Judge::endurance},
            {"older_version_wins", "recovery compares sequences the wrong way round", made<OlderVersionWins>, Needs::nothing},
            {"stops_scan_early", "recovery takes three pages in four for erased", made<StopsItsScanEarly>, Needs::nothing, "scheme", Judge::contents},
            {"programs_before_commit", "a block is programmed before the commit that opens it",
             [] { return std::make_unique<ForgetsOrder>(true, false); }, Needs::pram},
            {"erases_before_copies", "a victim is erased before its copies and their commit are durable",
             [] { return std::make_unique<ForgetsOrder>(false, true); }, Needs::nothing},
            {"commits_before_data", "PRAM names pages before they are programmed", made<HastyPram>, Needs::pram},
        };
        for (SeededBug& bug : seeded_orderings()) all.push_back(std::move(bug));
        for (SeededBug& bug : seeded_drive_bugs()) all.push_back(std::move(bug));
        for (SeededBug& bug : seeded_map_bugs()) all.push_back(std::move(bug));
        return all;
    }();
    return bugs;
}

namespace {

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        words.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

} // namespace

bool applies(const SeededBug& bug, const std::string& scheme) {
    const auto only = words_of(bug.schemes);
    if (!only.empty() && std::ranges::find(only, scheme) == only.end()) return false;
    const auto explorer = Explorer::make(scheme, "chip-slc");
    if (!explorer) return false;
    const auto device = CrashDevice::make((*explorer)->config(), Payload::keep, UndoPolicy::keep);
    if (!device || !(*device)->power_on(sim_start)) return false;
    switch (bug.needs) {
    case SeededBug::Needs::nothing:
        return true;
    case SeededBug::Needs::pram:
        return (*device)->plan().pram_bytes != 0;
    case SeededBug::Needs::volatile_cache:
        return (*device)->ssd().identify().volatile_write_cache;
    case SeededBug::Needs::no_volatile_cache:
        return !(*device)->ssd().identify().volatile_write_cache;
    }
    return true;
}

std::expected<Hunt, std::string> hunt(const SeededBug& bug, const std::string& scheme, std::uint64_t states, std::uint64_t seed, JudgeSet judges) {
    const auto sabotage = bug.make();
    ExploreReport report;
    ExploreLimits limits;
    limits.violations = 1;
    limits.states = states;
    if (bug.devices.empty()) {
        limits.cuts = 1;
        const auto explored = explore_by_default(scheme, seed, {.exhausted = states / 2, .drawn = 0}, limits, report, sabotage.get(), judges);
        if (!explored) return std::unexpected(explored.error());
    }
    limits.cuts = 2;
    const auto drawn = DrawnExploration::make(scheme, seed, words_of(bug.devices), sabotage.get(), judges);
    if (!drawn) return std::unexpected(drawn.error());
    if (report.violations.empty()) (*drawn)->run(states, limits, report);
    Hunt result{std::nullopt, report.states};
    if (!report.violations.empty()) {
        result.found = report.violations.front();
    } else if (judges.has(Judge::endurance) && bug.devices.empty()) {
        const auto endured = endure_cuts(scheme, "chip-slc", std::min<std::uint64_t>(2000, states / 4), seed, sabotage.get());
        if (!endured) result.found = Violation{{scheme, "chip-slc", {}, {}}, endured.error(), Judge::endurance};
    }
    return result;
}

std::vector<Judge> seen_by(const SeededBug& bug, const std::string& scheme, std::uint64_t states, std::uint64_t seed) {
    std::vector<Judge> seen;
    JudgeSet left;
    for (;;) {
        const auto hunted = hunt(bug, scheme, states, seed, left);
        if (!hunted || !hunted->found || !left.has(hunted->found->judge)) break;
        seen.push_back(hunted->found->judge);
        left = left.without(hunted->found->judge);
    }
    if (seen.empty()) return seen;
    const auto blind = hunt(bug, scheme, states, seed, JudgeSet{}.without(Judge::looks_erased));
    if (blind && !blind->found) seen.insert(seen.begin(), Judge::looks_erased);
    return seen;
}

} // namespace flashlab

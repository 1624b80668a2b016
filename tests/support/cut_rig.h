/// A whole device over stores in memory, with a reference model of what its pages may show after a power cut.
///
/// Idea       Requests go to the device and to the model. cut(T) tears the stores as the seed says, reopens, and compares each page with the values
///            that the contract allows (docs: C1..C4): the newest answered by T, or any later one that had arrived by T.
/// Invariant  A page shows one version as a whole; what is seen after a cut becomes the only past.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/random.h"
#include "ftl/make_ftl.h"
#include "ftl/ssd.h"
#include "nand/memory_page_store.h"
#include "nand/nand_faults.h"
#include "pram/memory_pram_store.h"
#include "tests/support/catch.h"

namespace flashlab::test {

class SeededNandOutcomes final : public CutOutcomes {
public:
    explicit SeededNandOutcomes(std::uint64_t seed) : random_{seed} {}
    ProgramOutcome of_program(Ppn) override { return static_cast<ProgramOutcome>(random_.below(4)); }
    EraseOutcome of_erase(BlockId) override { return static_cast<EraseOutcome>(random_.below(3)); }
    std::uint64_t random() override { return random_.next(); }

private:
    Random random_;
};

class SeededPramOutcomes final : public PramCutOutcomes {
public:
    explicit SeededPramOutcomes(std::uint64_t seed) : random_{seed} {}
    WordOutcome of_word(PramAddress) override { return static_cast<WordOutcome>(random_.below(3)); }
    std::uint64_t random() override { return random_.next(); }

private:
    Random random_;
};

/// A small device whose cuts and collections come quickly.
inline SsdConfig tiny_config() {
    SsdConfig c;
    c.nand.geometry = {.channels = 1, .chips_per_channel = 1, .dies_per_chip = 1, .planes_per_die = 2, .blocks_per_plane = 10, .pages_per_block = 8,
                       .page_bytes = 512, .spare_bytes = 32, .cell = CellType::slc};
    c.nand.factory_bad_per_million = 0;
    c.pram.bytes = 1u << 20;
    return c;
}

class CutRig {
public:
    explicit CutRig(const SsdConfig& config, Payload payload = Payload::keep, UndoPolicy undo = UndoPolicy::keep)
        : config_{config},
          geometry_{*Geometry::make(config.nand.geometry)},
          pages_{geometry_, payload},
          cells_{config.pram.bytes},
          undo_{undo} {
        open();
        const DeviceIdentity id = ssd_->identify();
        unit_bytes_ = id.atomic_unit_bytes;
        history_.resize(id.sectors * sector_bytes / unit_bytes_);
        buffer_.resize(unit_bytes_ * 64);
    }
    [[nodiscard]] std::uint32_t units() const { return static_cast<std::uint32_t>(history_.size()); }
    [[nodiscard]] std::uint32_t unit_bytes() const { return unit_bytes_; }
    [[nodiscard]] Ssd& ssd() { return *ssd_; }
    [[nodiscard]] NandArray& array() { return *array_; }
    [[nodiscard]] const Geometry& geometry() const { return geometry_; }
    SimTime now = sim_start;
    NandFaults* faults = nullptr;
    bool last_was_clean = false;

    void open() {
        array_ = std::make_unique<NandArray>(geometry_, config_.nand, pages_, sink_, undo_);
        REQUIRE(array_->open().has_value());
        if (faults != nullptr) array_->set_faults(faults);
        pram_ = std::make_unique<Pram>(config_.pram, cells_, sink_, undo_ == UndoPolicy::keep ? PramUndo::keep : PramUndo::none);
        auto made = make_ftl(config_, *array_, pram_.get(), {PramAddress{0}, config_.pram.bytes}, sink_);
        if (!made) FAIL(made.error());
        ftl_ = std::move(*made);
        ssd_ = std::make_unique<Ssd>(config_, *ftl_, *array_, pram_.get(), sink_);
        const auto recovered = ssd_->recover(now);
        REQUIRE(recovered.has_value());
        last_was_clean = recovered->was_clean;
        opened_at_ = now;
        now = recovered->done;
    }

    /// Returns the completion; the model remembers when the request came and when it was answered.
    SimTime write(std::uint32_t unit, std::uint32_t count, WriteDurability durability = WriteDurability::volatile_ok) {
        const std::uint64_t first_version = next_version_;
        next_version_ += count;
        for (std::uint32_t i = 0; i < count; ++i) stamp(i, unit + i, first_version + i);
        const auto done = ssd_->write(sector(unit), count * (unit_bytes_ / sector_bytes), std::span{buffer_}.first(std::size_t{count} * unit_bytes_), durability, now);
        if (!done) FAIL("write failed: " << static_cast<int>(done.error().kind));
        for (std::uint32_t i = 0; i < count; ++i) history_[unit + i].push_back({first_version + i, now, *done});
        return *done;
    }
    SimTime trim(std::uint32_t unit, std::uint32_t count) {
        const auto done = ssd_->trim(sector(unit), std::uint64_t{count} * (unit_bytes_ / sector_bytes), now);
        REQUIRE(done.has_value());
        for (std::uint32_t i = 0; i < count; ++i) history_[unit + i].push_back({0, now, *done});
        return *done;
    }
    /// One random request, collection slice or pause.
    void step(Random& random) {
        const std::uint64_t what = random.below(20);
        const auto unit = static_cast<std::uint32_t>(random.below(random.chance(1, 2) ? units() : units() / 4 + 1));
        const auto count = static_cast<std::uint32_t>(1 + random.below(std::min<std::uint64_t>(units() - unit, random.chance(1, 4) ? 12 : 2)));
        SimTime done = now;
        if (what < 15) done = write(unit, count);
        else if (what < 17) done = trim(unit, count);
        else if (what < 18) done = *ssd_->flush(now);
        else (void)ssd_->tick(now);
        // Half of the requests are waited for, the others overlap.
        now = random.chance(1, 2) ? std::max(now, done) : now + Duration{static_cast<std::int64_t>(random.below(300'000))};
    }

    void check_all() {
        require_sound();
        for (std::uint32_t u = 0; u < units(); ++u) {
            const std::uint64_t seen = version_of(u);
            if (seen != newest(u)) FAIL("unit " << u << " shows version " << seen << ", newest is " << newest(u));
        }
    }
    void require_sound() {
        const auto problems = ssd_->check();
        for (const CheckProblem& p : problems) UNSCOPED_INFO(p.invariant << " " << p.where << ": " << p.detail);
        REQUIRE(problems.empty());
    }
    [[nodiscard]] std::uint64_t newest(std::uint32_t unit) const { return history_[unit].empty() ? 0 : history_[unit].back().version; }

    /// The power fails at `at`; the device is opened again and its pages compared.
    void cut(SimTime at, std::uint64_t seed) {
        tear(at, seed);
        open();
        compare_after(at);
    }
    /// The power fails again while the device recovers.
    void cut_twice(SimTime at, Random& random) {
        tear(at, random.next());
        open();
        const SimTime last = ssd_->last_reserved_end();
        const SimTime again = opened_at_ + Duration{static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>((last - opened_at_).count()) + 1))};
        tear(again, random.next());
        open();
        compare_after(at);
    }
    /// The process dies: everything issued is complete, nothing was shut down.
    void kill() {
        drop();
        now += Duration{1'000'000'000};
        open();
        for (auto& h : history_)
            if (h.size() > 1) h = {h.back()};
        check_all();
    }
    void remount_clean() {
        const auto down = ssd_->shut_down(now);
        REQUIRE(down.has_value());
        now = std::max(now, *down);
        drop();
        open();
        REQUIRE(last_was_clean);
    }
    [[nodiscard]] SimTime random_moment(Random& random, SimTime from) const {
        const std::int64_t span = std::max<std::int64_t>(0, (ssd_->last_reserved_end() - from).count());
        return from + Duration{static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(span) + 1))};
    }
    /// The version that the unit shows; torn or mixed content fails the test.
    std::uint64_t version_of(std::uint32_t unit) {
        std::vector<std::byte> got(unit_bytes_, std::byte{0xee});
        const auto done = ssd_->read(sector(unit), unit_bytes_ / sector_bytes, got, now);
        if (!done) FAIL("read of unit " << unit << " failed: " << static_cast<int>(done.error().kind));
        std::uint64_t version = 0;
        std::memcpy(&version, got.data(), sizeof version);
        const std::uint64_t expected[2] = {version, version == 0 ? 0 : unit + 1u};
        for (std::size_t at = 0; at < got.size(); at += 16)
            if (std::memcmp(expected, got.data() + at, sizeof expected) != 0) FAIL("unit " << unit << " is mixed or foreign at byte " << at);
        return version;
    }
    [[nodiscard]] Sector sector(std::uint32_t unit) const { return Sector{std::uint64_t{unit} * (unit_bytes_ / sector_bytes)}; }

private:
    struct Version {
        std::uint64_t version = 0; ///< 0 = zeros
        SimTime arrived;
        SimTime answered;
    };
    void stamp(std::uint32_t index, std::uint32_t unit, std::uint64_t version) {
        if (buffer_.size() < (index + 1u) * std::size_t{unit_bytes_}) buffer_.resize((index + 1u) * std::size_t{unit_bytes_});
        const std::uint64_t words[2] = {version, unit + 1u};
        for (std::size_t at = 0; at < unit_bytes_; at += 16) std::memcpy(buffer_.data() + std::size_t{index} * unit_bytes_ + at, words, sizeof words);
    }
    void drop() {
        ssd_.reset();
        ftl_.reset();
        pram_.reset();
        array_.reset();
    }
    void tear(SimTime at, std::uint64_t seed) {
        SeededNandOutcomes nand{seed};
        SeededPramOutcomes pram{seed ^ 0x5eed};
        REQUIRE(ssd_->cut(at, nand, pram).has_value());
        drop();
        now = at + Duration{1'000'000};
    }
    void compare_after(SimTime at) {
        require_sound();
        for (std::uint32_t u = 0; u < units(); ++u) {
            auto& h = history_[u];
            std::vector<std::uint64_t> allowed{0};
            for (const Version& v : h) {
                if (v.arrived > at) continue;
                if (v.answered <= at) allowed.clear();
                allowed.push_back(v.version);
            }
            const std::uint64_t seen = version_of(u);
            if (std::find(allowed.begin(), allowed.end(), seen) == allowed.end()) {
                CAPTURE(u, seen, allowed);
                FAIL("a version that the contract does not allow");
            }
            h.clear();
            h.push_back({seen, sim_start, sim_start});
        }
    }

    SsdConfig config_;
    Geometry geometry_;
    MemoryPageStore pages_;
    MemoryPramStore cells_;
    UndoPolicy undo_;
    NullEventSink sink_;
    std::unique_ptr<NandArray> array_;
    std::unique_ptr<Pram> pram_;
    std::unique_ptr<Ftl> ftl_;
    std::unique_ptr<Ssd> ssd_;
    SimTime opened_at_ = sim_start;
    std::uint32_t unit_bytes_ = 0;
    std::vector<std::vector<Version>> history_;
    std::vector<std::byte> buffer_;
    std::uint64_t next_version_ = 1;
};

} // namespace flashlab::test

/// C8 for every scheme: program and erase failures lose nothing; when the spares end the device is read-only and still reads.
#include <optional>

#include "ftl/schemes/page_plan.h"
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::on_every_scheme;
using flashlab::test::tiny_config;

namespace {

/// Fails each operation with a probability, at most `budget` of them; of the blocks that hold the scheme's own records at most one, which is what
/// their ring has to spare.
class SeededFaults final : public NandFaults {
public:
    SeededFaults(std::uint64_t seed, std::uint64_t one_in, int budget) : random_{seed}, one_in_{one_in}, budget_{budget} {}
    void install(CutRig& rig) {
        rig_ = &rig;
        rig.set_faults(this);
    }
    bool program_fails(Ppn page) override { return fails(rig_->geometry().block_of(page)); }
    bool erase_fails(BlockId block) override { return fails(block); }

private:
    bool fails(BlockId block) {
        if (budget_ == 0 || !random_.chance(1, one_in_)) return false;
        if (rig_->ftl().status_of(block).use == BlockUse::other && records_failed_++ != 0) return false;
        --budget_;
        return true;
    }
    Random random_;
    std::uint64_t one_in_;
    int budget_;
    int records_failed_ = 0;
    CutRig* rig_ = nullptr;
};

/// The n-th program of the host's data fails, no other.
class OneProgramFails final : public NandFaults {
public:
    OneProgramFails(CutRig& rig, std::uint64_t nth) : rig_{rig}, left_{nth} { rig.set_faults(this); }
    bool program_fails(Ppn page) override {
        const BlockId block = rig_.geometry().block_of(page);
        if (failed_ || rig_.ftl().status_of(block).use == BlockUse::other || left_-- != 0) return false;
        failed_ = block;
        return true;
    }
    bool erase_fails(BlockId) override { return false; }
    [[nodiscard]] std::optional<BlockId> failed() const { return failed_; }

private:
    CutRig& rig_;
    std::uint64_t left_;
    std::optional<BlockId> failed_;
};

SsdConfig with_spares() {
    SsdConfig c = tiny_config();
    c.nand.geometry.blocks_per_plane = 24;
    c.ftl.reserved_permille = 400;
    return c;
}

} // namespace

TEST_CASE("program and erase failures retire their blocks and lose no page", "[ftl][faults][scheme]") {
    on_every_scheme(with_spares(), [](const SsdConfig& config) {
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            CAPTURE(seed);
            SeededFaults faults{seed, 40, 8};
            CutRig rig{config, Payload::keep, UndoPolicy::none};
            faults.install(rig);
            Random random{seed};
            for (int i = 0; i < 500; ++i) {
                CAPTURE(i);
                rig.step(random);
                rig.require_sound();
            }
            rig.check_all();
            CHECK(rig.ftl().counters().retired_blocks > 0);
            rig.set_faults(nullptr);
            rig.remount_clean();
            rig.check_all();
            CHECK(rig.ftl().space().bad_blocks > 0);
        }
    });
}

TEST_CASE("power cuts amid failing programs keep the contract", "[ftl][faults][crash][scheme]") {
    on_every_scheme(with_spares(), [](const SsdConfig& config) {
        for (std::uint64_t seed = 21; seed <= 30; ++seed) {
            CAPTURE(seed);
            SeededFaults faults{seed, 60, 8};
            CutRig rig{config};
            faults.install(rig);
            Random random{seed};
            for (int c = 0; c < 12; ++c) {
                CAPTURE(c);
                const SimTime from = rig.now;
                rig.settle();
                for (std::uint64_t k = 1 + random.below(40); k > 0; --k) rig.step(random);
                rig.cut(rig.random_moment(random, from), random.next());
            }
        }
    });
}

TEST_CASE("a word line of copies, or a block of an SLC cache, that fails or that a cut tears loses no page", "[ftl][faults][crash][one-shot][slc]") {
    const std::string scheme = GENERATE("page_map", "dftl", "hftl");
    const bool has_cache = GENERATE(false, true);
    if (has_cache && scheme != "page_map") return;
    SsdConfig shape = with_spares();
    shape.nand.geometry.cell = CellType::tlc;
    shape.nand.options.one_shot = true;
    if (has_cache) {
        shape.nand.modes[std::to_underlying(CellType::slc)].page_program = Duration{100'000};
        shape.ftl.options.set(page_option::slc_blocks, 12);
        shape.ftl.options.set(page_option::fold_after_us, 0);
    }
    const SsdConfig config = *test::shape_for(scheme, shape);
    std::uint64_t along = 0, folded = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        CAPTURE(scheme, has_cache, seed);
        SeededFaults faults{seed, 60, 8};
        CutRig rig{config};
        faults.install(rig);
        Random random{seed};
        for (int c = 0; c < 8; ++c) {
            CAPTURE(c);
            const SimTime from = rig.now;
            rig.settle();
            for (std::uint64_t k = 1 + random.below(80); k > 0; --k) rig.step(random);
            along += rig.array().counters().programs_along;
            folded += rig.array().counters().programs[std::to_underlying(Cause::fold)];
            rig.require_sound();
            rig.cut(rig.random_moment(random, from), random.next());
        }
        rig.check_all();
    }
    CHECK(along > 0);
    CHECK((folded > 0) == has_cache);
}

TEST_CASE("a cut amid the copies out of a failed block takes its bad mark back: no bad block holds data", "[ftl][faults][crash][scheme]") {
    on_every_scheme(with_spares(), [](const SsdConfig& config) {
        std::uint32_t taken_back = 0, stood = 0;
        for (std::uint64_t seed = 1; seed <= 60; ++seed) {
            CAPTURE(seed);
            CutRig rig{config};
            Random random{seed};
            rig.now = rig.write(0, rig.units());
            rig.now = rig.flush();
            rig.settle();
            OneProgramFails fault{rig, random.below(30)};
            SimTime from = rig.now;
            for (int i = 0; i < 200 && !fault.failed(); ++i) {
                from = rig.now;
                rig.step(random);
            }
            if (!fault.failed()) continue; // nothing but trims and reads
            rig.set_faults(nullptr);
            for (int i = 0; i < 60 && seed % 4 == 0; ++i) rig.step(random); // until the copies are recorded, for some
            if (seed % 4 == 0) from = rig.now;
            rig.cut(rig.random_moment(random, from), random.next());
            for (std::uint32_t b = 0; b < rig.geometry().blocks(); ++b) {
                if (!rig.array().is_bad(BlockId{b})) continue;
                CAPTURE(b);
                const BlockStatus status = rig.ftl().status_of(BlockId{b});
                CHECK((status.use == BlockUse::bad || status.use == BlockUse::other));
                CHECK(status.valid_pages == 0);
            }
            (rig.array().is_bad(*fault.failed()) ? stood : taken_back) += 1;
            for (std::uint32_t u = 0; u < 2 * rig.units(); ++u) rig.now = rig.write(u % rig.units(), 1);
            rig.check_all();
        }
        CHECK(taken_back > 0);
        CHECK(stood > 0);
    });
}

TEST_CASE("when the spare blocks are used up the device refuses writes and still reads everything", "[ftl][faults][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        SeededFaults faults{3, 12, 1000};
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        rig.now = rig.write(0, rig.units());
        faults.install(rig);
        std::optional<DeviceError> error;
        std::vector<std::byte> data(rig.unit_bytes());
        Random random{3};
        for (int i = 0; i < 5000 && !error; ++i) {
            const auto unit = static_cast<std::uint32_t>(random.below(rig.units()));
            // Past any cache of the scheme's own.
            const auto done = rig.ssd().write(rig.sector(unit), rig.unit_bytes() / sector_bytes, data, WriteDurability::fua, rig.now);
            if (!done) error = done.error();
        }
        REQUIRE(error.has_value());
        CHECK(error->kind == DeviceErrorKind::read_only);
        rig.require_readable();
        CHECK(rig.ssd().write(Sector{0}, 1, {}, WriteDurability::fua, rig.now).error().kind == DeviceErrorKind::read_only);
    });
}

TEST_CASE("a flush of a device that has become read-only is refused, or makes the trims before it durable", "[ftl][faults][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        for (std::uint64_t seed = 1; seed <= 8; ++seed) {
            CAPTURE(seed);
            SeededFaults faults{seed, 12, 1000};
            CutRig rig{config, Payload::keep, UndoPolicy::none};
            rig.now = rig.write(0, rig.units());
            rig.now = rig.flush();
            faults.install(rig);
            const std::vector<std::byte> data(rig.unit_bytes(), std::byte{7});
            const std::uint32_t sectors = rig.unit_bytes() / sector_bytes;
            Random random{seed};
            for (int i = 0; i < 5000; ++i) {
                const auto unit = static_cast<std::uint32_t>(random.below(rig.units()));
                const auto done = i % 2 == 0 ? rig.ssd().trim(rig.sector(unit), sectors, rig.now)
                                             : rig.ssd().write(rig.sector(unit), sectors, data, WriteDurability::volatile_ok, rig.now);
                if (!done) break;
                rig.now = std::max(rig.now, *done);
            }
            rig.set_faults(nullptr);
            std::vector<bool> was_zero;
            for (std::uint32_t unit = 0; unit < rig.units(); ++unit) was_zero.push_back(rig.is_zero(unit));
            const auto flushed = rig.ssd().flush(rig.now);
            if (!flushed) continue;
            rig.now = std::max(rig.now, *flushed);
            rig.reopen();
            for (std::uint32_t unit = 0; unit < rig.units(); ++unit) {
                CAPTURE(unit);
                CHECK(rig.is_zero(unit) == was_zero[unit]);
            }
        }
    });
}

/// C8 for every scheme: program and erase failures lose nothing; when the spares end the device is read-only and still reads.
#include <optional>

#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::on_every_scheme;
using flashlab::test::tiny_config;

namespace {

/// Fails each operation with a probability, at most `budget` of them; of the blocks that hold the scheme's own records at most one, which is what their
/// ring has to spare.
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

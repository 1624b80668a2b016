/// The contract of ftl/ftl.h: what Ftl's shell refuses of every scheme, and what every scheme promises beside its data.
#include <functional>

#include "base/contract.h"
#include "tests/support/every_scheme.h"
#include "tests/support/test_drive.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::on_every_scheme;
using flashlab::test::TestDrive;
using flashlab::test::tiny_config;

namespace {

const Origin nobody{Cause::user, no_event};

/// A scheme that nobody has called yet; calls go to it, not to the drive around it.
struct Fresh : TestDrive<> {
    explicit Fresh(const SsdConfig& config_) : TestDrive{config_, Payload::keep} {}
    void recover() {
        const auto on = ftl.recover(now);
        REQUIRE(on);
        now = on->done;
    }
};

using Request = std::pair<const char*, std::function<void(Ftl&)>>;

/// Every call that is allowed between recover() and shut_down() only.
const std::vector<Request>& requests() {
    static const std::vector<Request> all{
        {"read",
         [](Ftl& f) {
             (void)f.read(Lpn{0}, 1, {}, {sim_start, nobody});
         }},
        {"read_part",
         [](Ftl& f) {
             (void)f.read_part(Lpn{0}, 0, 512, {}, {sim_start, nobody});
         }},
        {"write",
         [](Ftl& f) {
             (void)f.write(Lpn{0}, 1, {}, {sim_start, nobody});
         }},
        {"trim",
         [](Ftl& f) {
             (void)f.trim(Lpn{0}, 1, {sim_start, nobody});
         }},
        {"flush",
         [](Ftl& f) {
             (void)f.flush({sim_start, nobody});
         }},
        {"relocate", [](Ftl& f) { (void)f.relocate(BlockId{0}, sim_start); }},
        {"shut_down", [](Ftl& f) { (void)f.shut_down(sim_start); }},
        {"is_mapped", [](Ftl& f) { (void)f.is_mapped(Lpn{0}); }},
        {"check", [](Ftl& f) { (void)f.check(); }},
    };
    return all;
}

void require_refused(Ftl& ftl) {
    for (const auto& [name, call] : requests()) {
        CAPTURE(name);
        CHECK_THROWS_AS(call(ftl), ContractViolation);
    }
}

/// What may be asked at any time.
void ask_all(Fresh& drive) {
    Ftl& ftl = drive.ftl;
    CHECK(ftl.name() == drive.config.ftl.scheme);
    CHECK(ftl.shape().blocks == drive.geometry.blocks());
    CHECK(ftl.logical_pages() != 0);
    (void)ftl.durable_when_answered();
    (void)ftl.mapping_space();
    (void)ftl.counters();
    (void)ftl.space();
    for (std::uint32_t b = 0; b < drive.geometry.blocks(); ++b) (void)ftl.status_of(BlockId{b});
    CHECK_THROWS_AS(ftl.status_of(BlockId{drive.geometry.blocks()}), ContractViolation);
}

/// Every program and erase fails from now on, but for those of the scheme's own records.
struct WornOut final : NandFaults {
    explicit WornOut(CutRig& rig) : rig_{rig} { rig.set_faults(this); }
    bool program_fails(Ppn page) override { return fails(rig_.geometry().block_of(page)); }
    bool erase_fails(BlockId block) override { return fails(block); }
    bool fails(BlockId block) const { return rig_.ftl().status_of(block).use != BlockUse::other; }
    CutRig& rig_;
};

} // namespace

TEST_CASE("recover() is the first call: every request before it is refused, questions are answered, idle has nothing to do",
          "[ftl][contract][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        Fresh drive{config};
        require_refused(drive.ftl);
        ask_all(drive);
        CHECK(drive.ftl.idle(sim_start) == sim_never);
        drive.recover();
        CHECK(drive.ftl.check().empty());
    });
}

TEST_CASE("recover() is called once", "[ftl][contract][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        Fresh drive{config};
        drive.recover();
        CHECK_THROWS_AS(drive.ftl.recover(drive.now), ContractViolation);
        CHECK(drive.ftl.check().empty());
    });
}

TEST_CASE("after shut_down() every request is refused, another recover() too, and questions are answered", "[ftl][contract][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        Fresh drive{config};
        drive.recover();
        REQUIRE(drive.ftl.write(Lpn{0}, 1, std::vector<std::byte>(drive.ftl.logical_page_bytes()), {drive.now, nobody}));
        REQUIRE(drive.ftl.shut_down(drive.now));
        require_refused(drive.ftl);
        CHECK_THROWS_AS(drive.ftl.recover(drive.now), ContractViolation);
        ask_all(drive);
        CHECK(drive.ftl.idle(drive.now) == sim_never);
        CHECK(drive.ftl.counters().host_pages_written == 1);
    });
}

TEST_CASE("runs that are empty or leave the logical space, parts that leave their page and buffers of another length are refused",
          "[ftl][contract][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        Fresh drive{config};
        drive.recover();
        Ftl& f = drive.ftl;
        const std::uint32_t all = f.logical_pages();
        const std::uint32_t bytes = f.logical_page_bytes();
        std::vector<std::byte> page(bytes);
        const std::span<std::byte> short_page = std::span{page}.first(bytes - 1);
        const auto run_refused = [&](Lpn first, std::uint32_t pages) {
            CAPTURE(first.value(), pages);
            CHECK_THROWS_AS(f.read(first, pages, {}, {drive.now, nobody}), ContractViolation);
            CHECK_THROWS_AS(f.write(first, pages, {}, {drive.now, nobody}), ContractViolation);
            CHECK_THROWS_AS(f.trim(first, pages, {drive.now, nobody}), ContractViolation);
        };
        run_refused(Lpn{0}, 0);
        run_refused(Lpn{all}, 1);
        run_refused(Lpn{all - 1}, 2);
        run_refused(Lpn{1}, all);
        run_refused(Lpn{~std::uint32_t{0}}, 1); // first + pages is 0 in 32 bits
        run_refused(Lpn{1}, ~std::uint32_t{0});
        CHECK_THROWS_AS(f.is_mapped(Lpn{all}), ContractViolation);
        CHECK_THROWS_AS(f.read(Lpn{0}, 1, short_page, {drive.now, nobody}), ContractViolation);
        CHECK_THROWS_AS(f.write(Lpn{0}, 1, short_page, {drive.now, nobody}), ContractViolation);
        CHECK_THROWS_AS(f.write(Lpn{0}, 2, page, {drive.now, nobody}), ContractViolation);
        CHECK_THROWS_AS(f.read_part(Lpn{all}, 0, 1, {}, {drive.now, nobody}), ContractViolation);
        CHECK_THROWS_AS(f.read_part(Lpn{0}, 0, 0, {}, {drive.now, nobody}), ContractViolation);
        CHECK_THROWS_AS(f.read_part(Lpn{0}, 1, bytes, {}, {drive.now, nobody}), ContractViolation);
        CHECK_THROWS_AS(f.read_part(Lpn{0}, ~std::uint32_t{0}, 2, {}, {drive.now, nobody}), ContractViolation); // the sum is 1 in 32 bits
        CHECK_THROWS_AS(f.read_part(Lpn{0}, 0, 4, short_page, {drive.now, nobody}), ContractViolation);
        CHECK_THROWS_AS(f.relocate(BlockId{drive.geometry.blocks()}, drive.now), ContractViolation);
        CHECK_THROWS_AS(f.status_of(BlockId{drive.geometry.blocks()}), ContractViolation);
        // Nothing of all that has left a trace, and what just fits is done.
        CHECK(f.space().mapped_pages == 0);
        CHECK(f.counters().host_pages_read + f.counters().host_pages_written == 0);
        const auto written = f.write(Lpn{all - 1}, 1, page, {drive.now, nobody});
        REQUIRE(written);
        CHECK(f.is_mapped(Lpn{all - 1}));
        CHECK(f.read_part(Lpn{all - 1}, bytes - 1, 1, std::span{page}.first(1), {*written, nobody}).has_value());
        CHECK(f.check().empty());
    });
}

TEST_CASE("a worn-out device answers read_only to every change, never no_free_block, and goes on reading", "[ftl][contract][faults][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        rig.now = rig.write(0, rig.units());
        rig.now = rig.flush();
        WornOut faults{rig};
        Ftl& ftl = rig.ftl();
        const std::vector<std::byte> data(rig.unit_bytes(), std::byte{7});
        std::optional<FtlError> end;
        const auto note = [&](const FtlResult<SimTime>& done) {
            if (done) return;
            CHECK(done.error().kind == FtlErrorKind::read_only);
            end = done.error();
        };
        for (std::uint32_t i = 0; i < 3000 && !end; ++i) {
            CAPTURE(i);
            note(ftl.write(Lpn{i % rig.units()}, 1, data, {rig.now, nobody}));
            if (!end && i % 4 == 3) note(ftl.relocate(BlockId{i / 4 % rig.geometry().blocks()}, rig.now));
            if (!end && i % 8 == 7) note(ftl.flush({rig.now, nobody})); // past a cache of the scheme's own
        }
        REQUIRE(end.has_value());
        CHECK(ftl.write(Lpn{0}, 1, data, {rig.now, nobody}).error().kind == FtlErrorKind::read_only);
        CHECK(ftl.trim(Lpn{0}, 1, {rig.now, nobody}).error().kind == FtlErrorKind::read_only);
        if (const auto flushed = ftl.flush({rig.now, nobody}); !flushed) CHECK(flushed.error().kind == FtlErrorKind::read_only);
        for (std::uint32_t b = 0; b < rig.geometry().blocks(); ++b)
            if (const auto moved = ftl.relocate(BlockId{b}, rig.now); !moved) CHECK(moved.error().kind == FtlErrorKind::read_only);
        rig.require_readable();
        rig.require_sound();
        if (const auto down = ftl.shut_down(rig.now); !down) CHECK(down.error().kind == FtlErrorKind::read_only);
    });
}

TEST_CASE("a device is clean when new and after shut_down(), and not after a process that died", "[ftl][contract][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        CutRig rig{config, Payload::keep, UndoPolicy::none};
        CHECK(rig.last_was_clean);
        rig.now = rig.write(0, 4);
        rig.now = rig.flush();
        rig.kill();
        CHECK_FALSE(rig.last_was_clean);
        rig.remount_clean();
        rig.remount_clean(); // with nothing in between, too
        rig.kill();
        CHECK_FALSE(rig.last_was_clean);
    });
}

TEST_CASE("questions and check() take no time and leave no trace, amid collections and trims too", "[ftl][contract][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        CutRig asked{config, Payload::keep, UndoPolicy::none};
        CutRig left_alone{config, Payload::keep, UndoPolicy::none};
        Random random_a{11}, random_b{11};
        for (int i = 0; i < 300; ++i) {
            CAPTURE(i);
            asked.step(random_a);
            left_alone.step(random_b);
            REQUIRE(asked.ftl().check().empty());
            for (std::uint32_t l = 0; l < asked.ftl().logical_pages(); ++l) (void)asked.ftl().is_mapped(Lpn{l});
            for (std::uint32_t b = 0; b < asked.geometry().blocks(); ++b) (void)asked.ftl().status_of(BlockId{b});
            REQUIRE(asked.now == left_alone.now);
            REQUIRE(asked.ssd().last_reserved_end() == left_alone.ssd().last_reserved_end());
        }
        asked.check_all();
    });
}

/// A drive that breaks its promises: what is read is right until the power fails, and each lie loses what the drive had promised to keep.
#include "ftl/broken_promises.h"
#include "tests/support/cut_rig.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::tiny_config;

namespace {

struct Lies final : BrokenPromises {
    bool flush = false, order = false, tear = false;
    bool flush_lies() override { return flush; }
    bool order_lies() override { return order; }
    bool tears() override { return tear; }
    bool would_tear() const override { return tear; }
};

SsdConfig volatile_buffer() {
    SsdConfig config = tiny_config();
    config.dram.write_buffer_bytes = 8 * 512;
    return config;
}

std::vector<std::byte> bytes_of(CutRig& rig, std::uint32_t unit) {
    std::vector<std::byte> page(rig.unit_bytes());
    REQUIRE(rig.ssd().read(rig.sector(unit), rig.unit_bytes() / sector_bytes, page, rig.now).has_value());
    return page;
}

} // namespace

TEST_CASE("a drive that lies about a flush loses what it answered, FUA as well; an honest one keeps it", "[ssd][buffer][lies]") {
    for (const bool lies : {false, true})
        for (const bool fua : {false, true}) {
            CAPTURE(lies, fua);
            CutRig rig{volatile_buffer()};
            Lies said;
            said.flush = lies;
            REQUIRE(rig.ssd().can_lie());
            rig.ssd().set_lies(&said);
            rig.now = rig.write(3, 1, fua ? WriteDurability::fua : WriteDurability::volatile_ok);
            if (!fua) rig.now = rig.flush();
            rig.check_unit(3);
            rig.reopen();
            CHECK(rig.is_zero(3) == lies);
        }
}

TEST_CASE("a drive that lies about the order leaves the first page of each flush for the next: what came later is durable before it",
          "[ssd][buffer][lies]") {
    CutRig rig{volatile_buffer()};
    Lies said;
    said.order = true;
    rig.ssd().set_lies(&said);
    for (const std::uint32_t unit : {5u, 2u}) rig.now = rig.write(unit, 1);
    rig.now = rig.flush(); // 5 is left
    for (const std::uint32_t unit : {9u, 7u, 8u}) rig.now = rig.write(unit, 1);
    rig.now = rig.flush(); // 5 goes down, 9 is left
    rig.check_all();
    CHECK(rig.ssd().buffer()->buffered_pages() == 1);
    rig.reopen();
    for (const std::uint32_t unit : {5u, 2u, 7u, 8u, 9u}) CHECK(rig.is_zero(unit) == (unit == 9));
}

TEST_CASE("a drive that tears leaves half of a page that was not flushed, cut within a sector, and nothing of it elsewhere", "[ssd][buffer][lies]") {
    CutRig rig{volatile_buffer()};
    Lies said;
    said.tear = true;
    rig.ssd().set_lies(&said);
    rig.now = rig.write(4, 1);
    rig.now = rig.flush();
    const auto before = bytes_of(rig, 4);
    rig.now = rig.write(4, 1);
    const auto after = bytes_of(rig, 4);
    rig.now += Duration{1'000};
    rig.cut_unjudged(rig.now, 1);
    const auto torn = bytes_of(rig, 4);
    CHECK(torn != before);
    CHECK(torn != after);
    const std::ptrdiff_t at = rig.unit_bytes() / 2 + rig.unit_bytes() / 16;
    REQUIRE(at % sector_bytes != 0);
    CHECK(std::equal(torn.begin(), torn.begin() + at, after.begin()));
    CHECK(std::equal(torn.begin() + at, torn.end(), before.begin() + at));
    rig.require_sound();
}

TEST_CASE("a drive that tears can be cut so that it does while its buffer holds a page, and at no other time", "[ssd][buffer][lies]") {
    CutRig rig{volatile_buffer()};
    Lies said;
    rig.ssd().set_lies(&said);
    rig.now = rig.write(4, 1);
    CHECK_FALSE(rig.ssd().instant_of_tearing(rig.now).has_value()); // an honest drive
    said.tear = true;
    const auto at = rig.ssd().instant_of_tearing(sim_start);
    REQUIRE(at.has_value());
    CHECK(*at >= rig.ssd().last_reserved_end());
    rig.now = rig.flush();
    CHECK_FALSE(rig.ssd().instant_of_tearing(rig.now).has_value());
}

TEST_CASE("a drive without a volatile buffer, or with one behind capacitors, has nothing to lie about", "[ssd][buffer][lies]") {
    SsdConfig config = tiny_config();
    CHECK_FALSE(CutRig{config}.ssd().can_lie());
    config = volatile_buffer();
    config.dram.is_protected = true;
    CHECK_FALSE(CutRig{config}.ssd().can_lie());
}

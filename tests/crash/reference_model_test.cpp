/// The judge is judged: what a page may show after a cut, case by case.
#include "crash/reference_model.h"

#include <cstring>
#include <vector>

#include "tests/support/catch.h"

using namespace flashlab;
using Promise = ReferenceModel::Promise;

namespace {

SimTime at(std::int64_t ns) { return sim_time_from_ns(ns); }

/// Units of two sectors; remembers the payload of each write.
struct Host {
    explicit Host(Promise promise) : model{16, 1024, promise} {}
    using Page = std::vector<std::byte>;

    /// The whole unit 1, or sectors of it.
    Page write(std::int64_t arrived, std::int64_t answered, WriteDurability durability = WriteDurability::volatile_ok, std::uint32_t from = 0,
               std::uint32_t to = 2) {
        const auto payload = model.stamp(Sector{2 + from}, to - from);
        std::memcpy(shown.data() + std::size_t{from} * 512, payload.data(), payload.size());
        model.wrote(Sector{2 + from}, to - from, at(arrived), at(answered), durability);
        return shown;
    }
    [[nodiscard]] bool allows(const Page& page, std::int64_t cut) const { return model.match(1, page, at(cut)).has_value(); }

    ReferenceModel model;
    Page shown = Page(1024);
    const Page zeros = Page(1024);
};

} // namespace

TEST_CASE("a new page shows zeros and nothing else", "[model]") {
    Host host{Promise::when_flushed};
    CHECK(host.allows(host.zeros, 0));
    Host::Page dirty = host.zeros;
    dirty[1023] = std::byte{1};
    CHECK_FALSE(host.allows(dirty, 0));
}

TEST_CASE("an unflushed write may be there or not, from its arrival on", "[model]") {
    Host host{Promise::when_flushed};
    const auto v1 = host.write(10, 20);
    CHECK_FALSE(host.allows(v1, 9));
    CHECK(host.allows(v1, 10));
    CHECK(host.allows(host.zeros, 10));
    CHECK(host.allows(host.zeros, 1000));
}

TEST_CASE("a completed flush makes what was answered before it durable, one nanosecond earlier it does not", "[model]") {
    Host host{Promise::when_flushed};
    const auto v1 = host.write(10, 20);
    const auto v2 = host.write(15, 25);
    host.model.flushed(at(20), at(30));
    CHECK(host.allows(host.zeros, 29));
    CHECK_FALSE(host.allows(host.zeros, 30));
    CHECK(host.allows(v1, 30));
    CHECK(host.allows(v2, 30)); // not covered: answered after the flush arrived
    host.model.flushed(at(25), at(40));
    CHECK_FALSE(host.allows(v1, 40));
    CHECK(host.allows(v2, 40));
}

TEST_CASE("FUA makes a write durable when it is answered, and the promise of a device makes every write so", "[model]") {
    const bool fua = GENERATE(true, false);
    Host host{fua ? Promise::when_flushed : Promise::when_answered};
    const auto v1 = host.write(10, 20, fua ? WriteDurability::fua : WriteDurability::volatile_ok);
    CHECK(host.allows(host.zeros, 19));
    CHECK_FALSE(host.allows(host.zeros, 20));
    CHECK(host.allows(v1, 20));
}

TEST_CASE("where an answer promises, an answered trim is zeros for good", "[model]") {
    Host host{Promise::when_answered};
    const auto v1 = host.write(10, 20, WriteDurability::volatile_ok);
    host.model.trimmed(Sector{2}, 2, at(30), at(31));
    CHECK(host.allows(v1, 30));
    CHECK_FALSE(host.allows(v1, 31));
    CHECK(host.allows(host.zeros, 31));
}

TEST_CASE("a trim is volatile until it is flushed, then zeros for good", "[model]") {
    Host host{Promise::when_flushed};
    const auto v1 = host.write(10, 20, WriteDurability::fua);
    host.model.trimmed(Sector{2}, 2, at(30), at(31));
    CHECK(host.allows(v1, 100));
    CHECK(host.allows(host.zeros, 30));
    CHECK_FALSE(host.allows(host.zeros, 29));
    host.model.flushed(at(31), at(40));
    CHECK_FALSE(host.allows(v1, 40));
    CHECK(host.allows(host.zeros, 40));
}

TEST_CASE("a page that mixes two versions, or shows another page's data, is neither of them", "[model]") {
    Host host{Promise::when_flushed};
    const auto v1 = host.write(10, 20);
    const auto v2 = host.write(30, 40);
    auto mixed = v1;
    std::memcpy(mixed.data() + 512, v2.data() + 512, 512);
    CHECK_FALSE(host.allows(mixed, 100));
    auto torn = v2;
    torn[700] ^= std::byte{1};
    CHECK_FALSE(host.allows(torn, 100));
    CHECK_FALSE(host.model.match(2, v2, at(100)).has_value());
    CHECK(host.model.explain(1, mixed, at(100)).find("write 1, write 2") != std::string::npos);
    // Where only the newest is right, what is seen does not stand among what is allowed, and sectors alike are told once.
    CHECK(host.model.explain_newest(1, v1) == "unit 1 shows write 1; allowed: write 2");
    CHECK(host.model.explain_newest(1, mixed) == "unit 1 shows write 1, write 2; allowed: write 2");
}

TEST_CASE("a write of one sector keeps the other sector of the version before it, as one unit", "[model]") {
    Host host{Promise::when_flushed};
    const auto v1 = host.write(10, 20);
    const auto v2 = host.write(30, 40, WriteDurability::fua, 1, 2);
    CHECK(host.allows(v2, 40));
    CHECK_FALSE(host.allows(v1, 40));
    auto half = v2;
    std::memset(half.data(), 0, 512);
    CHECK_FALSE(host.allows(half, 40));
}

TEST_CASE("what is seen after a cut is the only past, and a failed request may have happened or not", "[model]") {
    Host host{Promise::when_flushed};
    const auto v1 = host.write(10, 20);
    const auto v2 = host.write(30, 40);
    host.model.adopt(1, *host.model.match(1, v1, at(100)));
    CHECK(host.allows(v1, 100));
    CHECK_FALSE(host.allows(v2, 100));
    CHECK_FALSE(host.allows(host.zeros, 100));
    const auto failed = host.write(200, ns_since_start(sim_never));
    host.model.flushed(at(300), at(310));
    CHECK(host.allows(v1, 400));
    CHECK(host.allows(failed, 400));
}

TEST_CASE("settling forgets only what no later cut can show", "[model]") {
    Host host{Promise::when_flushed};
    std::vector<Host::Page> pages;
    for (int i = 0; i < 200; ++i) pages.push_back(host.write(10 * i, 10 * i + 5));
    host.model.flushed(at(1000), at(1005)); // covers writes 0 .. 99
    host.model.settle(at(1006));
    CHECK_FALSE(host.allows(pages[98], 5000));
    for (std::size_t i = 99; i < pages.size(); ++i) CHECK(host.allows(pages[i], 5000));
    CHECK_FALSE(host.allows(host.zeros, 5000));
}

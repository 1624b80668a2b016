/// ForwardingFtl passes every function on, those with a default in Ftl too; what a decorator overrides is its own.
#include "ftl/forwarding_ftl.h"

#include "base/contract.h"
#include "ftl/cache/mapping_space.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

struct Maps final : MappingSpace {
    MappingSpaceShape map_shape() const override { return {}; }
    std::uint64_t map_bytes_used() const override { return 0; }
    FtlResult<SimTime> set_map_bytes(std::uint64_t, SimTime now) override { return now; }
    ProfitFactors profit_factors() override { return {}; }
    void watch(GhostBitmap&) override {}
    void measure(std::span<const std::uint64_t>, std::uint64_t) override {}
    double take_misses(std::span<MissCount>) override { return 1; }
};

SimTime at(int ns) { return sim_start + Duration{ns}; }

/// Answers each call as nothing else would, and notes it.
struct Noting : Ftl {
    Noting() : Ftl{{512, 100, 10}} {}
    std::string_view name() const override { return "noting"; }
    bool durable_when_answered() const override { return true; }
    std::uint32_t pages_a_line() const override { return 6; }
    FtlCounters counters() const override { return {.host_pages_read = 17}; }
    FtlSpace space() const override { return {.free_blocks = 3}; }
    MappingSpace* mapping_space() override { return &maps; }
    Maps maps;
    mutable std::vector<std::string> calls;

private:
    FtlResult<SimTime> note(const char* call, int ns) const {
        calls.emplace_back(call);
        return at(ns);
    }
    FtlResult<FtlRecovery> do_recover(SimTime) override {
        calls.emplace_back("recover");
        return FtlRecovery{.was_clean = true, .pages_scanned = 5, .done = at(1)};
    }
    FtlResult<SimTime> do_read(Lpn, std::uint32_t, std::span<std::byte>, const Io&) override { return note("read", 2); }
    FtlResult<SimTime> do_read_part(Lpn, std::uint32_t, std::uint32_t, std::span<std::byte>, const Io&) override { return note("read_part", 3); }
    FtlResult<SimTime> do_write(Lpn, std::uint32_t, std::span<const std::byte>, const Io&) override { return note("write", 4); }
    FtlResult<SimTime> do_write_each(std::span<const Lpn>, std::span<const std::byte>, const Io&) override { return note("write_each", 10); }
    FtlResult<WrittenLine> do_write_line(std::span<const Lpn>, std::span<const std::byte>, const Io&) override {
        return WrittenLine{*note("write_line", 12), 1};
    }
    FtlResult<SimTime> do_trim(Lpn, std::uint32_t, const Io&) override { return note("trim", 5); }
    FtlResult<SimTime> do_flush(const Io&) override { return note("flush", 6); }
    SimTime do_idle(SimTime) override { return *note("idle", 7); }
    FtlResult<SimTime> do_relocate(BlockId, SimTime, Cause) override { return note("relocate", 8); }
    FtlResult<SimTime> do_shut_down(SimTime) override { return note("shut_down", 9); }
    bool do_is_mapped(Lpn) const override { return note("is_mapped", 0).has_value(); }
    BlockStatus do_status_of(BlockId) const override { return {BlockUse::log, 4}; }
    std::vector<CheckProblem> do_check() override { return {{"X", "here", "broken"}}; }
};

} // namespace

TEST_CASE("a forwarding translation layer passes every call on and every answer back", "[ftl][contract]") {
    Noting below;
    ForwardingFtl ftl{below};
    CHECK(ftl.name() == "noting");
    CHECK(ftl.logical_page_bytes() == 512);
    CHECK(ftl.logical_pages() == 100);
    CHECK(ftl.shape().blocks == 10);
    CHECK(ftl.durable_when_answered());
    CHECK(ftl.mapping_space() == &below.maps);
    CHECK(ftl.counters().host_pages_read == 17);
    CHECK(ftl.space().free_blocks == 3);
    CHECK(ftl.status_of(BlockId{1}).valid_pages == 4);
    CHECK(ftl.recover(sim_start)->pages_scanned == 5);
    const Origin origin{Cause::user, no_event};
    CHECK(ftl.read(Lpn{1}, 1, {}, {sim_start, origin}) == at(2));
    CHECK(ftl.read_part(Lpn{1}, 0, 4, {}, {sim_start, origin}) == at(3));
    CHECK(ftl.write(Lpn{1}, 1, {}, {sim_start, origin}) == at(4));
    CHECK(ftl.pages_a_line() == 6);
    CHECK(ftl.write_each(std::array{Lpn{1}, Lpn{7}}, {}, {sim_start, origin}) == at(10));
    CHECK(ftl.write_line(std::array{Lpn{1}, Lpn{7}}, {}, {sim_start, origin})->done == at(12));
    CHECK(ftl.trim(Lpn{1}, 1, {sim_start, origin}) == at(5));
    CHECK(ftl.flush({sim_start, origin}) == at(6));
    CHECK(ftl.idle(sim_start) == at(7));
    CHECK(ftl.relocate(BlockId{1}, sim_start) == at(8));
    CHECK(ftl.is_mapped(Lpn{1}));
    CHECK(ftl.check().front().invariant == "X");
    CHECK(ftl.shut_down(sim_start) == at(9));
    CHECK(below.calls == std::vector<std::string>{"recover", "read", "read_part", "write", "write_each", "write_line", "trim", "flush", "idle",
                                                  "relocate", "is_mapped", "shut_down"});
}

TEST_CASE("a decorator of a translation layer that runs already runs, too, and one of a new one does not", "[ftl][contract]") {
    Noting below;
    ForwardingFtl early{below};
    CHECK_THROWS_AS(early.flush({sim_start, {}}), ContractViolation);
    REQUIRE(below.recover(sim_start));
    ForwardingFtl late{below};
    CHECK(late.flush({sim_start, {}}).has_value());
    CHECK_THROWS_AS(late.recover(sim_start), ContractViolation);
}

TEST_CASE("an object whose recover() failed can do nothing more", "[ftl][contract]") {
    struct Failing final : Noting {
        FtlResult<FtlRecovery> do_recover(SimTime now) override { return std::unexpected(FtlError{FtlErrorKind::foreign, Lpn{0}, now}); }
    };
    Failing ftl;
    CHECK_FALSE(ftl.recover(sim_start).has_value());
    CHECK_THROWS_AS(ftl.recover(sim_start), ContractViolation);
    CHECK_THROWS_AS(ftl.read(Lpn{0}, 1, {}, {sim_start, {}}), ContractViolation);
    CHECK_THROWS_AS(ftl.shut_down(sim_start), ContractViolation);
    CHECK(ftl.calls.empty());
}

TEST_CASE("a translation layer that does not run has nothing to do in the background, and is not asked", "[ftl][contract]") {
    Noting ftl;
    CHECK(ftl.idle(sim_start) == sim_never);
    REQUIRE(ftl.recover(sim_start));
    CHECK(ftl.idle(sim_start) == at(7));
    REQUIRE(ftl.shut_down(sim_start));
    CHECK(ftl.idle(sim_start) == sim_never);
}

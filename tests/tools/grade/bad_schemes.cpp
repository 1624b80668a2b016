#include "tests/tools/grade/bad_schemes.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <vector>

#include <unistd.h>

#include "crash/lying_ftl.h"
#include "ftl/admit_scheme.h"
#include "ftl/make_ftl.h"

namespace flashlab::test {

namespace {

const Scheme& honest() { return *find_scheme("page_map").value(); }

struct LosesAWrite : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
        return ++writes % 37 == 0 ? FtlResult<SimTime>{io.when} : LyingFtl::do_write(first, pages, from, io);
    }
    std::uint64_t writes = 0;
};
struct TrimsNothing : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_trim(Lpn, std::uint32_t, const Io& io) override { return io.when; }
};
struct FlushesNothing : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_flush(const Io& io) override { return io.when; }
};
/// Nothing reaches the flash: all drives share one map in RAM, which outlives them.
struct RemembersInRam : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
        for (std::uint32_t i = 0; i < pages; ++i) {
            const auto page = from.subspan(std::size_t{i} * logical_page_bytes(), from.empty() ? 0 : logical_page_bytes());
            all[first.value() + i].assign(page.begin(), page.end());
        }
        return io.when + Duration{1000};
    }
    FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override {
        std::ranges::fill(to, std::byte{0});
        for (std::uint32_t i = 0; i < pages && !to.empty(); ++i)
            if (const auto page = all.find(first.value() + i); page != all.end())
                std::ranges::copy(page->second, to.begin() + static_cast<std::ptrdiff_t>(std::size_t{i} * logical_page_bytes()));
        return io.when + Duration{1000};
    }
    inline static std::map<std::uint32_t, std::vector<std::byte>> all;
};
struct ReadsPartsWrong : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) override {
        const auto done = LyingFtl::do_read_part(lpn, offset, bytes, to, io);
        if (!to.empty()) to.front() ^= std::byte{1};
        return done;
    }
};
/// As with an index of a map that is too narrow: no small drive shows it.
struct LosesHighPages : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
        return first.value() >= 4096 ? FtlResult<SimTime>{io.when} : LyingFtl::do_write(first, pages, from, io);
    }
};
struct Crashes : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
        if (++writes == 50) ::raise(SIGSEGV);
        return LyingFtl::do_write(first, pages, from, io);
    }
    int writes = 0;
};
struct Hangs : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_flush(const Io& io) override {
        for (volatile int i = 0; i >= 0;) i = 0;
        return LyingFtl::do_flush(io);
    }
};
struct EndsTheProcess : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_trim(Lpn, std::uint32_t, const Io&) override { std::_Exit(0); }
};
struct Throws : LyingFtl {
    using LyingFtl::LyingFtl;
    SimTime do_idle(SimTime) override { throw std::out_of_range{"index 7 of 7"}; }
};
struct Differs : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_flush(const Io& io) override {
        auto done = LyingFtl::do_flush(io);
        if (done) *done += Duration{++flushes};
        return done;
    }
    inline static std::int64_t flushes = 0; ///< of all drives of the process
};
struct AnswersBefore : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
        const auto done = LyingFtl::do_write(first, pages, from, io);
        return done ? FtlResult<SimTime>{sim_start} : done;
    }
};
struct ForgetsTheShutdown : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_shut_down(SimTime now) override { return now; }
};
struct ShowsOnes : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override {
        const auto done = LyingFtl::do_read(first, pages, to, io);
        if (!is_mapped(first)) std::ranges::fill(to, std::byte{0xff});
        return done;
    }
};
struct LosesARelocatedPage : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_relocate(BlockId block, SimTime now, Cause cause) override {
        (void)below().trim(Lpn{1}, 1, {now, {}});
        return LyingFtl::do_relocate(block, now, cause);
    }
};
struct LosesAPageByAKill : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<FtlRecovery> do_recover(SimTime now) override {
        auto found = LyingFtl::do_recover(now);
        if (found && !found->was_clean) (void)below().trim(Lpn{0}, 1, {now, {}});
        return found;
    }
};
struct GivesUp : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
        if ((written += pages) > 9 * logical_pages()) return std::unexpected(FtlError{FtlErrorKind::read_only, first, io.when});
        return LyingFtl::do_write(first, pages, from, io);
    }
    std::uint64_t written = 0;
};
struct BreaksForAMoment : LyingFtl {
    using LyingFtl::LyingFtl;
    std::vector<CheckProblem> do_check() override {
        if (counters().host_pages_written % 16 == 7) return {{"P1", "page 7", "is mapped twice"}};
        return LyingFtl::do_check();
    }
};
struct EndsWithTheFirstBadBlock : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
        if (counters().retired_blocks != 0) return std::unexpected(FtlError{FtlErrorKind::read_only, first, io.when});
        return LyingFtl::do_write(first, pages, from, io);
    }
};
struct LosesBlocks : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<FtlRecovery> do_recover(SimTime now) override {
        ++recoveries;
        return LyingFtl::do_recover(now);
    }
    [[nodiscard]] FtlSpace space() const override {
        FtlSpace space = LyingFtl::space();
        if (recoveries > 800) ++space.bad_blocks;
        return space;
    }
    inline static std::uint32_t recoveries = 0;
};

// What reports are made of, and no request shows.
template <auto changes>
struct ChangesSpace : LyingFtl {
    using LyingFtl::LyingFtl;
    [[nodiscard]] FtlSpace space() const override {
        FtlSpace space = LyingFtl::space();
        changes(space);
        return space;
    }
};
using HasNoFreeBlock = ChangesSpace<[](FtlSpace& space) { space.free_blocks = 0; }>;
using SaysReadOnly = ChangesSpace<[](FtlSpace& space) { space.is_read_only = true; }>;
using HasABadBlock = ChangesSpace<[](FtlSpace& space) { ++space.bad_blocks; }>;
using MapsOneMore = ChangesSpace<[](FtlSpace& space) { ++space.mapped_pages; }>;
template <auto changes>
struct ChangesCounters : LyingFtl {
    using LyingFtl::LyingFtl;
    [[nodiscard]] FtlCounters counters() const override {
        FtlCounters counters = LyingFtl::counters();
        changes(counters);
        return counters;
    }
};
using CountsNothing = ChangesCounters<[](FtlCounters& counters) { counters = {}; }>;
using CountsARetirement = ChangesCounters<[](FtlCounters& counters) { ++counters.retired_blocks; }>;
using CountsNoCopies = ChangesCounters<[](FtlCounters& counters) { counters.gc_page_copies = 0; }>;
using CountsNoJobs = ChangesCounters<[](FtlCounters& counters) { counters.gc_jobs = 0; }>;
using CountsJobsTwice = ChangesCounters<[](FtlCounters& counters) { counters.gc_jobs *= 1000; }>;
using HasNoSpare = ChangesSpace<[](FtlSpace& space) { space.spare_blocks = 0; }>;
using HasTooManySpare = ChangesSpace<[](FtlSpace& space) { space.spare_blocks += 1000; }>;
using EndsTooSoon = ChangesSpace<[](FtlSpace& space) { space.spare_at_end += 1000; }>;
template <auto changes>
struct ChangesRecovery : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<FtlRecovery> do_recover(SimTime now) override {
        auto found = LyingFtl::do_recover(now);
        if (found) changes(*found);
        return found;
    }
};
using WasAlwaysClean = ChangesRecovery<[](FtlRecovery& found) { found.was_clean = true; }>;
using ReadTooMuch = ChangesRecovery<[](FtlRecovery& found) { found.pages_scanned += 1'000'000; }>;
struct LosesTheEndOfLongLists : LyingFtl {
    using LyingFtl::LyingFtl;
    [[nodiscard]] std::uint32_t pages_a_batch() const override { return 64; }
    FtlResult<SimTime> do_write_each(std::span<const Lpn> pages, std::span<const std::byte> from, const Io& io) override {
        const std::size_t some = std::min<std::size_t>(pages.size(), 48);
        return LyingFtl::do_write_each(pages.first(some), from.first(from.empty() ? 0 : some * logical_page_bytes()), io);
    }
};
struct KnowsItsProcess : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override {
        auto done = LyingFtl::do_read(first, pages, to, io);
        if (done) *done += Duration{::getpid()};
        return done;
    }
};
struct CallsAllFree : LyingFtl {
    using LyingFtl::LyingFtl;
    BlockStatus do_status_of(BlockId) const override { return {}; }
};
struct HasTooManyValid : LyingFtl {
    using LyingFtl::LyingFtl;
    BlockStatus do_status_of(BlockId block) const override { return {LyingFtl::do_status_of(block).use, 1}; }
};
struct CountsBackwards : LyingFtl {
    using LyingFtl::LyingFtl;
    [[nodiscard]] FtlCounters counters() const override {
        FtlCounters counters = LyingFtl::counters();
        counters.gc_jobs = left == 0 ? 0 : left--;
        return counters;
    }
    mutable std::uint64_t left = 5;
};
struct HasNothingValid : LyingFtl {
    using LyingFtl::LyingFtl;
    BlockStatus do_status_of(BlockId block) const override { return {LyingFtl::do_status_of(block).use, 0}; }
};
struct MapsAll : LyingFtl {
    using LyingFtl::LyingFtl;
    bool do_is_mapped(Lpn) const override { return true; }
};
/// What no small drive shows: an index that is too narrow.
struct TrimsLowPagesOnly : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override {
        return first.value() >= 4096 ? FtlResult<SimTime>{io.when} : LyingFtl::do_trim(first, pages, io);
    }
};

std::expected<FtlPlan, std::string> another_plan(const SsdConfig& config, const Geometry& geometry) {
    static std::uint32_t asked = 0;
    auto plan = honest().plan(config, geometry);
    if (plan) plan->spare_blocks += ++asked;
    return plan;
}

std::expected<FtlPlan, std::string> bold_plan(const SsdConfig& config, const Geometry& geometry) {
    auto plan = honest().plan(config, geometry);
    if (plan) plan->expected_waf = 0.1;
    return plan;
}

template <class Liar>
const Scheme* with(std::string_view name) {
    static const Scheme scheme{.name = name,
                               .idea = "page_map with a defect",
                               .keys = honest().keys,
                               .plan = honest().plan,
                               .make = [](const FtlParts& parts) -> std::expected<std::unique_ptr<Ftl>, std::string> {
                                   auto real = honest().make(parts);
                                   if (!real) return real;
                                   return std::make_unique<Liar>(std::move(*real));
                               }};
    return &scheme;
}

const Scheme* with_another_plan(std::string_view name) {
    static const Scheme scheme{.name = name, .idea = "a plan that changes", .keys = honest().keys, .plan = another_plan, .make = honest().make};
    return &scheme;
}

const Scheme* with_a_bold_plan(std::string_view name) {
    static const Scheme scheme{.name = name, .idea = "too good", .keys = honest().keys, .plan = bold_plan, .make = honest().make};
    return &scheme;
}

std::expected<FtlPlan, std::string> half_a_plan(const SsdConfig& config, const Geometry& geometry) {
    auto plan = honest().plan(config, geometry);
    if (plan) plan->logical_pages /= 2;
    return plan;
}

} // namespace

const Scheme& loses_high_pages() { return *with<LosesHighPages>("bad_high"); }

const Scheme& trims_low_pages() { return *with<TrimsLowPagesOnly>("bad_high_trim"); }

const Scheme& gives_half_the_drive() {
    static const Scheme scheme{.name = "bad_half", .idea = "half the pages", .keys = honest().keys, .plan = half_a_plan, .make = honest().make};
    return scheme;
}

std::span<const BadScheme> bad_schemes() {
    static const std::vector<BadScheme> all = [] {
        std::vector<BadScheme> bad{
            {with_another_plan("bad_plan"), "plan", "two ways"},
            {with_a_bold_plan("bad_bold"), "plan", "write amplification of 0.1"},
            {with<ShowsOnes>("bad_new"), "new", "unit"},
            {with<LosesAWrite>("bad_write"), "requests", "unit"},
            {with<ReadsPartsWrong>("bad_part"), "sound", "read of its part"},
            {with<Crashes>("bad_crash"), "requests", "signal 11"},
            {with<EndsTheProcess>("bad_exit"), "requests", "exit code 0"},
            {with<Throws>("bad_throw"), "requests", "index 7 of 7"},
            {with<Hangs>("bad_hang"), "sound", "does not end"},
            {with<BreaksForAMoment>("bad_moment"), "sound", "mapped twice"},
            {with<AnswersBefore>("bad_answer"), "sound", "before it was asked"},
            {with<HasNoFreeBlock>("bad_free"), "truth", "free blocks"},
            {with<SaysReadOnly>("bad_ro"), "truth", "read-only"},
            {with<MapsOneMore>("bad_mapped"), "truth", "mapped pages"},
            {with<HasABadBlock>("bad_bad"), "truth", "bad blocks"},
            {with<CountsARetirement>("bad_retired"), "truth", "retired_blocks"},
            {with<HasTooManyValid>("bad_too_valid"), "truth", "can have"},
            {with<CountsBackwards>("bad_backwards"), "truth", "fell from"},
            {with<CallsAllFree>("bad_use"), "truth", "free blocks"},
            {with<HasNothingValid>("bad_valid"), "truth", "0 valid pages"},
            {with<MapsAll>("bad_is_mapped"), "truth", "mapped"},
            {with<CountsNothing>("bad_counters"), "truth", "host_pages"},
            {with<CountsNoCopies>("bad_copies"), "truth", "gc_page_copies"},
            {with<CountsNoJobs>("bad_jobs"), "truth", "gc_jobs"},
            {with<CountsJobsTwice>("bad_many_jobs"), "truth", "gc_jobs"},
            {with<HasNoSpare>("bad_no_spare"), "truth", "spare blocks"},
            {with<HasTooManySpare>("bad_spare"), "truth", "spare blocks"},
            {with<EndsTooSoon>("bad_spare_end"), "truth", "spare blocks"},
            {with<ReadTooMuch>("bad_scan"), "truth", "spare areas"},
            {with<GivesUp>("bad_end"), "overwrites", "read_only"},
            {with<TrimsNothing>("bad_trim"), "trims", "unit"},
            {with<ForgetsTheShutdown>("bad_shutdown"), "shutdown", "clean shutdown"},
            {with<LosesAPageByAKill>("bad_kill"), "kill", "unit 0"},
            {with<WasAlwaysClean>("bad_clean"), "kill", "clean shutdown"},
            {with<LosesTheEndOfLongLists>("bad_lists"), "lists", "unit"},
            {with<KnowsItsProcess>("bad_process"), "same", "in another process"},
            {with<LosesARelocatedPage>("bad_relocation"), "relocation", "unit 1"},
            {with<RemembersInRam>("bad_ram"), "apart", "unit"},
            {with<RemembersInRam>("bad_ram"), "flash", "programs"},
            {with<Differs>("bad_time"), "same", "second time"},
            {with<EndsWithTheFirstBadBlock>("bad_failure"), "failures", "read_only"},
            {with<FlushesNothing>("bad_flush"), "cuts", "unit"},
            {with<LosesBlocks>("bad_leak"), "leaks", "went bad"},
        };
        for (const BadScheme& one : bad) (void)admit_scheme(*one.scheme); // one is in it twice
        return bad;
    }();
    return all;
}

} // namespace flashlab::test

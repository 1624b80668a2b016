// Goal: each look that the cuts in a row take is needed. Method: a drive that is sound but for one answer, at one moment; the run must end there,
// with the words of the one look that falls into that moment.
#include "crash/endurance.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "crash/forwarding_page_store.h"
#include "crash/lying_ftl.h"
#include "ftl/make_ftl.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

enum class Call : std::uint8_t { none, recover, write, trim, flush, read, check, space, cells };
enum class When : std::uint8_t { early, in_fill };

constexpr std::uint64_t cuts_to_first_fill = 500;
constexpr std::uint32_t a_round = 3; ///< requests at most; a drive that is written to more often is being filled

/// Sound but for one call; what space() tells stays wrong for as long as the moment lasts. Counts what is asked of the drive, too.
class FailsOnce : public Sabotage {
public:
    explicit FailsOnce(Call call = Call::none, When when = When::early, std::uint32_t start = 0) : call_{call}, when_{when}, from_{start} {}

    std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) override {
        ++starts_;
        writes_ = 0;
        return std::make_unique<Scheme>(std::move(ftl), *this);
    }
    std::unique_ptr<PageStore> around(PageStore& store) override { return std::make_unique<Cells>(store, *this); }

    std::array<std::uint32_t, 9> asked{}; ///< by call
    std::uint32_t fills = 0;              ///< flushes of a drive that was filled

protected:
    [[nodiscard]] bool strikes(Call call) {
        ++asked[static_cast<std::size_t>(call)];
        if (call != call_ || (has_struck_ && call != Call::space) || starts_ < from_ || (when_ == When::in_fill) != is_filling()) return false;
        return has_struck_ = true;
    }

private:
    /// From the write that no round has, to the next power-on's first write: what follows the fill belongs to it.
    [[nodiscard]] bool is_filling() const { return is_filling_; }

    struct Inside {
        explicit Inside(FailsOnce& by) : by_{by} { ++by_.depth_; }
        ~Inside() { --by_.depth_; }
        FailsOnce& by_;
    };
    struct Scheme : LyingFtl {
        Scheme(std::unique_ptr<Ftl> real, FailsOnce& by) : LyingFtl{std::move(real)}, by_{by} {}
        [[nodiscard]] auto refuse(FtlErrorKind kind, SimTime now) const { return std::unexpected(FtlError{.kind = kind, .done = now}); }
        FtlResult<FtlRecovery> do_recover(SimTime now) override {
            const Inside inside{by_};
            if (by_.strikes(Call::recover)) return refuse(FtlErrorKind::lost_page, now);
            return below().recover(now);
        }
        FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
            const Inside inside{by_};
            by_.is_filling_ = ++by_.writes_ > a_round;
            if (by_.strikes(Call::write)) return refuse(FtlErrorKind::read_only, io.when);
            return below().write(first, pages, from, io);
        }
        FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override {
            const Inside inside{by_};
            if (by_.strikes(Call::trim)) return refuse(FtlErrorKind::read_only, io.when);
            return below().trim(first, pages, io);
        }
        FtlResult<SimTime> do_flush(const Io& io) override {
            const Inside inside{by_};
            if (by_.is_filling()) ++by_.fills;
            if (by_.strikes(Call::flush)) return refuse(FtlErrorKind::read_only, io.when);
            return below().flush(io);
        }
        FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override {
            const Inside inside{by_};
            if (by_.strikes(Call::read)) return refuse(FtlErrorKind::lost_page, io.when);
            return below().read(first, pages, to, io);
        }
        SimTime do_idle(SimTime now) override {
            const Inside inside{by_};
            return below().idle(now);
        }
        std::vector<CheckProblem> do_check() override {
            const Inside inside{by_};
            auto found = below().check();
            if (by_.strikes(Call::check)) found.push_back({.invariant = "a lie", .where = {}, .detail = {}});
            return found;
        }
        [[nodiscard]] FtlSpace space() const override {
            FtlSpace space = below().space();
            if (by_.strikes(Call::space)) ++space.bad_blocks;
            return space;
        }
        FailsOnce& by_;
    };
    /// The image fails, but only while no function of the scheme runs: when the power is being cut.
    struct Cells : ForwardingPageStore {
        Cells(PageStore& real, FailsOnce& by) : ForwardingPageStore{real}, by_{by} {}
        std::expected<void, HostIoError> write_record(Ppn page, const PageRecord& record) override {
            if (by_.depth_ == 0 && by_.strikes(Call::cells)) return std::unexpected(HostIoError{EIO});
            return real_.write_record(page, record);
        }
        FailsOnce& by_;
    };

    Call call_;
    When when_;
    std::uint32_t from_;
    std::uint32_t starts_ = 0;
    std::uint32_t writes_ = 0; ///< since the power came
    std::uint32_t depth_ = 0;
    bool is_filling_ = false;
    bool has_struck_ = false;
};

std::string error_of(Sabotage& sabotage, std::uint64_t cuts = cuts_to_first_fill, const std::string& scheme = "page_map") {
    const auto endured = endure_cuts(scheme, "chip-slc", cuts, 1, &sabotage);
    return endured ? "" : endured.error();
}

/// What stands between the number of the cut and the fault: the requests and cuts since the last verdict.
std::string requests_in(const std::string& error) {
    const auto from = error.find(" (");
    return from == std::string::npos ? "" : error.substr(from + 1, error.find("):") - from - 1);
}

} // namespace

TEST_CASE("cuts in a row end at the first call that fails, and name it", "[crash][endure]") {
    const auto [call, when, words] = GENERATE(table<Call, When, std::string_view>({
        {Call::write, When::early, "): a write failed: read_only at sector "},
        {Call::trim, When::early, "): a request failed: read_only at sector "},
        {Call::flush, When::early, "): a request failed: read_only at sector "},
        {Call::read, When::early, "): a page cannot be read after recovery: uncorrectable at sector "},
        {Call::check, When::early, "): check: a lie"},
        {Call::write, When::in_fill, "): a write failed: read_only at sector "},
        {Call::flush, When::in_fill, "): the flush of a full device failed: read_only at sector "},
        {Call::recover, When::in_fill, "): recovery failed: uncorrectable at sector "},
        {Call::read, When::in_fill, "): a page cannot be read after recovery: uncorrectable at sector "},
        {Call::check, When::in_fill, "): check: a lie"},
        {Call::space, When::in_fill, "): a block went bad though none failed"},
    }));
    CAPTURE(static_cast<int>(call), static_cast<int>(when));
    FailsOnce sabotage{call, when, 3};
    const std::string error = error_of(sabotage);
    CHECK_THAT(error, ContainsSubstring(std::string{words}));
    CHECK(error.starts_with("cut 500 ") == (when == When::in_fill));
    CHECK(requests_in(error).starts_with("( w0x1 w1x1 w2x1 w3x1") == (when == When::in_fill));
    FailsOnce again{call, when, 3};
    CHECK(error_of(again) == error);
}

TEST_CASE("a drive that does not start ends the cuts in a row, whichever start it is", "[crash][endure]") {
    FailsOnce first{Call::recover};
    CHECK(error_of(first).starts_with("recovery failed: uncorrectable at sector "));
    for (std::uint32_t start = 2; start < 24; ++start) { // after the first cut of a round, or after that of the recovery
        CAPTURE(start);
        FailsOnce later{Call::recover, When::early, start};
        const std::string error = error_of(later);
        CHECK(error.starts_with("cut "));
        CHECK_THAT(error, ContainsSubstring("): recovery failed: uncorrectable at sector "));
    }
}

TEST_CASE("an image that fails while the power is cut ends the cuts in a row", "[crash][endure]") {
    int of_recoveries = 0;
    for (const std::string& scheme : all_schemes()) {
        for (std::uint32_t start = 1; start < 12; ++start) {
            CAPTURE(scheme, start);
            FailsOnce sabotage{Call::cells, When::early, start};
            const std::string error = error_of(sabotage, cuts_to_first_fill, scheme);
            CHECK_THAT(error, ContainsSubstring("): the cut failed: host_io"));
            if (requests_in(error).find('-') != std::string::npos) ++of_recoveries; // a cut stands there, so this one struck the recovery from it
        }
    }
    CHECK(of_recoveries > 0);
}

TEST_CASE("cuts in a row name the requests since the last verdict, and no earlier ones", "[crash][endure]") {
    for (std::uint32_t start = 2; start < 40; ++start) {
        FailsOnce sabotage{Call::check, When::early, start};
        const std::string requests = requests_in(error_of(sabotage));
        CAPTURE(start, requests);
        const auto count = std::ranges::count_if(requests, [](char c) { return c == 'w' || c == 't' || c == 'f'; });
        CHECK(count >= 1);
        CHECK(count <= a_round);
    }
}

TEST_CASE("cuts in a row ask for everything, cut recoveries, and count what they did", "[crash][endure]") {
    FailsOnce watched;
    const auto endured = endure_cuts("page_map", "chip-slc", 2000, 1, &watched);
    REQUIRE(endured.has_value());
    const auto asked = [&](Call call) { return watched.asked[static_cast<std::size_t>(call)]; };
    CHECK(endured->fills == 4);
    CHECK(watched.fills >= 4); // a round may begin with a flush
    CHECK(asked(Call::write) > 2000);
    CHECK(asked(Call::trim) > 200);
    CHECK(asked(Call::flush) > 200);
    CHECK(asked(Call::check) == 2000);
    CHECK(asked(Call::read) >= 2000);
    CHECK(endured->cuts == 2000);
    CHECK(endured->cuts_of_recovery > 400);
    CHECK(asked(Call::recover) == 1 + 2000 + endured->cuts_of_recovery);
    CHECK(endured->host_pages_written > asked(Call::write));
    CHECK(endured->host_pages_written < 3 * asked(Call::write));
    CHECK(endured->most_pages_scanned > 0);
    CHECK(endured->least_free_blocks > 0);
    CHECK(endured->least_free_blocks <= endured->first_free_blocks);
    CHECK(endured->erases > 0);
}

TEST_CASE("whoever looks on while the power is cut in a row changes nothing, and may end it", "[crash][endure]") {
    std::vector<EnduranceReport> seen;
    const auto look = [&](const EnduranceReport& r) { return seen.push_back(r), seen.size() < 2; };
    const auto alone = endure_cuts("page_map", "chip-slc", 2000, 1);
    const auto looked_at = endure_cuts("page_map", "chip-slc", 9000, 1, nullptr, look);
    REQUIRE(alone.has_value());
    REQUIRE(looked_at.has_value());
    REQUIRE(seen.size() == 2);
    CHECK(seen.front().cuts == 1000);
    CHECK(seen.front().erases < seen.back().erases);
    CHECK(looked_at->cuts == 2000);
    CHECK(looked_at->erases == alone->erases);
    CHECK(looked_at->host_pages_written == alone->host_pages_written);
}

TEST_CASE("blocks that are bad from the factory are no reason to stop, and a device that there is not is refused", "[crash][endure]") {
    const auto endured = endure_cuts("page_map", "uneven-slc", cuts_to_first_fill, 1);
    if (!endured) FAIL(endured.error());
    CHECK(endured->fills == 1);
    CHECK_FALSE(endure_cuts("page_map", "square-slc", 1, 1).has_value());
    CHECK_FALSE(endure_cuts("no_map", "chip-slc", 1, 1).has_value());
}

namespace {

/// The last page of a fill is answered and not written.
struct LosesLastOfFill : Sabotage {
    struct Scheme : LyingFtl {
        using LyingFtl::LyingFtl;
        FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
            if (++writes_ > a_round && first.value() + pages == logical_pages()) return io.when;
            return below().write(first, pages, from, io);
        }
        std::uint32_t writes_ = 0;
    };
    std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) override { return std::make_unique<Scheme>(std::move(ftl)); }
};

/// Tells fewer free blocks from a start on.
struct LosesBlocks : Sabotage {
    LosesBlocks(std::uint32_t start, std::uint32_t lost) : from{start}, blocks{lost} {}
    struct Scheme : LyingFtl {
        Scheme(std::unique_ptr<Ftl> real, std::uint32_t lost) : LyingFtl{std::move(real)}, lost_{lost} {}
        [[nodiscard]] FtlSpace space() const override {
            FtlSpace space = below().space();
            space.free_blocks -= std::min(lost_, space.free_blocks);
            return space;
        }
        std::uint32_t lost_;
    };
    std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) override { return std::make_unique<Scheme>(std::move(ftl), ++starts > from ? blocks : 0); }
    std::uint32_t from, blocks;
    std::uint32_t starts = 0;
};

/// A page that two verdicts have seen in its newer version shows the older one again, once, at the `turn`-th occasion.
struct GoesBack : Sabotage {
    explicit GoesBack(int turn) : left{turn} {}
    struct Scheme : LyingFtl {
        Scheme(std::unique_ptr<Ftl> real, GoesBack& by) : LyingFtl{std::move(real)}, by_{by} {}
        FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override {
            auto done = below().read(first, pages, to, io);
            if (pages == logical_pages() && !to.empty()) by_.look(to.first(to.size() / pages));
            return done;
        }
        GoesBack& by_;
    };
    std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) override { return std::make_unique<Scheme>(std::move(ftl), *this); }
    /// The first page of the drive, as each verdict reads it.
    void look(std::span<std::byte> page) {
        if (!std::ranges::equal(page, seen)) {
            older = std::exchange(seen, {page.begin(), page.end()});
        } else if (!older.empty() && older != seen && --left == 0) {
            std::ranges::copy(older, page.begin());
        }
    }
    std::vector<std::byte> older, seen;
    int left;
};

} // namespace

TEST_CASE("a page that a full drive was given and flushed is asked for after the cut", "[crash][endure]") {
    LosesLastOfFill sabotage;
    const std::string error = error_of(sabotage);
    CHECK(error.starts_with("cut 500 ( w0x1 w1x1"));
    CHECK_THAT(error, ContainsSubstring("allowed: write "));
}

TEST_CASE("free blocks that become fewer from one fill to the next are a leak, and are counted", "[crash][endure]") {
    constexpr std::uint32_t before_second_fill = 900, more_than_frontiers = EnduranceReport::frontiers + 1;
    LosesBlocks leak{before_second_fill, more_than_frontiers};
    LosesBlocks none{before_second_fill, 0};
    const auto sound = endure_cuts("page_map", "chip-slc", 4 * cuts_to_first_fill, 1, &none);
    const auto leaky = endure_cuts("page_map", "chip-slc", 4 * cuts_to_first_fill, 1, &leak);
    REQUIRE(sound.has_value());
    REQUIRE(leaky.has_value());
    CHECK_FALSE(sound->leaks());
    CHECK(leaky->leaks());
    CHECK(leaky->first_free_blocks == sound->first_free_blocks);
    CHECK(leaky->least_free_blocks < sound->least_free_blocks);
    CHECK(sound->least_free_blocks <= std::ranges::min(sound->last_free_blocks));
}

TEST_CASE("what one verdict has seen stays, though nobody flushed it", "[crash][endure]") {
    for (int turn = 1; turn <= 40; ++turn) {
        CAPTURE(turn);
        GoesBack sabotage{turn};
        CHECK_THAT(error_of(sabotage), ContainsSubstring("unit 0 shows "));
    }
}

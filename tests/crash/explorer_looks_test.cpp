// Where the explorer looks: a drive that lies at one moment only is seen by the one look that falls into it.
#include "crash/explorer.h"

#include "crash/lying_ftl.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

enum class Moment : std::uint8_t { running, recovered, written_on };
enum class Lie : std::uint8_t { of_check, of_read };

/// The first scheme that is written to is the one that runs the workload; the others have recovered, and one that is written to is written on.
class LiesOnce final : public Sabotage {
    struct Scheme : LyingFtl {
        Scheme(std::unique_ptr<Ftl> real, LiesOnce& by) : LyingFtl{std::move(real)}, by_{by} {}
        FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
            if (by_.runs_ == nullptr) by_.runs_ = this;
            is_written_ = true;
            return below().write(first, pages, from, io);
        }
        FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) override {
            auto done = below().read(first, pages, to, io);
            if (lies(Lie::of_read) && !to.empty()) to.front() ^= std::byte{1};
            return done;
        }
        std::vector<CheckProblem> do_check() override {
            auto found = below().check();
            if (lies(Lie::of_check)) found.push_back({.invariant = "a lie", .where = {}, .detail = {}});
            return found;
        }
        [[nodiscard]] bool lies(Lie about) const {
            const Moment moment = by_.runs_ == this ? Moment::running : is_written_ ? Moment::written_on : Moment::recovered;
            return by_.runs_ != nullptr && moment == by_.moment_ && about == by_.lie_;
        }
        LiesOnce& by_;
        bool is_written_ = false;
    };

public:
    LiesOnce(Moment moment, Lie lie) : moment_{moment}, lie_{lie} {}
    std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) override { return std::make_unique<Scheme>(std::move(ftl), *this); }

private:
    Moment moment_;
    Lie lie_;
    const Scheme* runs_ = nullptr;
};

} // namespace

TEST_CASE("a drive that lies at one moment only is seen by the look at that moment", "[crash][judges]") {
    const auto moment = GENERATE(Moment::running, Moment::recovered, Moment::written_on);
    const auto lie = GENERATE(Lie::of_check, Lie::of_read);
    CAPTURE(static_cast<int>(moment), static_cast<int>(lie));
    LiesOnce sabotage{moment, lie};
    const auto explorer = std::move(*Explorer::make("page_map", "chip-slc", &sabotage));
    ExploreReport report;
    ExploreLimits limits;
    limits.violations = 1;
    explorer->exhaust(*Workload::parse("w0x4.f.w1x2.f"), limits, report);
    REQUIRE(report.violations.size() == 1);
    const std::string& what = report.violations.front().what;
    CAPTURE(what);
    if (lie == Lie::of_check) CHECK(what.contains("a lie"));
    CHECK(what.contains("after writing on") == (moment == Moment::written_on));
    if (lie == Lie::of_read) CHECK(what.contains("without any cut") == (moment == Moment::running));
}

/// A whole device over stores in memory beside the reference model of what its pages may show, for tests: a difference fails the test.
///
/// Idea       Requests go to the device and to the model. cut(T) tears the stores as the seed says, reopens, and compares each page with the model.
/// Invariant  crash/reference_model.h; what is seen after a cut becomes the only past.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/random.h"
#include "crash/crash_device.h"
#include "crash/reference_model.h"
#include "crash/seeded_outcomes.h"
#include "tests/support/catch.h"
#include "tests/support/device_shapes.h"

namespace flashlab::test {

class CutRig {
public:
    explicit CutRig(const SsdConfig& config, Payload payload = Payload::keep, UndoPolicy undo = UndoPolicy::keep)
        : device_{make(config, payload, undo)} {
        open();
        model_ = std::make_unique<ReferenceModel>(ReferenceModel::of(ssd()));
        page_.resize(unit_bytes());
    }
    [[nodiscard]] std::uint32_t units() const { return model_->units(); }
    [[nodiscard]] std::uint32_t unit_bytes() const { return model_->unit_bytes(); }
    [[nodiscard]] Ssd& ssd() { return device_->ssd(); }
    [[nodiscard]] Ftl& ftl() { return device_->ftl(); }
    [[nodiscard]] NandArray& array() { return device_->array(); }
    [[nodiscard]] MemoryPageStore& page_store() { return device_->page_store(); }
    /// Pages programmed since the last power-on, for whatever cause.
    [[nodiscard]] std::uint64_t programs() {
        std::uint64_t all = 0;
        for (const std::uint64_t n : array().counters().programs) all += n;
        return all;
    }
    [[nodiscard]] const Geometry& geometry() const { return device_->geometry(); }
    [[nodiscard]] Sector sector(std::uint32_t unit) const { return model_->sector_of(unit); }
    void set_faults(NandFaults* faults) { device_->set_faults(faults); }
    SimTime now = sim_start;
    bool last_was_clean = false;

    /// Returns the completion; the model remembers when the request came and when it was answered.
    SimTime write(std::uint32_t unit, std::uint32_t count, WriteDurability durability = WriteDurability::volatile_ok, StreamId stream = no_stream) {
        return write_sectors(sector(unit), sectors_of(count), durability, stream);
    }
    SimTime write_sectors(Sector first, std::uint32_t sectors, WriteDurability durability = WriteDurability::volatile_ok,
                          StreamId stream = no_stream) {
        const auto done = ssd().write(first, sectors, model_->stamp(first, sectors), durability, {now, stream});
        if (!done) FAIL("write failed: " << describe(done.error()));
        model_->wrote(first, sectors, now, *done, durability);
        return *done;
    }
    SimTime trim(std::uint32_t unit, std::uint32_t count) { return trim_sectors(sector(unit), sectors_of(count)); }
    SimTime trim_sectors(Sector first, std::uint64_t sectors) {
        const auto done = ssd().trim(first, sectors, now);
        if (!done) FAIL("trim failed: " << describe(done.error()));
        model_->trimmed(first, sectors, now, *done);
        return *done;
    }
    SimTime flush() {
        const auto done = ssd().flush(now);
        if (!done) FAIL("flush failed: " << describe(done.error()));
        model_->flushed(now, *done);
        return *done;
    }
    /// One random request, collection slice or pause.
    void step(Random& random) {
        const std::uint64_t what = random.below(20);
        const auto unit = static_cast<std::uint32_t>(random.below(random.chance(1, 2) ? units() : units() / 4 + 1));
        const auto count = static_cast<std::uint32_t>(1 + random.below(std::min<std::uint64_t>(units() - unit, random.chance(1, 4) ? 12 : 2)));
        SimTime done = now;
        if (what < 13)
            done = write(unit, count);
        else if (what < 14)
            done = write(unit, count, WriteDurability::fua);
        else if (what < 15)
            done = part_of(unit, count, random);
        else if (what < 17)
            done = trim(unit, count);
        else if (what < 18)
            done = flush();
        else
            (void)ssd().tick(now);
        // Half of the requests are waited for, the others overlap.
        now = random.chance(1, 2) ? std::max(now, done) : now + Duration{static_cast<std::int64_t>(random.below(300'000))};
    }

    /// Up to 80 steps, and pauses in which the drive works for itself. No cut will lie before the time returned, when they began.
    SimTime steps_and_pauses(Random& random) {
        const SimTime from = now;
        settle();
        for (std::uint64_t k = 1 + random.below(80); k > 0; --k) {
            step(random);
            if (random.chance(1, 4)) now = std::max(now, std::min(ssd().tick(now), now + Duration{5'000'000}));
        }
        require_sound();
        return from;
    }
    /// The drive is left, cleanly or by a cut that lies not before `from`, and comes back sound.
    void leave(SimTime from, Random& random) {
        if (random.chance(1, 4))
            remount_clean();
        else
            cut_once_or_twice(random_moment(random, from), random);
        require_sound();
    }

    void check_unit(std::uint32_t unit) {
        read_unit(unit);
        if (!model_->shows_newest(unit, page_)) FAIL(model_->explain(unit, page_, forever));
    }
    void check_all() {
        require_sound();
        for (std::uint32_t u = 0; u < units(); ++u) check_unit(u);
    }
    void require_sound() {
        const auto problems = ssd().check();
        for (const CheckProblem& p : problems) UNSCOPED_INFO(p.invariant << " " << p.where << ": " << p.detail);
        REQUIRE(problems.empty());
    }
    /// No cut will lie before now.
    void settle() {
        ssd().settle(now);
        model_->settle(now);
    }
    [[nodiscard]] bool is_zero(std::uint32_t unit) {
        read_unit(unit);
        return std::ranges::all_of(page_, [](std::byte b) { return b == std::byte{0}; });
    }
    void require_readable() {
        for (std::uint32_t u = 0; u < units(); ++u) read_unit(u);
    }

    /// The power fails at `at`; the device is opened again and its pages compared.
    void cut(SimTime at, std::uint64_t seed) {
        tear(at, seed);
        open();
        compare_after(at);
    }
    /// The same, and nothing is compared: of a drive that lies.
    void cut_unjudged(SimTime at, std::uint64_t seed) {
        tear(at, seed);
        open();
    }
    /// The power fails again while the device recovers.
    void cut_twice(SimTime at, Random& random) {
        tear(at, random.next());
        open();
        tear(random_moment(random, opened_at_), random.next());
        open();
        compare_after(at);
    }
    /// One of the two, drawn.
    void cut_once_or_twice(SimTime at, Random& random) {
        if (random.chance(1, 2))
            cut_twice(at, random);
        else
            cut(at, random.next());
    }
    /// The process dies: everything issued is complete, nothing was shut down. What was promised is there, as after any cut.
    void kill() {
        device_->power_off();
        now += Duration{1'000'000'000};
        open();
        compare_after(forever);
    }
    /// The same, and nothing is compared.
    void reopen() {
        device_->power_off();
        now += Duration{1'000'000'000};
        open();
    }
    void remount_clean() {
        const auto down = ssd().shut_down(now);
        REQUIRE(down.has_value());
        model_->flushed(forever, *down);
        now = std::max(now, *down);
        device_->power_off();
        open();
        REQUIRE(last_was_clean);
    }
    [[nodiscard]] SimTime random_moment(Random& random, SimTime from) {
        const std::int64_t span = std::max<std::int64_t>(0, (ssd().last_reserved_end() - from).count());
        return from + Duration{static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(span) + 1))};
    }

private:
    /// Later than everything issued, earlier than what is never durable.
    static constexpr SimTime forever = sim_never - Duration{1};

    static std::unique_ptr<CrashDevice> make(const SsdConfig& config, Payload payload, UndoPolicy undo) {
        auto made = CrashDevice::make(config, payload, undo);
        if (!made) FAIL(made.error());
        return std::move(*made);
    }
    [[nodiscard]] std::uint32_t sectors_of(std::uint32_t units) const { return units * (unit_bytes() / sector_bytes); }
    SimTime part_of(std::uint32_t unit, std::uint32_t count, Random& random) {
        const std::uint32_t sectors = sectors_of(count);
        const auto skipped = static_cast<std::uint32_t>(random.below(sectors));
        const auto length = static_cast<std::uint32_t>(1 + random.below(sectors - skipped));
        const Sector first{sector(unit).value() + skipped};
        return random.chance(1, 4) ? trim_sectors(first, length) : write_sectors(first, length);
    }
    void open() {
        const auto recovered = device_->power_on(now);
        if (!recovered) FAIL(recovered.error());
        last_was_clean = recovered->was_clean;
        opened_at_ = now;
        now = recovered->done;
    }
    void read_unit(std::uint32_t unit) {
        std::ranges::fill(page_, std::byte{0xee});
        const auto done = ssd().read(sector(unit), unit_bytes() / sector_bytes, page_, now);
        if (!done) FAIL("read of unit " << unit << " failed: " << describe(done.error()));
    }
    void tear(SimTime at, std::uint64_t seed) {
        SeededCutOutcomes nand{seed, device_->config().nand.options.paired_pages};
        SeededPramCutOutcomes pram{seed ^ 0x5eed};
        const auto torn = device_->cut(at, nand, pram);
        if (!torn) FAIL(torn.error());
        now = at + Duration{1'000'000};
    }
    void compare_after(SimTime at) {
        require_sound();
        for (std::uint32_t u = 0; u < units(); ++u) {
            read_unit(u);
            const auto seen = model_->match(u, page_, at);
            if (!seen) FAIL(model_->explain(u, page_, at));
            model_->adopt(u, *seen);
        }
    }

    std::unique_ptr<CrashDevice> device_;
    std::unique_ptr<ReferenceModel> model_;
    SimTime opened_at_ = sim_start;
    std::vector<std::byte> page_;
};

} // namespace flashlab::test

#include "tools/grade/grade_rig.h"

#include <algorithm>

#include <fmt/format.h>

namespace flashlab {

namespace {

constexpr SimTime forever = sim_never - Duration{1};

} // namespace

std::unique_ptr<Ftl> GradeRig::Watch::around(std::unique_ptr<Ftl> scheme) {
    auto witness = std::make_unique<Witness>(std::move(scheme), [this](std::string what) { rig_.is_wrong(std::move(what)); });
    rig_.witness_ = witness.get();
    return witness;
}

GradeRig::GradeRig(const SsdConfig& config) {
    auto made = CrashDevice::make(config, Payload::keep, UndoPolicy::none);
    if (!made) {
        wrong_ = "refuses the drive: " + made.error();
        return;
    }
    device_ = std::move(*made);
    device_->set_sabotage(&watch_);
    open();
    if (wrong_) return;
    model_ = std::make_unique<ReferenceModel>(ReferenceModel::of(device_->ssd()));
    page_.resize(model_->unit_bytes());
}

void GradeRig::is_wrong(std::string what) {
    if (!wrong_) wrong_ = std::move(what);
}

void GradeRig::open() {
    const auto on = device_->power_on(now_);
    if (!on) return is_wrong(on.error());
    if (on->done < now_) return is_wrong("the recovery ends before it began");
    was_clean_ = on->was_clean;
    has_changed_ = false;
    if (const std::uint64_t most = device_->array().counters().reads[std::to_underlying(Cause::recovery)]; on->pages_scanned > most)
        is_wrong(fmt::format("the recovery says that it read {} spare areas, and {} pages were read for it", on->pages_scanned, most));
    now_ = on->done;
}

bool GradeRig::answered(std::string_view what, const DeviceResult<SimTime>& done) {
    if (!done) is_wrong(fmt::format("{} failed: {}", what, describe(done.error())));
    return !wrong_;
}

void GradeRig::write(std::uint32_t unit, std::uint32_t count, WriteDurability durability) {
    if (!works()) return;
    const Sector first = model_->sector_of(unit);
    const std::uint32_t sectors = count * (model_->unit_bytes() / sector_bytes);
    const auto done = device_->ssd().write(first, sectors, model_->stamp(first, sectors), durability, now_);
    if (!answered("a write", done)) return;
    model_->wrote(first, sectors, now_, *done, durability);
    has_changed_ = true;
    now_ = *done;
}

void GradeRig::trim(std::uint32_t unit, std::uint32_t count) {
    if (!works()) return;
    const Sector first = model_->sector_of(unit);
    const std::uint32_t sectors = count * (model_->unit_bytes() / sector_bytes);
    const auto done = device_->ssd().trim(first, sectors, now_);
    if (!answered("a trim", done)) return;
    model_->trimmed(first, sectors, now_, *done);
    has_changed_ = true;
    now_ = *done;
}

void GradeRig::flush() {
    if (!works()) return;
    const auto done = device_->ssd().flush(now_);
    if (!answered("a flush", done)) return;
    model_->flushed(now_, *done);
    now_ = *done;
}

void GradeRig::step(Random& random) {
    if (!works()) return;
    const std::uint64_t what = random.below(16);
    const auto unit = static_cast<std::uint32_t>(random.below(random.chance(1, 2) ? units() : units() / 4 + 1));
    const auto count = static_cast<std::uint32_t>(1 + random.below(std::min<std::uint64_t>(units() - unit, random.chance(1, 4) ? 12 : 2)));
    const SimTime before = now_;
    if (what < 11)
        write(unit, count, what == 0 ? WriteDurability::fua : WriteDurability::volatile_ok);
    else if (what < 13)
        trim(unit, count);
    else if (what < 14)
        flush();
    else
        (void)device_->ssd().tick(now_);
    if (random.chance(1, 2)) now_ = before + Duration{static_cast<std::int64_t>(random.below(300'000))};
}

void GradeRig::read_any(Random& random) {
    if (!works()) return;
    now_ = read(static_cast<std::uint32_t>(random.below(units())));
}

void GradeRig::relocate(BlockId block) {
    if (!works()) return;
    const auto moved = device_->ftl().relocate(block, now_);
    if (!moved) return is_wrong(fmt::format("relocate({}) failed", block.value()));
    now_ = std::max(now_, *moved);
}

SimTime GradeRig::read(std::uint32_t unit) {
    std::ranges::fill(page_, std::byte{0xee});
    const auto done = device_->ssd().read(model_->sector_of(unit), model_->unit_bytes() / sector_bytes, page_, now_);
    return answered(fmt::format("a read of page {}", unit), done) ? *done : now_;
}

void GradeRig::look() {
    if (!works()) return;
    const auto problems = device_->ssd().check();
    if (!problems.empty()) is_wrong(fmt::format("check: {} {}: {}", problems[0].invariant, problems[0].where, problems[0].detail));
}

void GradeRig::compare() {
    look();
    for (std::uint32_t unit = 0; works() && unit < units(); ++unit) {
        read(unit);
        if (!wrong_ && !model_->shows_newest(unit, page_)) is_wrong(model_->explain_newest(unit, page_));
        if (works()) read_part(unit);
    }
    if (works()) witness_->believe();
}

void GradeRig::audit(std::uint64_t failed) {
    if (!works()) return;
    if (auto untrue = witness_->untrue(device_->array(), failed)) return is_wrong(std::move(*untrue));
    for (std::uint32_t unit = 0; works() && unit < units(); ++unit) {
        const auto said = device_->ssd().lba_status(model_->sector_of(unit), model_->unit_bytes() / sector_bytes);
        const bool mapped = std::ranges::any_of(said, &LbaRange::mapped);
        if (mapped == model_->is_trimmed(unit))
            is_wrong(fmt::format("page {} is {}mapped, but shows {}", unit, mapped ? "" : "not ", mapped ? "zeros" : "data"));
    }
}

/// Some sectors of a page show what the whole page has there.
void GradeRig::read_part(std::uint32_t unit) {
    const std::uint32_t sectors = model_->unit_bytes() / sector_bytes, first = unit % sectors, count = 1 + unit / sectors % (sectors - first);
    if (count == sectors) return;
    std::vector<std::byte> part(std::size_t{count} * sector_bytes, std::byte{0xee});
    const auto done = device_->ssd().read(Sector{model_->sector_of(unit).value() + first}, count, part, now_);
    if (answered(fmt::format("a read of a part of page {}", unit), done) &&
        !std::ranges::equal(part, std::span{page_}.subspan(std::size_t{first} * sector_bytes, part.size())))
        is_wrong(fmt::format("unit {}: a read of its part, sectors {} to {}, does not show what a read of all of it does", unit, first,
                             first + count - 1));
}

void GradeRig::kill() {
    if (!works()) return;
    device_->power_off();
    now_ += Duration{1'000'000'000};
    const bool had_changed = has_changed_;
    open();
    if (!wrong_ && was_clean_ && had_changed) is_wrong("calls the death of the process a clean shutdown");
    look();
    for (std::uint32_t unit = 0; works() && unit < units(); ++unit) {
        read(unit);
        if (wrong_) return;
        const auto seen = model_->match(unit, page_, forever);
        if (!seen) return is_wrong("after a kill of the process, " + model_->explain(unit, page_, forever));
        model_->adopt(unit, *seen);
    }
    if (works()) witness_->believe();
}

void GradeRig::restart_cleanly() {
    if (!works()) return;
    const auto down = device_->ssd().shut_down(now_);
    if (!answered("a shutdown", down)) return;
    model_->flushed(forever, *down);
    device_->power_off();
    now_ = *down + off_for;
    open();
    if (!wrong_ && !was_clean_) is_wrong("does not remember a clean shutdown");
}

} // namespace flashlab

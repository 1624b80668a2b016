/// Runs the workload before any cut, and looks at the device after a cut.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/contract.h"
#include "crash/explorer.h"

namespace flashlab {

namespace {

constexpr SimTime forever = sim_never - Duration{1};

std::string text_of(const std::vector<CheckProblem>& problems) {
    const CheckProblem& first = problems.front();
    return fmt::format("check: {} {}: {}{}", first.invariant, first.where, first.detail,
                       problems.size() == 1 ? "" : fmt::format(" (and {} more)", problems.size() - 1));
}

} // namespace

Verdict Explorer::run(const Workload& workload) {
    try {
        if (auto wrong = run_steps(workload)) return Finding{wrong->starts_with("check:") ? Judge::check : Judge::running, std::move(*wrong)};
    } catch (const ContractViolation& broken) {
        return Finding{Judge::running, fmt::format("contract: {}: {}", broken.place(), broken.what())};
    } catch (const std::exception& error) {
        return Finding{Judge::running, fmt::format("contract: {}", error.what())};
    }
    return std::nullopt;
}

std::optional<std::string> Explorer::run_steps(const Workload& workload) {
    workload_ = &workload;
    depth_ = 0;
    for (auto& device : devices_) {
        device = std::move(*CrashDevice::make(config_, Payload::keep, UndoPolicy::keep));
        device->set_sabotage(sabotage_);
    }
    CrashDevice& device = *devices_[0];
    const bool is_off = !workload.steps.empty() && workload.steps.back().kind == WorkloadStep::Kind::shut_down; // in the end
    now_ = sim_start;
    const auto opened = device.power_on(now_);
    if (!opened) return opened.error();
    now_ = opened->done;
    model_ = std::make_unique<ReferenceModel>(ReferenceModel::of(device.ssd()));
    pages_.resize(std::size_t{model_->units()} * model_->unit_bytes());
    for (const WorkloadStep& step : workload.aging) {
        if (auto wrong = take_step(step, true)) return wrong;
    }
    // All issued operations are complete. Only writes that were not promised to be durable are still open.
    now_ = std::max(now_, device.ssd().last_reserved_end());
    device.ssd().settle(now_);
    model_->settle(now_);
    first_cut_ = now_;
    const auto is_unsound = [&]() -> std::optional<std::string> {
        if (!judges_.has(Judge::check)) return std::nullopt;
        const auto problems = device.ssd().check();
        return problems.empty() ? std::nullopt : std::optional{text_of(problems)};
    };
    for (const WorkloadStep& step : workload.steps) {
        // Asked of a drive that runs; what the shutdown leaves is looked at by the recoveries after it.
        if (step.kind == WorkloadStep::Kind::shut_down)
            if (auto wrong = is_unsound()) return wrong;
        if (auto wrong = take_step(step, false)) return wrong;
    }
    if (!is_off)
        if (auto wrong = is_unsound()) return wrong;
    model_moments_.clear();
    model_->append_moments(model_moments_);
    if (is_off) return std::nullopt;
    const auto read = device.ssd().read(Sector{0}, static_cast<std::uint32_t>(pages_.size() / sector_bytes), pages_, now_);
    if (!read) return fmt::format("the device cannot be read: {}", describe(read.error()));
    for (std::uint32_t u = 0; u < model_->units(); ++u) {
        const auto page = std::span{pages_}.subspan(std::size_t{u} * model_->unit_bytes(), model_->unit_bytes());
        if (!model_->shows_newest(u, page)) return "without any cut, " + model_->explain_newest(u, page);
    }
    return std::nullopt;
}

std::optional<std::string> Explorer::take_step(const WorkloadStep& step, bool aging) {
    using Kind = WorkloadStep::Kind;
    const std::uint32_t per_unit = model_->unit_bytes() / sector_bytes;
    if (step.kind == Kind::overwrites) {
        Random random{step.at};
        for (std::uint32_t i = 0; i < step.count; ++i) {
            const WorkloadStep one{Kind::write, 0, 1, step.gap_ns};
            if (auto wrong = request(one, static_cast<std::uint32_t>(random.below(model_->units())) * per_unit, per_unit)) return wrong;
        }
        return std::nullopt;
    }
    if (step.kind == Kind::shut_down && aging) return power_cycle();
    // Places are modulo the device, lengths are clipped to it.
    const bool in_sectors = step.kind == Kind::write_sectors || step.kind == Kind::trim_sectors;
    const std::uint32_t all = model_->units() * per_unit;
    const std::uint32_t scale = in_sectors ? 1 : per_unit;
    const std::uint32_t at = step.at % (all / scale) * scale;
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{step.count} * scale, all - at));
    return request(step, at, count);
}

std::optional<std::string> Explorer::request(const WorkloadStep& step, std::uint32_t at, std::uint32_t count) {
    using Kind = WorkloadStep::Kind;
    Ssd& ssd = devices_[0]->ssd();
    DeviceResult<SimTime> done = now_;
    switch (step.kind) {
    case Kind::write:
    case Kind::write_fua:
    case Kind::write_sectors:
    case Kind::overwrites: {
        const auto durability = step.kind == Kind::write_fua ? WriteDurability::fua : WriteDurability::volatile_ok;
        done = ssd.write(Sector{at}, count, model_->stamp(Sector{at}, count), durability, now_);
        if (done) model_->wrote(Sector{at}, count, now_, *done, durability);
        break;
    }
    case Kind::read:
        done = ssd.read(Sector{at}, count, std::span{pages_}.first(std::size_t{count} * sector_bytes), now_);
        for (std::uint32_t i = 0; done && i < count * sector_bytes / model_->unit_bytes(); ++i) {
            const std::uint32_t unit = at * sector_bytes / model_->unit_bytes() + i;
            const auto page = std::span{pages_}.subspan(std::size_t{i} * model_->unit_bytes(), model_->unit_bytes());
            if (!model_->shows_newest(unit, page)) return "before any cut, " + model_->explain_newest(unit, page);
        }
        break;
    case Kind::trim:
    case Kind::trim_sectors:
        done = ssd.trim(Sector{at}, count, now_);
        if (done) model_->trimmed(Sector{at}, count, now_, *done);
        break;
    case Kind::flush:
        done = ssd.flush(now_);
        if (done) model_->flushed(now_, *done);
        break;
    case Kind::idle:
        (void)ssd.tick(now_);
        break;
    case Kind::shut_down:
        done = ssd.shut_down(now_);
        if (done) model_->flushed(forever, *done);
        break;
    }
    if (!done) return fmt::format("step {} failed: {}", step.text(), describe(done.error()));
    now_ = step.gap_ns ? now_ + Duration{*step.gap_ns} : std::max(now_, *done);
    return std::nullopt;
}

std::optional<std::string> Explorer::power_cycle() {
    CrashDevice& device = *devices_[0];
    const auto down = device.ssd().shut_down(now_);
    if (!down) return fmt::format("clean shutdown failed: {}", describe(down.error()));
    model_->flushed(forever, *down);
    now_ = *down + off_for;
    const auto up = device.power_on(now_);
    if (!up) return up.error();
    if (!up->was_clean) return "the device does not remember its clean shutdown";
    now_ = up->done;
    return std::nullopt;
}

/// Puts onto device level + 1 what the cut of device `level` leaves.
std::expected<void, std::string> Explorer::tear(std::uint32_t level, SimTime at, std::string_view script, Random* draw) {
    CrashDevice& device = *devices_[level + 1];
    device.power_off();
    device.copy_stores(*devices_[level]);
    outcomes_->begin(at, script, draw);
    const auto torn = devices_[level]->tear(at, *outcomes_, *outcomes_, device);
    path_[level] = {at, outcomes_->script()};
    depth_ = level + 1;
    if (!torn) return torn;
    if (level != 0) device.fade(unstable_[level - 1]);
    unstable_[level] = outcomes_->left_unstable();
    torn_fingerprint_ = device.fingerprint();
    return {};
}

Verdict Explorer::recover_and_check(std::uint32_t level, SimTime at, std::string_view script, Random* draw, Use use) {
    CrashDevice& device = *devices_[level + 1];
    Judge judge = Judge::recovery; // who asks, if the next call breaks a promise between the parts
    try {
        if (const auto torn = tear(level, at, script, draw); !torn) return Finding{judge, torn.error()};
        is_known_ = use != Use::always && !is_new_state(level);
        if (is_known_) return std::nullopt;
        const SimTime on = at + off_for;
        opened_[level + 1] = on;
        const auto opened = device.power_on(on);
        if (!opened) return Finding{judge, opened.error()};
        if (report_ != nullptr) report_->recovery.add(opened->done - on);
        if (judges_.has(Judge::check)) {
            const auto problems = device.ssd().check();
            if (!problems.empty()) return Finding{Judge::check, text_of(problems)};
        }
        if (auto wrong = compare(level, opened->done)) return wrong;
        // T4: pages that could be read once may be lost by now. No recovery may have relied on them.
        if (!unstable_[level].empty()) {
            if (auto wrong = compare(level, opened->done)) return Finding{wrong->judge, "read again, " + wrong->what};
        }
        judge = Judge::writing_on;
        const bool writes_on = use == Use::always || (use == Use::sometimes && is_written_on());
        if (!writes_on || !judges_.has(judge)) return std::nullopt;
        if (auto wrong = write_on(device, opened->done)) return Finding{judge, std::move(*wrong)};
    } catch (const ContractViolation& broken) {
        return Finding{judge, fmt::format("contract: {}: {}", broken.place(), broken.what())};
    } catch (const std::exception& error) {
        return Finding{judge, fmt::format("contract: {}", error.what())};
    }
    return std::nullopt;
}

/// After the first cut a page may show any allowed version. Once the host has read it, a later cut must not bring back another one.
Verdict Explorer::compare(std::uint32_t level, SimTime now) {
    if (level == 0) {
        shown_.assign(model_->units(), 0);
        seen_by_ = sim_never - Duration{1};
    }
    const auto read = devices_[level + 1]->ssd().read(Sector{0}, static_cast<std::uint32_t>(pages_.size() / sector_bytes), pages_, now);
    if (!judges_.has(Judge::contents) && !read) return std::nullopt;
    if (!read) return Finding{Judge::contents, fmt::format("a page cannot be read after recovery: {}", describe(read.error()))};
    const std::uint32_t bytes = model_->unit_bytes();
    const SimTime cut = path_[0].at;
    const bool was_seen = level != 0 && path_[level].at >= seen_by_;
    for (std::uint32_t u = 0; u < model_->units(); ++u) {
        const auto page = std::span<const std::byte>{pages_}.subspan(std::size_t{u} * bytes, bytes);
        const auto version = model_->match(u, page, cut);
        if (!version && !judges_.has(Judge::contents)) continue;
        if (!version) return Finding{Judge::contents, model_->explain(u, page, cut)};
        if (was_seen && *version != shown_[u] && judges_.has(Judge::second_cut))
            return Finding{Judge::second_cut, "not what it showed before the last cut: " + model_->explain(u, page, cut)};
        if (level == 0) shown_[u] = *version;
    }
    if (level == 0) seen_by_ = *read;
    return std::nullopt;
}

/// Uses the recovered device: every third unit is written, then all other units must be as before.
std::optional<std::string> Explorer::write_on(CrashDevice& device, SimTime now) {
    Ssd& ssd = device.ssd();
    const std::uint32_t bytes = model_->unit_bytes();
    const std::uint32_t sectors = bytes / sector_bytes;
    for (std::uint32_t u = 0; u < model_->units(); u += 3) {
        const auto page = std::span{pages_}.subspan(std::size_t{u} * bytes, bytes);
        std::ranges::fill(page, static_cast<std::byte>(u + 1));
        const auto done = ssd.write(model_->sector_of(u), sectors, page, WriteDurability::volatile_ok, now);
        if (!done) return fmt::format("the recovered device refuses a write: {}", describe(done.error()));
        now = *done;
    }
    const auto flushed = ssd.flush(now);
    if (!flushed) return fmt::format("the recovered device refuses a flush: {}", describe(flushed.error()));
    const auto problems = judges_.has(Judge::check) ? ssd.check() : std::vector<CheckProblem>{};
    if (!problems.empty()) return "after writing on, " + text_of(problems);
    scratch_.resize(pages_.size());
    const auto read = ssd.read(Sector{0}, static_cast<std::uint32_t>(pages_.size() / sector_bytes), scratch_, *flushed);
    if (!read) return fmt::format("after writing on, a page cannot be read: {}", describe(read.error()));
    if (scratch_ != pages_) return "after writing on, a page is neither what was written nor what it was";
    return std::nullopt;
}

bool Explorer::is_new_state(std::uint32_t level) {
    if (report_ == nullptr) return true;
    if (distinct_.insert(torn_fingerprint_).second) ++report_->distinct_states;
    constexpr std::uint64_t mixer = 0x9e3779b97f4a7c15u;
    const auto promises = static_cast<std::uint64_t>(std::ranges::count_if(model_moments_, [&](SimTime m) { return m <= path_[0].at; }));
    std::uint64_t key = torn_fingerprint_ ^ (promises * mixer);
    // A recovery that may still be cut is not the same as one that is the last.
    key = (key ^ (level + 1 >= limits_->cuts ? 1 : 0)) * mixer;
    if (level != 0 && path_[level].at >= seen_by_) {
        for (const std::size_t version : shown_) key = (key ^ (version + 2)) * mixer;
    }
    return seen_.insert(key).second;
}

} // namespace flashlab

#include "crash/fs/crash_rig.h"

#include <algorithm>

#include <fmt/format.h>

namespace flashlab {

namespace {

constexpr SimTime::duration one_ms{1'000'000};

} // namespace

CrashRig::CrashRig(const FsStackConfig& config, std::uint64_t seed)
    : random_{seed}, judges_{config.judges}, stack_{std::make_unique<FsStack>(config, trouble_)},
      model_{stack_->page_bytes(), !config.journal, config.judges}, unnamed_{config.unnamed} {
    open();
}

CrashRig::CrashRig(const FsStackConfig& config, std::uint64_t seed, const FsImage& image, FsCells cells)
    : random_{seed}, judges_{config.judges}, stack_{std::make_unique<FsStack>(config, image, std::move(cells))},
      model_{stack_->page_bytes(), !config.journal, config.judges}, unnamed_{config.unnamed} {
    open();
}

void CrashRig::open() {
    if (!trouble_.empty()) return;
    now_ = stack_->ready_at();
    if (const auto opened = stack_->open(now_); !opened)
        trouble_ = opened.error();
    else
        now_ = opened_ = stack_->ready_at();
}

FsCall CrashRig::call() {
    ++wall_.nanoseconds;
    moments_.push_back(now_);
    return {.now = now_, .wall = wall_, .uid = 0, .gid = 0, .umask = 0, .may_override_suid = true};
}

void CrashRig::keep(ModelOp& op, SimTime done) {
    op.done = done;
    (void)model_.note(op);
    pass(done);
}

/// Moves the clock on. Sometimes it waits for the answer; mostly the next operation comes earlier. In a hurry it comes when a slow call goes on, and
/// perhaps before that: nothing says who of those whose time has come is first.
void CrashRig::pass(SimTime done) {
    if (hurried_ != Ino{0}) {
        const auto next = std::ranges::min_element(pending_, {}, &Pending::resume);
        now_ = next == pending_.end() ? now_ + Duration{1000} : std::max(now_, next->resume);
        moments_.insert(moments_.end(), 4, now_);
        if (random_.chance(1, 2)) step_pending();
        return;
    }
    if (random_.chance(1, 3))
        now_ = std::max(now_, done);
    else
        now_ += Duration{static_cast<std::int64_t>(random_.below(random_.chance(1, 3) ? 900'000 : 15'000))};
    if (random_.chance(1, 40)) now_ += 30 * one_ms;
    step_pending();
    if (random_.chance(1, 2)) (void)stack_->fs().tick(now_);
}

void CrashRig::step_pending() {
    for (std::size_t i = 0; i < pending_.size();) i += step_one(i) ? 1 : 0;
}

/// False: the call is over.
bool CrashRig::step_one(std::size_t i) {
    Pending& p = pending_[i];
    if (p.resume > now_) return true;
    const StepResult stepped = p.call->step(now_);
    if (stepped && std::holds_alternative<ResumeAt>(*stepped)) {
        p.resume = std::max(std::get<ResumeAt>(*stepped).at, now_ + Duration{1});
        return true;
    }
    if (stepped) {
        p.op.done = std::get<Done>(*stepped).at;
        (void)model_.note(p.op);
    } else if (stepped.error().error_number != ENOSPC) {
        trouble_ = fmt::format("a sync failed with errno {}", stepped.error().error_number);
    }
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
    return false;
}

void CrashRig::finish_pending() {
    while (!pending_.empty() && trouble_.empty()) {
        now_ = std::max(now_, std::ranges::min_element(pending_, {}, &Pending::resume)->resume);
        step_pending();
    }
}

/// Its first step comes before those of calls that wait.
void CrashRig::begin_pending(std::unique_ptr<SlowCall> slow, ModelOp op) {
    pending_.push_back({std::move(slow), std::move(op), now_});
    (void)step_one(pending_.size() - 1);
}

/// A call of some in close succession, mostly in this order: an attribute changes, a file that may be clean is synced, which sends the change to the
/// journal; meanwhile another file is shortened, written and synced.
void CrashRig::hurry() {
    const std::uint64_t turn = --hurried_calls_ % 5;
    switch (random_.chance(1, 5) ? random_.below(5) : turn) {
    case 4:
        finish_pending();
        change_attribute();
        break;
    case 3:
        sync(random_.chance(1, 4) ? Ino{0} : pick_any_file());
        break;
    case 2:
        truncate();
        break;
    case 1:
        write();
        break;
    default:
        sync(hurried_);
    }
    if (hurried_calls_ == 0) hurried_ = Ino{0};
}

std::optional<std::string> CrashRig::run(std::uint64_t steps) {
    for (; steps > 0 && trouble_.empty(); --steps) step();
    return trouble_.empty() ? std::nullopt : convict(Judge::running, trouble_);
}

/// The instant of a cut: anywhere, or near the time at which an operation was issued.
SimTime CrashRig::moment() {
    const SimTime last = stack_->last_reserved_end();
    const auto between = [this](SimTime from, SimTime to) {
        return from +
               Duration{static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(std::max<std::int64_t>(0, (to - from).count())) + 1))};
    };
    if (moments_.empty() || random_.chance(1, 3)) return between(opened_, last);
    const SimTime near = moments_[static_cast<std::size_t>(random_.below(moments_.size()))];
    return std::clamp(between(near, near + (random_.chance(1, 2) ? one_ms : one_ms / 50)), opened_, std::max(opened_, last));
}

std::optional<std::string> CrashRig::reopen(SimTime at) {
    if (const auto opened = stack_->open(at); !opened) return convict(Judge::recovery, opened.error());
    now_ = stack_->ready_at();
    return std::nullopt;
}

std::optional<std::string> CrashRig::judge(SimTime at) {
    if (const auto found = stack_->findings(); !found.empty()) {
        std::string all = fmt::format("{} problems", found.size());
        for (const Finding& f : found) all += "\n  " + f.what;
        return convict(found.front().judge, all);
    }
    if (auto wrong = model_.settle_after_cut(stack_->fs(), at, now_)) return convict(wrong->judge, wrong->what);
    const FsUsage usage = stack_->fs().usage();
    std::uint64_t in_files = 0;
    const FsCall c{.now = now_, .wall = wall_};
    for (const auto& [ino, node] : model_.now()) in_files += stack_->fs().attributes(c, ino)->value.blocks_512 * sector_bytes / usage.block_bytes;
    if (usage.data_pages_free + in_files != usage.data_pages && judges_.has(Judge::space))
        return convict(Judge::space, fmt::format("{} pages free and {} in files of {} (C15)", usage.data_pages_free, in_files, usage.data_pages));
    stack_->settle(now_);
    stack_->recorder().clear();
    opened_ = now_;
    moments_.clear();
    open_files_.clear();
    unnamed_files_.clear();
    hurried_ = Ino{0};
    return std::nullopt;
}

std::vector<SimTime> CrashRig::instants() const {
    std::vector<SimTime> since = stack_->recorder().instants();
    std::erase_if(since, [this](SimTime at) { return at < opened_; });
    return since;
}

std::optional<std::string> CrashRig::cut(bool twice) { return cut_at(moment(), twice); }

std::optional<std::string> CrashRig::cut_at(SimTime at, bool twice) {
    pending_.clear();
    stack_->cut(at, random_.next());
    if (auto failed = reopen(at + one_ms)) return failed;
    if (twice && random_.chance(1, 2)) {
        const SimTime from = stack_->opened_at();
        const auto span = static_cast<std::uint64_t>((stack_->last_reserved_end() - from).count());
        const SimTime again = from + Duration{static_cast<std::int64_t>(random_.below(span + 1))};
        stack_->cut(again, random_.next());
        ++recoveries_cut_;
        if (auto failed = reopen(again + one_ms)) return fmt::format("after a cut in recovery: {}", *failed);
    }
    return judge(at);
}

std::optional<std::string> CrashRig::kill() {
    pending_.clear();
    const SimTime at = stack_->last_reserved_end();
    stack_->kill();
    if (auto failed = reopen(at + one_ms)) return failed;
    return judge(sim_never);
}

std::optional<std::string> CrashRig::remount() {
    for (int laps = 0; !pending_.empty() && laps < 1000; ++laps) {
        now_ += one_ms;
        step_pending();
    }
    pending_.clear();
    const FsCall c = call();
    for (const Ino ino : open_files_) stack_->fs().close_file(c, ino, true);
    const auto closed = stack_->shut_down(now_);
    if (!closed) return closed.error();
    if (auto failed = reopen(*closed)) return failed;
    if (auto wrong = model_.compare_now(stack_->fs(), now_)) return wrong;
    return judge(sim_never);
}

} // namespace flashlab

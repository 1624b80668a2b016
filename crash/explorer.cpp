#include "crash/explorer.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/contract.h"
#include "crash/tiny_devices.h"

namespace flashlab {

std::expected<std::unique_ptr<Explorer>, std::string> Explorer::make(const std::string& scheme, const std::string& device, Sabotage* sabotage,
                                                                     JudgeSet judges) {
    const auto config = tiny_device(device, scheme);
    if (!config) return std::unexpected(config.error());
    const auto probe = CrashDevice::make(*config, Payload::keep, UndoPolicy::keep);
    if (!probe) return std::unexpected(probe.error());
    std::unique_ptr<Explorer> made{new Explorer{*config, scheme, device, sabotage, judges}};
    made->units_ = (*probe)->plan().logical_pages;
    return made;
}

Explorer::Explorer(const SsdConfig& config, std::string scheme, std::string device, Sabotage* sabotage, JudgeSet judges)
    : config_{config}, scheme_{std::move(scheme)}, device_name_{std::move(device)}, sabotage_{sabotage}, judges_{judges} {}

void Explorer::begin(const ExploreLimits* limits, ExploreReport* report, OutcomeCounts& counts) {
    limits_ = limits;
    report_ = report;
    outcomes_ = std::make_unique<ScriptedOutcomes>(counts, config_.nand.options.paired_pages, judges_.has(Judge::looks_erased));
    stopped_ = false;
    seen_.clear();
    if (report != nullptr) ++report->workloads;
}

void Explorer::exhaust(const Workload& workload, const ExploreLimits& limits, ExploreReport& report) {
    begin(&limits, &report, report.outcomes);
    if (auto wrong = run(workload)) return violation(std::move(*wrong));
    cut_everywhere(0, first_cut_);
}

void Explorer::sample(const Workload& workload, std::uint64_t states, Random& random, const ExploreLimits& limits, ExploreReport& report) {
    begin(&limits, &report, report.outcomes);
    if (auto wrong = run(workload)) return violation(std::move(*wrong));
    std::vector<SimTime> all;
    collect_moments(*devices_[0], first_cut_, true, all);
    std::vector<SimTime> chosen;
    for (std::uint64_t i = 0; i < states; ++i) chosen.push_back(all[random.below(all.size())]);
    std::ranges::sort(chosen, std::greater{});
    for (const SimTime at : chosen) {
        if (is_done()) return;
        depth_ = 0;
        if (const auto done = devices_[0]->rewind(at); !done) return violation({Judge::recovery, done.error()});
        const bool cuts_again = limits.cuts >= 2 && random.chance(1, 2);
        if (!judge(0, at, {}, &random, cuts_again ? Use::none : Use::sometimes) || !cuts_again) continue;
        depth_ = 1;
        auto& moments = moments_[1];
        collect_moments(*devices_[1], opened_[1], false, moments);
        if (moments.empty()) continue;
        const SimTime again = moments[random.below(moments.size())];
        if (const auto done = devices_[1]->rewind(again); !done) return violation({Judge::recovery, done.error()});
        (void)judge(1, again, {}, &random, Use::sometimes);
    }
}

std::optional<std::string> Explorer::replay(const CrashCase& where) {
    ensure(where.scheme == scheme_ && where.device == device_name_, "a case of this scheme and device");
    ensure(where.cuts.size() <= most_cuts, "at most two cuts in a row");
    begin(nullptr, nullptr, uncounted_);
    if (auto wrong = run(where.workload)) return wrong->what;
    Verdict wrong;
    for (std::uint32_t level = 0; level < where.cuts.size() && !wrong; ++level) {
        depth_ = level;
        const CutPoint& cut = where.cuts[level];
        if (cut.at < (level == 0 ? first_cut_ : opened_[level]))
            return fmt::format("the cut at {} ns lies before the cuts of this workload begin", ns_since_start(cut.at));
        if (const auto done = devices_[level]->rewind(cut.at); !done) return done.error();
        wrong = recover_and_check(level, cut.at, cut.outcomes, nullptr, level + 1 == where.cuts.size() ? Use::always : Use::none);
    }
    return wrong ? std::optional{std::move(wrong->what)} : std::nullopt;
}

/// Collects one instant of each interval between two moments, the latest first. A cut at the moment itself equals one in the interval with outcome
/// "not started".
void Explorer::collect_moments(CrashDevice& from, SimTime earliest, bool with_model, std::vector<SimTime>& moments) const {
    moments.clear();
    from.append_moments(moments);
    if (with_model)
        moments.insert(moments.end(), model_moments_.begin(), model_moments_.end());
    else if (seen_by_ < sim_never - Duration{1})
        moments.push_back(seen_by_); // the host has read what this recovery brought back
    moments.push_back(earliest);
    std::erase_if(moments, [&](SimTime at) { return at < earliest; });
    for (SimTime& at : moments) at += Duration{1};
    std::ranges::sort(moments, std::greater{});
    const auto repeated = std::ranges::unique(moments);
    moments.erase(repeated.begin(), repeated.end());
}

void Explorer::cut_everywhere(std::uint32_t level, SimTime earliest) {
    auto& moments = moments_[level];
    collect_moments(*devices_[level], earliest, level == 0, moments);
    for (const SimTime at : moments) {
        if (is_done()) return;
        cut_at(level, at);
    }
}

void Explorer::cut_at(std::uint32_t level, SimTime at) {
    depth_ = level;
    if (const auto done = devices_[level]->rewind(at); !done) return violation({Judge::recovery, done.error()});
    cut_in_every_way(level, at);
}

void Explorer::go_deeper(std::uint32_t level, SimTime at, const std::string& script) {
    if (level + 1 >= limits_->cuts) return;
    const bool writes_on = judges_.has(Judge::writing_on) && is_written_on();
    cut_everywhere(level + 1, opened_[level + 1]);
    if (!writes_on || is_done()) return;
    // This recovery has been rewound by now. The same once more, to be used up by writing.
    depth_ = level;
    if (auto wrong = recover_and_check(level, at, script, nullptr, Use::always)) violation(std::move(*wrong));
}

void Explorer::cut_in_every_way(std::uint32_t level, SimTime at) {
    for (std::optional<std::string> script{std::in_place}; script && !is_done();) {
        depth_ = level;
        const bool is_sound = judge(level, at, *script, nullptr, use_of(level));
        const std::string used = outcomes_->script();
        const bool too_many = script->empty() && outcomes_->combinations(most_combinations + 1) > most_combinations;
        script = outcomes_->next();
        if (is_sound) go_deeper(level, at, used);
        if (too_many) return cut_thinned(level, at, used);
    }
}

/// Tries all outcomes of each operation in turn. The outcomes of the other operations are drawn anew each time.
void Explorer::cut_thinned(std::uint32_t level, SimTime at, std::string script) {
    ++report_->thinned_moments;
    depth_ = level;
    Random draw{static_cast<std::uint64_t>(ns_since_start(at)) * 2 + level};
    (void)judge(level, at, {}, &draw, use_of(level));
    std::string choices;
    for (std::size_t i = 0; i < script.size(); ++i) choices.push_back(outcomes_->choices(i));
    for (std::size_t i = 0; i < script.size(); ++i) {
        for (char digit = 0; digit < choices[i] && !is_done(); ++digit) {
            for (std::size_t j = 0; j < script.size(); ++j)
                script[j] =
                    static_cast<char>('0' + (j == i ? static_cast<std::uint64_t>(digit) : draw.below(static_cast<std::uint64_t>(choices[j]))));
            depth_ = level;
            if (judge(level, at, script, nullptr, use_of(level))) go_deeper(level, at, outcomes_->script());
        }
    }
}

bool Explorer::judge(std::uint32_t level, SimTime at, std::string_view script, Random* draw, Use use) {
    ++report_->states;
    if (level != 0) ++report_->second_cuts;
    auto wrong = recover_and_check(level, at, script, draw, use);
    if (report_->states % 1024 == 0 && limits_->go_on && !limits_->go_on(*report_)) stopped_ = true;
    if (!wrong) return !is_known_;
    violation(std::move(*wrong));
    return false;
}

bool Explorer::is_done() const { return stopped_ || report_->states >= limits_->states || report_->violations.size() >= limits_->violations; }

void Explorer::violation(Finding found) {
    if (!judges_.has(found.judge)) return;
    CrashCase where{scheme_, device_name_, *workload_, {}};
    where.cuts.assign(path_, path_ + depth_);
    report_->violations.push_back({std::move(where), std::move(found.what), found.judge});
}

} // namespace flashlab

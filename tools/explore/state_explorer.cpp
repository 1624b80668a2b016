#include "tools/explore/state_explorer.h"

#include <algorithm>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <sys/resource.h>

#include "tools/host/interruption.h"
#include "tools/host/last_lines.h"

namespace flashlab {

namespace {

/// Drawn ones: then there is nothing new. A point that has other states is drawn every few times that all points are, and the rarest of a few dozen
/// states once in some thousand.
std::size_t duplicates_in_a_row(std::size_t cuts, std::uint64_t states) { return std::clamp<std::size_t>(400 * states, 3'000, 24'000) + 4 * cuts; }
constexpr int shrinking_checks = 200;
constexpr int patient_checks = 24; ///< where one has taken all its time
constexpr std::size_t most_findings = 64;

/// So far, of this process and of its children that ended.
double cpu_seconds_used() {
    double seconds = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage used{};
        ::getrusage(who, &used);
        for (const timeval& part : {used.ru_utime, used.ru_stime})
            seconds += static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) / 1e6;
    }
    return seconds;
}
/// The lines of which a finding consists, as kinds: what a state that fails of the same cause has lost, too.
std::set<std::string> kinds_of(const Past& past, const std::vector<Loss>& losses) {
    std::set<std::string> kinds;
    for (const Loss& loss : losses) kinds.insert(past.kind(loss.line));
    return kinds;
}

std::string what_check_said(const std::string& output) {
    const std::string said = first_and_last_lines(output, 5);
    return said.empty() ? "the check printed nothing" : said;
}

} // namespace

StateExplorer::StateExplorer(const Past& past, const Persistence& model, ExploreConfig config)
    : past_{past}, model_{model}, config_{std::move(config)}, order_{past, model, config_.seed, config_.from} {
    std::uint32_t promises = 0;
    for (std::uint32_t cut = 0; cut <= past.size(); ++cut) {
        promises_before_.push_back(promises);
        if (cut < past.size() && past.line(cut).act == Act::promise) ++promises;
    }
}

StateExplorer::Worker StateExplorer::make_worker(unsigned number) {
    const std::string base = fmt::format("{}/{}", config_.work, number);
    Worker worker{StateDirectory{past_, base + ".tree"}, base + ".out", base + ".acks"};
    if (config_.check_serves) worker.server = std::make_unique<ServedCheck>(call_of(worker));
    return worker;
}

CheckCall StateExplorer::call_of(const Worker& worker) const {
    return {.command = config_.check,
            .directory = worker.directory.path(),
            .output = worker.output,
            .environment = {{"FLASHLAB_ACKS", worker.promises}},
            .limit = config_.limit};
}

CheckVerdict StateExplorer::verdict_of(Worker& worker, const LeftState& state) {
    const std::string cut = fmt::format("{}", state.cut());
    if (worker.server) return worker.server->ask(cut);
    CheckCall call = call_of(worker);
    call.environment.emplace_back("FLASHLAB_CUT", cut);
    return run_check(call);
}

std::shared_ptr<const Durability> StateExplorer::durable_at(std::uint32_t cut) {
    const std::lock_guard lock{mutex_};
    return order_.unsynced(cut).durable;
}

/// The next state that differs from all before it, in its tree or in what had been promised.
std::optional<StateExplorer::Numbered> StateExplorer::take() {
    const std::lock_guard lock{mutex_};
    if (result_.states >= config_.states || Interruption::came() || !result_.broken.empty() || result_.exhausted) return std::nullopt;
    for (std::size_t drawn = 0; drawn < duplicates_in_a_row(order_.cuts(), result_.states);) {
        if (Interruption::came()) return std::nullopt;
        result_.edges_done = order_.is_drawing();
        if (result_.edges_done) ++drawn; // edges may be equal as often as they like: they end
        CutState next = order_.next();
        const auto durable = order_.unsynced(next.cut).durable;
        LeftState state = [&] {
            const std::lock_guard identifying{*config_.contents};
            return LeftState{past_, model_, durable, std::move(next)};
        }();
        const std::uint64_t id = state.tree().id * 31 + promises_before_[state.cut()];
        if (!seen_.insert(id).second) continue;
        ++result_.states;
        config_.progress(result_.states);
        open_.insert(result_.states);
        return Numbered{result_.states, std::move(state)};
    }
    result_.exhausted = true;
    return std::nullopt;
}

CheckEnd StateExplorer::check(Worker& worker, const LeftState& state) {
    if (const auto made = worker.directory.make(state.tree()); !made) {
        stop(fmt::format("a state could not be unpacked: {}", made.error()), true);
        return CheckEnd::interrupted;
    }
    const std::uint32_t promised = promises_before_[state.cut()];
    if (worker.promises_written != promised) {
        std::ofstream file{worker.promises, std::ios::trunc};
        for (std::uint32_t i = 0; i < state.cut(); ++i)
            if (past_.line(i).act == Act::promise) file << past_.line(i).data << '\n';
        worker.promises_written = promised;
    }
    ++worker.checks;
    if (config_.judge) return config_.judge(state, worker.directory.path(), worker.output);
    const CheckVerdict verdict = verdict_of(worker, state);
    if (verdict.end == CheckEnd::not_started) stop("the check could not be started");
    if (verdict.end == CheckEnd::unclear)
        stop("--check-serves: the check said more than one line of a state; what is no answer belongs on its standard error", true);
    return verdict.end;
}

void StateExplorer::stop(std::string why, bool is_misuse) {
    const std::lock_guard lock{mutex_};
    if (!result_.broken.empty()) return;
    result_.broken = std::move(why);
    result_.is_misuse = is_misuse;
}

bool StateExplorer::fails(Worker& worker, CutState state) {
    const auto durable = durable_at(state.cut);
    std::optional<LeftState> left;
    {
        const std::lock_guard identifying{*config_.contents};
        left.emplace(past_, model_, durable, std::move(state));
    }
    const CheckEnd end = check(worker, *left);
    worker.has_timed_out = end == CheckEnd::timed_out;
    return end == CheckEnd::failed || end == CheckEnd::timed_out;
}

std::optional<std::string> StateExplorer::check_alone(const CutState& state) {
    Worker worker = make_worker(0);
    const bool has_failed = fails(worker, state);
    result_.checks += worker.checks;
    return has_failed ? std::optional{what_check_said(worker.output)} : std::nullopt;
}

/// The cause of which it fails, if that is known; else empty. It is if the state passes once all losses of known kinds are given back. If it does
/// not, what is left to judge is the state without those. In one journal a line comes back with all lines before it.
std::string StateExplorer::known_cause(Worker& worker, const LeftState& state, CutState& rest) {
    rest = {state.cut(), state.lost()};
    std::set<std::string> known;
    std::string cause;
    const std::set<std::string> here = kinds_of(past_, state.lost());
    {
        const std::lock_guard lock{mutex_};
        for (const LossFinding& finding : result_.findings) {
            if (finding.kinds.empty() || !std::ranges::includes(here, finding.kinds)) continue;
            known.insert(finding.kinds.begin(), finding.kinds.end());
            if (cause.empty()) cause = finding.words.cause;
        }
    }
    if (known.empty()) return {};
    const auto is_journaled = [&](const Loss& loss) { return model_.names == NameOrder::prefix && past_.line(loss.line).act != Act::write; };
    const auto waits_for_journal = [&](const Loss& loss) { // a size does, and with it the bytes
        const LineFacts& facts = past_.facts(loss.line);
        return is_journaled(loss) ||
               (model_.names == NameOrder::prefix && (model_.append == AppendRule::by_commit || facts.size_after != facts.size_before));
    };
    std::uint32_t journal_from = 0; // what comes before is back
    for (const Loss& loss : state.lost())
        if (waits_for_journal(loss) && known.contains(past_.kind(loss.line))) journal_from = loss.line;
    CutState given_back{state.cut(), {}};
    for (const Loss& loss : state.lost())
        if (!known.contains(past_.kind(loss.line)) && !(is_journaled(loss) && loss.line < journal_from)) given_back.losses.push_back(loss);
    if (fails(worker, given_back)) {
        rest = given_back;
        return {};
    }
    return cause;
}

/// Where nothing was lost, the cut from which on it fails: all cuts between that and this one have one cause. It steps back further and further until
/// the check passes, and halves what is between.
CutState StateExplorer::with_its_begin(Worker& worker, CutState state) {
    std::uint32_t fails_at = state.cut, passes_at = std::min(state.cut, std::max(config_.from, past_.first_cut()));
    for (std::uint32_t step = 1; fails_at - passes_at > step; step *= 2) {
        if (!fails(worker, {fails_at - step, {}})) {
            passes_at = fails_at - step;
            break;
        }
        fails_at -= step;
    }
    while (fails_at - passes_at > 1) {
        const std::uint32_t middle = passes_at + (fails_at - passes_at) / 2;
        (fails(worker, {middle, {}}) ? fails_at : passes_at) = middle;
    }
    return {fails_at, {}};
}

/// Gives losses back, half of them, a quarter, one by one, for as long as the check still fails: in the end none can be spared.
CutState StateExplorer::shrink(Worker& worker, CutState state) {
    CutState best{state.cut, {}};
    int checks = 1;
    if (fails(worker, best)) return with_its_begin(worker, std::move(best));
    best = std::move(state);
    int most = shrinking_checks;
    for (std::size_t part = std::max<std::size_t>(1, best.losses.size() / 2);; part = std::max<std::size_t>(1, part / 2)) {
        const std::size_t losses = best.losses.size();
        for (std::size_t at = 0; at < best.losses.size() && checks < most;) {
            CutState fewer{best.cut, best.losses};
            const auto from = fewer.losses.begin() + static_cast<std::ptrdiff_t>(at);
            fewer.losses.erase(from, from + static_cast<std::ptrdiff_t>(std::min(part, best.losses.size() - at)));
            ++checks;
            const bool fails_still = fails(worker, fewer);
            if (worker.has_timed_out) most = std::min(most, patient_checks);
            if (fails_still)
                best = std::move(fewer);
            else
                at += part;
        }
        if (part == 1 && (best.losses.size() == losses || checks >= most)) return best;
    }
}

StateExplorer::Judgement StateExplorer::judgement_of(Worker& worker, const Numbered& failing) {
    CutState rest;
    if (std::string cause = known_cause(worker, failing.state, rest); !cause.empty()) return {.known = std::move(cause), .finding = {}};
    const CutState small = shrink(worker, std::move(rest));
    const bool fails_still = fails(worker, small); // and leaves what it printed
    if (Interruption::came() || !fails_still) return {};
    return {.known = {},
            .finding = LossFinding{.words = {},
                                   .state = small,
                                   .has_timed_out = worker.has_timed_out,
                                   .found_at = failing.number,
                                   .states = 1,
                                   .said = what_check_said(worker.output),
                                   .kept = {},
                                   .kinds = {}}};
}

/// What a judgement says depends on the findings before it. So that any number of workers finds the same, it counts when all states before this one
/// are settled; if a finding has come in the meantime, it is made again.
void StateExplorer::judge(Worker& worker, const Numbered& failing) {
    if (!fails(worker, {failing.state.cut(), failing.state.lost()})) {
        const std::lock_guard lock{mutex_};
        if (!Interruption::came() && result_.broken.empty()) ++result_.unsteady;
        return;
    }
    const std::uint64_t checks = worker.checks;
    std::size_t known = 0;
    {
        const std::lock_guard lock{mutex_};
        ++result_.failing;
        known = result_.findings.size();
    }
    Judgement judgement = judgement_of(worker, failing);
    bool is_old = false;
    {
        std::unique_lock lock{mutex_};
        first_changed_.wait(lock, [&] { return *open_.begin() == failing.number; });
        is_old = result_.findings.size() != known;
    }
    if (is_old) {
        worker.checks = checks;
        judgement = judgement_of(worker, failing);
    }
    const bool passed_in_the_end = !judgement.finding && judgement.known.empty();
    if (judgement.finding) add(std::move(*judgement.finding));
    const std::lock_guard lock{mutex_};
    if (passed_in_the_end && !Interruption::came() && result_.broken.empty()) { // no cause, so it is not told as failing
        --result_.failing;
        ++result_.unsteady;
    }
    const auto found = std::ranges::find(result_.findings, judgement.known, [](const LossFinding& f) { return f.words.cause; });
    if (!judgement.known.empty() && found != result_.findings.end()) ++found->states;
}

void StateExplorer::settle(const Worker& worker, std::uint64_t number) {
    const std::lock_guard lock{mutex_};
    open_.erase(number);
    result_.checks += worker.checks;
    first_changed_.notify_all();
}

void StateExplorer::add(LossFinding finding) {
    const std::lock_guard lock{mutex_};
    const std::lock_guard identifying{*config_.contents};
    const LeftState small{past_, model_, order_.unsynced(finding.state.cut).durable, finding.state};
    finding.words = tell_losses(past_, model_, small);
    if (finding.has_timed_out) finding.words = told_as_endless(std::move(finding.words), std::chrono::duration<double>(config_.limit).count());
    finding.kinds = kinds_of(past_, finding.state.losses);
    const auto found = std::ranges::find(result_.findings, finding.words.cause, [](const LossFinding& f) { return f.words.cause; });
    if (found != result_.findings.end()) {
        ++found->states;
    } else if (result_.findings.size() < most_findings) {
        result_.findings.push_back(std::move(finding));
    } else {
        ++result_.untold;
    }
}

void StateExplorer::work(Worker& worker) {
    while (const auto next = take()) {
        worker.checks = 0;
        const CheckEnd end = check(worker, next->state);
        if (end == CheckEnd::failed || end == CheckEnd::timed_out) judge(worker, *next);
        settle(worker, next->number);
    }
}

ExploreResult StateExplorer::run() {
    const auto from = std::chrono::steady_clock::now();
    const double cpu_from = cpu_seconds_used();
    std::vector<Worker> workers;
    for (unsigned i = 0; i < config_.workers; ++i) workers.push_back(make_worker(i));
    {
        std::vector<std::jthread> threads;
        for (unsigned i = 1; i < config_.workers; ++i) threads.emplace_back([this, &workers, i] { work(workers[i]); });
        work(workers[0]);
    }
    workers.clear(); // checks that stay end, and their processor time is known
    result_.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
    result_.cpu_seconds = cpu_seconds_used() - cpu_from;
    std::ranges::sort(result_.findings, {}, &LossFinding::found_at);
    return result_;
}

} // namespace flashlab

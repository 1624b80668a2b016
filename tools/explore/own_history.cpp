#include "tools/explore/own_history.h"

#include <algorithm>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "crash/apps/told_name.h"
#include "tools/host/interruption.h"
#include "tools/host/last_lines.h"

namespace flashlab {

namespace {

constexpr std::uint32_t most_at_beginning = 100;
constexpr std::size_t most_quiet = 4;            ///< moments at which ends, masks and reading are learnt
constexpr std::chrono::milliseconds apart{1100}; ///< so that a time in seconds differs

CheckCall call_of(const std::string& probe, const std::string& directory, const std::string& output, std::chrono::milliseconds limit) {
    return {.command = probe,
            .directory = directory,
            .output = output,
            .errors = output + ".err",
            .environment = {{"FLASHLAB_ACK_FD", fmt::format("{}", ignored_promises_fd)}, {"FLASHLAB_ACKS", "/dev/null"}, {"FLASHLAB_CUT", "0"}},
            .limit = limit};
}

Answer ask_here(const CheckCall& call, const FileKinds& files) {
    const CheckVerdict verdict = run_check(call);
    return read_answer(verdict, call, files);
}

/// How it ended, with the last line of its complaint: a database that is there already is another end than one that does not open.
std::string end_of(const AnswerMasks& masks, const Answer& answer) {
    Answer end{answer.verdict, {}};
    if (answer.verdict.code != 0) end.lines = answer.lines;
    std::erase_if(end.lines, [](const auto& source) { return !source.first.starts_with("last line"); });
    return masks.shown(end);
}

std::string said_of(bool is_question, const std::string& end) {
    std::string text = (is_question ? "the question " : "its next start ") + end.substr(0, end.size() - 1);
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, "; ");
    return text;
}

} // namespace

std::vector<std::uint32_t> earliest_moments(const Past& past, std::uint32_t from) {
    std::vector<std::uint32_t> earliest{};
    std::vector<bool> is_asked(past.size());
    std::uint32_t whole = from, promised = from; // all lines before `whole` were asked to be durable
    for (std::uint32_t cut = 0; cut <= past.size(); ++cut) {
        if (cut > from) {
            const Operation& line = past.line(cut - 1);
            if (line.act == Act::promise) promised = cut - 1;
            if (is_sync(line.act)) {
                const std::uint32_t reach = cut - 1 - std::min<std::uint32_t>(static_cast<std::uint32_t>(line.bytes), cut - 1);
                for (std::uint32_t i = from; i < reach; ++i) {
                    const Operation& other = past.line(i);
                    const bool is_in = is_about_names(other.act) && (other.parent == line.ino || other.to_parent == line.ino);
                    const bool of_it = !past.facts(i).is_directory && past.facts(i).ino == line.ino && other.act != Act::unlink &&
                                       other.act != Act::rmdir && other.act != Act::exchange;
                    is_asked[i] = is_asked[i] || line.act == Act::sync_all || is_in || of_it;
                }
            }
            const auto says_nothing = [&](std::uint32_t i) {
                return is_sync(past.line(i).act) || past.line(i).act == Act::promise || past.line(i).act == Act::close;
            };
            while (whole < cut && (is_asked[whole] || says_nothing(whole))) ++whole;
        }
        earliest.push_back(std::max(whole, promised));
    }
    return earliest;
}

OwnHistory::OwnHistory(const Past& past, const Persistence& model, OwnHistoryConfig config)
    : past_{past}, model_{model}, config_{std::move(config)}, earliest_{earliest_moments(past, config_.from)} {}

LeftState OwnHistory::state_at(std::uint32_t moment) const {
    const std::lock_guard identifying{*config_.contents};
    return {past_, model_, {moment, {}}};
}

Answer OwnHistory::ask(const std::string& directory, const std::string& output) const {
    return ask_here(call_of(config_.probe, directory, output, config_.limit), config_.is_question || only_writes_ ? FileKinds{} : reads_);
}

std::expected<Answer, std::string> OwnHistory::ask_at(std::uint32_t at, StateDirectory& directory, FileKinds* reads) {
    const LeftState state = state_at(at);
    if (const auto made = directory.make(state.tree()); !made) return std::unexpected(made.error());
    std::optional<ReadFiles> watched;
    if (reads != nullptr) watched.emplace(directory.path());
    Answer answer = ask(directory.path(), directory.path() + ".out");
    if (watched) reads->merge(watched->kinds());
    return answer;
}

std::expected<void, std::string> OwnHistory::learn_at(std::uint32_t at, StateDirectory& directory) {
    auto first = ask_at(at, directory, nullptr);
    for (const bool is_last : {false, true}) {
        if (!first) return std::unexpected(first.error());
        if (is_last && at == past_.size()) std::this_thread::sleep_for(apart);
        const auto again = ask_at(at, directory, nullptr);
        if (!again) return std::unexpected(again.error());
        if (Interruption::came()) return std::unexpected(std::string{"interrupted"});
        if (first->verdict.end == CheckEnd::timed_out || first->verdict.end == CheckEnd::not_started || first->verdict.code != again->verdict.code)
            return std::unexpected(fmt::format("the next start on the files {} ended with {} and then with {}{}: nothing can be learnt from it; name "
                                               "a question with --probe:\n    {}",
                                               told_moment(at), first->verdict.code, again->verdict.code,
                                               first->verdict.end == CheckEnd::timed_out ? ", as it took longer than --timeout" : "",
                                               first_and_last_lines(directory.path() + ".out.err", 5)));
        masks_.learn(*first, *again);
        first = again;
    }
    good_ends_.insert(end_of(masks_, *first));
    at_rest_.push_back(std::move(*first));
    return {};
}

/// A question about what is not made yet may fail in one way before the first call and in another behind it.
std::expected<void, std::string> OwnHistory::learn_beginning(StateDirectory& directory) {
    for (std::uint32_t at = config_.from; at < std::min(past_.size(), config_.from + most_at_beginning); ++at) {
        const auto asked = ask_at(at, directory, nullptr);
        if (!asked) return std::unexpected(asked.error());
        if (asked->verdict.code == 0 || asked->verdict.end != CheckEnd::failed) break;
        good_ends_.insert(end_of(masks_, *asked));
    }
    return {};
}

std::expected<void, std::string> OwnHistory::learn() {
    StateDirectory directory{past_, config_.work + "/learn.tree"};
    std::vector<std::uint32_t> quiet{past_.size(), config_.from}, promises;
    for (std::uint32_t i = config_.from; i < past_.size(); ++i)
        if (past_.line(i).act == Act::promise) promises.push_back(i);
    for (std::size_t i = 0; i < std::min(most_quiet, promises.size()); ++i)
        quiet.push_back(promises[i * promises.size() / std::min(most_quiet, promises.size())]);
    for (const std::uint32_t at : {quiet.front(), quiet[1], quiet.back()})
        if (const auto asked = ask_at(at, directory, &reads_); !asked) return std::unexpected(asked.error());
    only_writes_ = reads_.empty();
    if (const LeftState end = state_at(past_.size()); only_writes_)
        for (const LeftName& name : end.tree().names) reads_.insert(kind_of_file(name.path));
    for (const std::uint32_t at : quiet)
        if (auto learnt = learn_at(at, directory); !learnt) return learnt;
    if (std::ranges::none_of(good_ends_, [](const std::string& end) { return end.starts_with("ended with 0\n"); }))
        return std::unexpected(
            fmt::format("the next start fails before the run, after it and at its promises: nothing can be learnt from it; name a question with "
                        "--probe:\n    {}",
                        said_of(config_.is_question, *good_ends_.begin())));
    return learn_beginning(directory);
}

bool OwnHistory::is_landmark(std::uint32_t at) const { return at == config_.from || (at < past_.size() && past_.line(at).act == Act::promise); }

bool OwnHistory::is_good(const Answer& answer) const { return good_ends_.contains(end_of(masks_, answer)); }

std::uint64_t OwnHistory::view_of(const LeftTree& tree) const {
    std::uint64_t view = 1;
    for (const LeftName& name : tree.names) {
        const auto file = tree.files.find(name.ino);
        if (file != tree.files.end() && reads_.contains(kind_of_file(name.path)))
            view = (view ^ std::hash<std::string>{}(name.path) ^ file->second.id) * 0x9e3779b97f4a7c15u;
    }
    return view;
}

OwnHistory::Moment OwnHistory::moment(std::uint32_t at) {
    {
        const std::lock_guard lock{mutex_};
        if (const auto found = moments_.find(at); found != moments_.end()) return found->second;
    }
    const LeftState state = state_at(at);
    const Moment found{state.tree().id, view_of(state.tree())};
    const std::lock_guard lock{mutex_};
    return moments_.emplace(at, found).first->second;
}

std::optional<OwnHistory::Known> OwnHistory::known(std::uint32_t at) {
    const std::uint64_t tree = moment(at).tree;
    const std::lock_guard lock{mutex_};
    const auto found = answers_.find(tree);
    return found == answers_.end() ? std::nullopt : std::optional{found->second};
}

/// Is this the answer of one of these moments? Those that were asked first, then the others, the newest first.
bool OwnHistory::find(const std::string& shown, std::uint32_t from, std::uint32_t cut, const std::string& directory) {
    const auto is_it = [&](const Known& answer) { return answer.is_good && answers_as(shown, answer.shown); };
    std::vector<std::uint32_t> others;
    for (std::uint32_t at = cut + 1; at-- > from;) {
        const auto answer = known(at);
        if (answer && is_it(*answer)) return true;
        if (!answer) others.push_back(at);
    }
    StateDirectory* place = nullptr;
    {
        const std::lock_guard lock{mutex_};
        auto& made = places_[directory];
        if (!made) made = std::make_unique<StateDirectory>(past_, directory + ".past");
        place = made.get(); // of the thread to which `directory` belongs
    }
    for (const std::uint32_t at : others) {
        if (Interruption::came()) return true;
        if (const auto answer = known(at)) { // looks like one that was asked just now, or another thread has asked
            if (is_it(*answer)) return true;
            continue;
        }
        const auto asked = ask_at(at, *place, nullptr);
        if (!asked) continue;
        const Known answer{masks_.shown(*asked), is_good(*asked)};
        {
            const std::lock_guard lock{mutex_};
            answers_.emplace(moments_.at(at).tree, answer);
        }
        if (is_it(answer)) return true;
    }
    return false;
}

std::string OwnHistory::told_moment(std::uint32_t at) const {
    return at == config_.from ? "before the command" : fmt::format("after line {} ({})", at, past_.told(at - 1));
}

/// A file that got its name by a rename, and lacks what had been written to it before.
std::string OwnHistory::half_replaced(const LeftState& state) const {
    for (const LeftName& name : state.tree().names) {
        const auto file = state.tree().files.find(name.ino);
        if (file == state.tree().files.end() || !reads_.contains(kind_of_file(name.path))) continue;
        std::uint32_t rename = state.cut();
        while (rename-- > config_.from && !(past_.line(rename).act == Act::rename && past_.facts(rename).ino == name.ino)) {}
        const FilePast* past = past_.file(name.ino);
        if (rename >= state.cut() || rename < config_.from || past_.facts(rename).to_path != name.path || past == nullptr ||
            past->lines.back() > rename)
            continue;
        const LeftState then = state_at(rename + 1);
        const auto whole = then.tree().files.find(name.ino);
        if (whole != then.tree().files.end() && whole->second.id != file->second.id)
            return fmt::format("{} was put in its place by a rename, and has not the bytes that it was given before", told_name(name.path));
    }
    return {};
}

/// Of a program that syncs what counts and cleans up before it promises, the clean-up may be lost.
std::uint32_t OwnHistory::before_clean_up(std::uint32_t at) const {
    const auto counts = [&](std::uint32_t i) {
        const Act act = past_.line(i).act;
        const bool shrinks = act == Act::truncate && past_.facts(i).size_after < past_.facts(i).size_before;
        return !(shrinks || act == Act::unlink || act == Act::rmdir || act == Act::close || act == Act::promise || is_sync(act));
    };
    while (at > config_.from && !counts(at - 1)) --at;
    return at;
}

/// The files that a start reads are all as they were at a moment that is too early, or one is half there; empty: they are not.
std::string OwnHistory::wrong_files(const LeftState& state) {
    if (config_.is_question) return {};
    const std::uint32_t earliest = before_clean_up(earliest_[state.cut()]);
    const std::uint64_t view = view_of(state.tree());
    for (std::uint32_t at = earliest; at <= state.cut(); ++at)
        if (moment(at).view == view) return {};
    for (std::uint32_t at = earliest; at-- > config_.from;)
        if (moment(at).view == view)
            return fmt::format("the files that a start reads are those {}, and what came until {} had been promised", told_moment(at),
                               told_moment(earliest).substr(6));
    return only_writes_ ? half_replaced(state) : std::string{};
}

std::string OwnHistory::nearest(const std::string& shown, std::uint32_t from, std::uint32_t cut) {
    std::optional<std::uint32_t> best;
    AnswerDifference least;
    for (std::uint32_t at = cut + 1; at-- > config_.from;) {
        const auto answer = at >= from || is_landmark(at) ? known(at) : std::nullopt; // of others it depends on who judges when
        if (!answer || !answer->is_good) continue;
        AnswerDifference difference = difference_of(shown, answer->shown);
        if (best && difference.count >= least.count) continue;
        best = at;
        least = std::move(difference);
    }
    const std::string none = fmt::format("it answers what it answers at no moment from {} to the cut", told_moment(from));
    if (!best) return none;
    if (least.count == 0 && *best < from)
        return fmt::format("it answers as {}, and what came until {} had been promised", told_moment(*best), told_moment(from).substr(6));
    return fmt::format("{}; compared with the nearest, {}, {}", none, told_moment(*best), least.told.empty() ? "the order differs" : least.told);
}

CheckEnd OwnHistory::judge(const LeftState& state, const std::string& directory, const std::string& output) {
    const Answer answer = ask(directory, output);
    if (answer.verdict.end == CheckEnd::interrupted || answer.verdict.end == CheckEnd::not_started) return answer.verdict.end;
    std::string wrong;
    if (!is_good(answer)) {
        wrong = said_of(config_.is_question, end_of(masks_, answer));
    } else if (const std::string shown = masks_.shown(answer), files = wrong_files(state); !files.empty()) {
        wrong = files;
    } else if (const std::uint32_t earliest = earliest_[state.cut()]; !find(shown, earliest, state.cut(), directory)) {
        for (std::uint32_t at = earliest; at-- > config_.from;) // to tell an older answer from a wrong one
            if (is_landmark(at) && find(shown, at, at, directory)) break;
        wrong = nearest(shown, earliest, state.cut());
    }
    if (Interruption::came()) return CheckEnd::interrupted;
    if (wrong.empty()) return CheckEnd::passed;
    const std::string complaints = last_lines(output + ".err", 4);
    std::ofstream{output, std::ios::trunc} << wrong << '\n' << complaints << '\n';
    return answer.verdict.end == CheckEnd::timed_out ? CheckEnd::timed_out : CheckEnd::failed;
}

Json OwnHistory::facts() const {
    std::set<std::string> answers;
    for (const Answer& answer : at_rest_) answers.insert(masks_.shown(answer));
    const auto list = [](const auto& texts) {
        Json all{Json::Array{}};
        for (const std::string& text : texts) all.push(text);
        return all;
    };
    return Json::object({{"probe", config_.probe},
                         {"is_question", config_.is_question},
                         {"answers", std::uint64_t{answers.size()}},
                         {"good_ends", list(good_ends_)},
                         {"only_writes", only_writes_},
                         {"reads", list(reads_)},
                         {"not_compared", list(masks_.told())}});
}

Json OwnHistory::record_of(const LeftState& state) {
    std::set<std::string> legal;
    for (std::uint32_t at = earliest_[state.cut()]; at <= state.cut(); ++at)
        if (const auto answer = known(at); answer && answer->is_good) legal.insert(answer->shown);
    Json record = facts();
    Json answers{Json::Array{}};
    for (const std::string& answer : legal) answers.push(answer);
    record.add("legal", std::move(answers));
    record.add("masks", masks_.to_json());
    record.add("wrong_files", wrong_files(state));
    return record;
}

std::optional<std::string> judge_by_record(const Json& record, const std::string& directory, const std::string& output,
                                           std::chrono::milliseconds limit) {
    const AnswerMasks masks = AnswerMasks::from_json(record["masks"]);
    FileKinds reads;
    if (!record["is_question"].truth() && !record["only_writes"].truth())
        for (const Json& kind : record["reads"].items()) reads.insert(kind.text());
    const Answer answer = ask_here(call_of(record["probe"].text(), directory, output, limit), reads);
    const std::string end = end_of(masks, answer), shown = masks.shown(answer);
    const auto has = [](const Json& texts, const std::string& text) {
        return std::ranges::any_of(texts.items(), [&](const Json& one) { return one.text() == text; });
    };
    if (!has(record["good_ends"], end)) return said_of(record["is_question"].truth(), end);
    if (const std::string files = record["wrong_files"].text(); !files.empty()) return files;
    for (const Json& legal : record["legal"].items())
        if (answers_as(shown, legal.text())) return std::nullopt;
    return "it answers what it must not answer here:\n" + shown;
}

} // namespace flashlab

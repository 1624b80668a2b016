#include "crash/apps/loss_words.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "crash/apps/told_name.h"

namespace flashlab {

namespace {

/// People count lines from 1.
std::string told(const Past& past, std::uint32_t line) { return fmt::format("line {} ({})", line + 1, past.told(line)); }

std::string part_of(const Loss& loss) {
    switch (loss.part) {
    case Loss::Part::all:
        return "";
    case Loss::Part::data:
        return ", its bytes, not its size";
    case Loss::Part::size:
        return ", its size, not its bytes";
    case Loss::Part::page:
        return fmt::format(", bytes {} to {} of the file", std::uint64_t{loss.page} * page_bytes, (std::uint64_t{loss.page} + 1) * page_bytes - 1);
    case Loss::Part::tear:
        return fmt::format(", torn: of page {} only the sectors with a bit in {:#04x} are new", loss.page, loss.sectors);
    }
    return "";
}

std::string parent_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

/// Does a line that is not lost show? What concerns a file without a name does not: its making was lost.
bool shows(const Past& past, const LeftState& state, std::uint32_t line) {
    const Act act = past.line(line).act;
    if (act == Act::rename || act == Act::exchange || act == Act::unlink || act == Act::rmdir) return true;
    return past.facts(line).ino == root_number ||
           std::ranges::find(state.tree().names, past.facts(line).ino, &LeftName::ino) != state.tree().names.end();
}

/// What came behind the loss and relied on it: a name for the data, a promise, any other change that is there; else a later change of the same file.
std::optional<std::uint32_t> reliance(const Past& past, const LeftState& state, const Loss& loss) {
    const auto is_lost = [&](std::uint32_t line) { return std::ranges::find(state.lost(), line, &Loss::line) != state.lost().end(); };
    const std::uint64_t ino = past.facts(loss.line).ino;
    const bool is_data = !is_about_names(past.line(loss.line).act);
    std::optional<std::uint32_t> change, rename, of_same;
    for (std::uint32_t i = loss.line + 1; i < state.cut(); ++i) {
        const Act act = past.line(i).act;
        if (act == Act::promise) return i;
        if (is_sync(act) || act == Act::close || is_lost(i) || !shows(past, state, i)) continue;
        if (is_data && past.facts(i).ino == ino && (act == Act::rename || act == Act::link)) return i;
        std::optional<std::uint32_t>& kept = past.facts(i).ino == ino ? of_same : change;
        if (!kept) kept = i;
        if (past.facts(i).ino != ino && !rename && act == Act::rename) rename = i; // brings something into use: mostly what relies on the loss
    }
    return rename ? rename : change ? change : of_same;
}

LossWords nothing_lost(const Past& past, const LeftState& state) {
    LossWords words;
    const std::uint32_t cut = state.cut();
    if (cut != 0 && past.line(cut - 1).act == Act::promise) { // right before it the files were good
        words.what = fmt::format("{} was promised at line {} before it was written: nothing was lost, all calls before the promise are there",
                                 past.told(cut - 1).substr(8), cut);
        words.missing_call = fmt::format("before {}, hand over what a buffer holds (fflush, msync of a mapping), and fsync it", told(past, cut - 1));
        words.cause = "promise before the write";
        return words;
    }
    const std::string before = cut == 0 ? std::string{"the beginning"} : told(past, cut - 1);
    const std::string after = cut < past.size() ? told(past, cut) : std::string{"the end"};
    words.what = fmt::format("nothing was lost, but the update was half done: the cut came between {} and {}, and all calls before it are there",
                             before, after);
    words.missing_call = "write the new content to a file of another name, fsync it, rename it over the old one, fsync the directory";
    words.cause = fmt::format("half done from {} on", cut == 0 ? "the beginning" : past.kind(cut - 1));
    return words;
}

} // namespace

LossWords tell_losses(const Past& past, const Persistence& model, const LeftState& state) {
    if (state.lost().empty()) return nothing_lost(past, state);
    LossWords words;
    for (const Loss& loss : state.lost()) words.lost.push_back(told(past, loss.line) + part_of(loss));
    // The first loss is the cause: in a journal it takes the later ones with it.
    const Loss& first = state.lost().front();
    const LineFacts& facts = past.facts(first.line);
    const std::string path = told_name(facts.path);
    const bool is_name = is_about_names(past.line(first.line).act);
    const std::string directory = parent_of(facts.to_path.empty() ? facts.path : facts.to_path);
    const std::string call = is_name ? "fsync of the directory " + quoted_words(directory)
                             : past.line(first.line).act == Act::write && past.facts(first.line).size_before == past.facts(first.line).size_after
                                 ? fmt::format("fsync({}) or fdatasync({})", path, path)
                                 : fmt::format("fsync({})", path);
    const auto relies = reliance(past, state, first);
    const std::string lost = fmt::format("{}{}", told(past, first.line), part_of(first));
    if (relies && past.line(*relies).act == Act::promise) {
        words.what =
            fmt::format("{} was promised at line {}, but {} was lost: no {} between the two", past.told(*relies).substr(8), *relies + 1, lost, call);
        words.cause = "promise";
    } else if (relies) {
        const bool of_same = !is_name && past.facts(*relies).ino == facts.ino, same = of_same && !is_about_names(past.line(*relies).act);
        words.what = of_same && past.line(*relies).act == Act::rename
                         ? fmt::format("after a power cut {} can lack its data: {} was kept, {}, before it, was lost",
                                       told_name(past.facts(*relies).to_path), told(past, *relies), lost)
                     : same ? fmt::format("after a power cut {} can be there without {}, which came before it: no {} stands between the two",
                                          told(past, *relies), lost, call)
                            : fmt::format("after a power cut {} can be there without {}: no {} came before it", told(past, *relies), lost, call);
        words.cause = past.kind(*relies);
    } else {
        words.what = fmt::format("{} was lost{}: it is not done at once, and nothing but a sync would have kept it", lost,
                                 state.lost().size() > 1 ? fmt::format(" with {} more", state.lost().size() - 1) : "");
        words.cause = "in place";
    }
    words.missing_call = relies ? fmt::format("{} before {}", call, told(past, *relies))
                                : fmt::format("{}; or write a new file, fsync it and rename it over {}", call, path);
    std::set<std::string> kinds;
    const bool all = model.names != NameOrder::prefix, apart = model.append == AppendRule::apart; // else the bytes go where the size goes
    for (const Loss& loss : state.lost()) {
        if (!all && loss.line != first.line) break;
        kinds.insert(fmt::format("{}/{}", past.kind(loss.line),
                                 loss.part == Loss::Part::tear            ? "torn"
                                 : loss.part == Loss::Part::size && apart ? "size"
                                                                          : ""));
    }
    words.cause = fmt::format("{} without {}", words.cause, fmt::join(kinds, ", "));
    return words;
}

LossWords told_as_endless(LossWords words, double seconds) {
    words.what = fmt::format("the check did not end within {} s, so it did not judge this: {}", seconds, words.what);
    words.missing_call =
        fmt::format("if the program waits for ever on this state: {}; if it is slow: --timeout with more seconds", words.missing_call);
    words.cause = "no end: " + words.cause;
    return words;
}

} // namespace flashlab

#include "tools/faults/fault_rule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/events.h"

namespace flashlab {

namespace {

constexpr std::array<std::string_view, 12> kind_names{"eio",      "enospc",   "stall",       "program_fail", "erase_fail", "bit_rot",
                                                      "die_dead", "host_eio", "host_enospc", "lie_flush",    "lie_order",  "lie_tear"};
/// Kinds that testers know, in our words.
struct Alias {
    std::string_view name, kind, op;
};
constexpr std::array<Alias, 2> aliases{{{"read_eio", "eio", "read"}, {"fsync_eio", "eio", "fsync"}}};
constexpr std::uint64_t longest_stall_ms = 3'600'000;

std::expected<std::uint64_t, std::string> number(std::string_view key, std::string_view value, std::uint64_t least, std::uint64_t most) {
    std::uint64_t n = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
    if (error != std::errc{} || end != value.data() + value.size() || n < least || n > most)
        return std::unexpected(fmt::format("{}={}: a whole number from {} to {} is wanted", key, value, least, most));
    return n;
}

bool is_call(std::string_view op) { return op == "any" || std::ranges::find(fs_op_names, op) != fs_op_names.end(); }

std::expected<void, std::string> set_kind(FaultRule& rule, std::string_view word) {
    for (const Alias& alias : aliases) {
        if (word != alias.name) continue;
        rule.op = alias.op;
        word = alias.kind;
    }
    const auto kind = std::ranges::find(kind_names, word);
    if (kind == kind_names.end())
        return std::unexpected(fmt::format("no fault is called '{}'; there are: {}, read_eio, fsync_eio", word, fmt::join(kind_names, ", ")));
    rule.kind = static_cast<FaultKind>(kind - kind_names.begin());
    if (rule.op.empty() && rule.is_about_calls())
        rule.op = rule.kind == FaultKind::stall ? "any" : rule.kind == FaultKind::enospc ? "write" : "fsync";
    if (rule.kind == FaultKind::die_dead || rule.is_a_lie()) rule.times = 0;
    return {};
}

/// In a plan, or in a rule that the shell passes on as one word, quotes around a glob are still there: as part of it they would never match.
std::expected<std::string, std::string> unquoted(std::string_view glob) {
    const char quote = glob.front();
    if (quote != '\'' && quote != '"') return std::string{glob};
    if (glob.size() < 3 || glob.back() != quote) return std::unexpected(fmt::format("path={}: a quote that does not end, or nothing within", glob));
    return std::string{glob.substr(1, glob.size() - 2)};
}

std::expected<void, std::string> set_word(FaultRule& rule, std::string_view word) {
    if (word == "sticky") {
        rule.times = 0;
        return {};
    }
    const auto equals = word.find('=');
    const std::string_view key = word.substr(0, equals), value = equals == std::string_view::npos ? std::string_view{} : word.substr(equals + 1);
    const auto put = [&](auto& to, std::uint64_t least, std::uint64_t most) -> std::expected<void, std::string> {
        const auto n = number(key, value, least, most);
        if (!n) return std::unexpected(n.error());
        to = static_cast<std::uint32_t>(*n);
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(to)>, std::optional<std::uint32_t>>) to = *n;
        return {};
    };
    if (key == "nth") return put(rule.nth, 1, ~std::uint64_t{0});
    if (key == "times") return put(rule.times, 0, ~std::uint64_t{0});
    if (rule.is_about_calls()) {
        if (key == "ino") return put(rule.ino, 1, ~std::uint64_t{0});
        if (key == "path" && !value.empty()) {
            const auto glob = unquoted(value);
            if (!glob) return std::unexpected(glob.error());
            rule.path = *glob;
            return {};
        }
        if (key == "op") {
            if (!is_call(value)) return std::unexpected(fmt::format("op={}: allowed: any, {}", value, fmt::join(fs_op_names, ", ")));
            rule.op = value;
            return {};
        }
        if (key == "ms" && rule.kind == FaultKind::stall) {
            const auto ms = number(key, value, 1, longest_stall_ms);
            if (!ms) return std::unexpected(ms.error());
            rule.stall = std::chrono::milliseconds{*ms};
            return {};
        }
        return std::unexpected(fmt::format("{}: allowed beside {}: op=CALL, path=GLOB, ino=N, nth=N, times=N (0: all), sticky{}", word,
                                           kind_names[std::to_underlying(rule.kind)], rule.kind == FaultKind::stall ? ", ms=N" : ""));
    }
    if (rule.is_about_flash() && key == "die") return put(rule.die, 0, ~std::uint32_t{0});
    if (rule.is_about_flash() && rule.kind != FaultKind::die_dead && key == "block") return put(rule.block, 0, ~std::uint32_t{0});
    return std::unexpected(fmt::format("{}: allowed beside {}: {}nth=N, times=N (0: all), sticky", word, kind_names[std::to_underlying(rule.kind)],
                                       rule.is_about_flash() ? "die=N, block=N, " : ""));
}

} // namespace

namespace {

/// Two words that say the same thing contradict each other, or one of them is a slip: neither may win.
std::expected<void, std::string> check_once(std::span<const std::string> words) {
    const auto is_alias = std::ranges::find(aliases, words.front(), &Alias::name) != aliases.end();
    std::map<std::string_view, std::string_view> said; // key, and the word that said it
    if (is_alias) said.emplace("op", words.front());
    for (const std::string_view word : words.subspan(1)) {
        const std::string_view key = word == "sticky" ? "times" : word.substr(0, word.find('='));
        const auto [before, is_new] = said.emplace(key, word);
        if (!is_new) return std::unexpected(fmt::format("{}: {} said that already; leave one of the two out", word, before->second));
    }
    return {};
}

} // namespace

std::expected<FaultRule, std::string> FaultRule::parse(std::span<const std::string> words) {
    if (words.empty()) return std::unexpected(fmt::format("which fault? There are: {}", fmt::join(kind_names, ", ")));
    FaultRule rule;
    if (const auto known = set_kind(rule, words.front()); !known) return std::unexpected(known.error());
    for (const std::string& word : words.subspan(1))
        if (const auto set = set_word(rule, word); !set) return std::unexpected(set.error());
    if (const auto once = check_once(words); !once) return std::unexpected(once.error());
    if (rule.kind == FaultKind::stall && rule.stall == Duration{0}) return std::unexpected(std::string{"stall: say for how long, with ms=N"});
    if (rule.kind == FaultKind::stall && rule.op == "writeback")
        return std::unexpected(std::string{"stall: op=writeback is no call that somebody waits for; name a call"});
    if (rule.kind == FaultKind::die_dead && !rule.die) return std::unexpected(std::string{"die_dead: say which, with die=N"});
    return rule;
}

std::string FaultRule::text() const {
    std::string out{kind_names[std::to_underlying(kind)]};
    if (is_about_calls()) out += fmt::format(" op={} path={}", op, path);
    if (ino) out += fmt::format(" ino={}", *ino);
    if (die) out += fmt::format(" die={}", *die);
    if (block) out += fmt::format(" block={}", *block);
    if (kind == FaultKind::stall) out += fmt::format(" ms={}", std::chrono::duration_cast<std::chrono::milliseconds>(stall).count());
    return out + fmt::format(" nth={} times={}", nth, times);
}

std::vector<std::string> fault_words(std::string_view text) {
    const bool has_blanks = text.find_first_of(" \t") != std::string_view::npos;
    std::vector<std::string> words;
    while (!text.empty()) {
        const auto end = text.find_first_of(has_blanks ? " \t" : ":");
        if (end != 0) words.emplace_back(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    return words;
}

std::expected<std::vector<FaultRule>, std::string> parse_fault_plan(std::string_view text) {
    std::vector<FaultRule> rules;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        line = line.substr(0, line.find('#'));
        if (line.ends_with('\r')) line.remove_suffix(1);
        const auto words = fault_words(line);
        if (words.empty()) continue;
        const auto rule = FaultRule::parse(words);
        if (!rule) return std::unexpected(fmt::format("line {}: {}", number, rule.error()));
        rules.push_back(*rule);
    }
    return rules;
}

} // namespace flashlab

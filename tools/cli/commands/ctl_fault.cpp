#include "tools/cli/commands/ctl_fault.h"

#include <charconv>
#include <span>

#include <fmt/format.h>

#include "tools/cli/commands/mount_words.h"
#include "tools/faults/fault_rule.h"

namespace flashlab {

namespace {

constexpr const char* usage =
    "fault: write add RULE, plan FILE, list, or clear [NUMBER|all]; a rule is such as: eio op=fsync path='*.db' nth=2 (docs/faults.md)";

Json words_json(const FaultRule& rule) {
    Json words{Json::Array{}};
    for (const std::string& word : fault_words(rule.text())) words.push(word);
    return words;
}

std::expected<Json, std::string> rules_of(const std::string& what, std::span<const std::string> rest) {
    Json rules{Json::Array{}};
    if (what == "plan") {
        if (rest.size() != 1) return std::unexpected(std::string{"fault plan: name one file"});
        const auto plan = read_fault_plan(rest.front());
        if (!plan) return std::unexpected(fmt::format("fault plan {}", plan.error()));
        for (const FaultRule& rule : *plan) rules.push(words_json(rule));
        return rules;
    }
    std::vector<std::string> words(rest.begin(), rest.end());
    if (words.size() == 1) words = fault_words(words.front()); // one word in the form of -o fault=
    const auto rule = FaultRule::parse(words);
    if (!rule) return std::unexpected(fmt::format("fault add: {}", rule.error()));
    rules.push(words_json(*rule));
    return rules;
}

} // namespace

std::expected<Json, std::string> fault_request(const std::vector<std::string>& arguments) {
    const std::string what = arguments.empty() ? "list" : arguments.front();
    const auto rest = std::span{arguments}.subspan(arguments.empty() ? 0 : 1);
    if (what == "list" && rest.empty()) return Json::object({{"cmd", "fault"}, {"do", "list"}});
    if (what == "clear" && rest.size() <= 1) {
        Json request = Json::object({{"cmd", "fault"}, {"do", "clear"}});
        if (rest.empty() || rest.front() == "all") return request;
        std::uint64_t number = 0;
        const std::string& text = rest.front();
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{} || end != text.data() + text.size())
            return std::unexpected(fmt::format("fault clear {}: a number as 'fault list' shows it, or all", text));
        request.add("number", number);
        return request;
    }
    if (what != "add" && what != "plan") return std::unexpected(std::string{usage});
    auto rules = rules_of(what, rest);
    if (!rules) return std::unexpected(rules.error());
    return Json::object({{"cmd", "fault"}, {"do", "add"}, {"rules", std::move(*rules)}});
}

void print_faults(const Json& answer, OutputFormat format) {
    const bool is_cleared = !answer["cleared"].is_null();
    const auto& faults = answer[is_cleared ? "cleared" : "faults"].items();
    Table table{{"number", "rule", "seen", "struck"}};
    for (const Json& fault : faults) table.add({fault["number"].dump(), fault["rule"].text(), fault["seen"].dump(), fault["struck"].dump()});
    if (format == OutputFormat::table && faults.empty()) {
        fmt::print("{}\n", is_cleared ? "no fault was in force" : "no fault is in force");
        return;
    }
    fmt::print("{}", shown(format, answer, table));
}

} // namespace flashlab

#include "ftl/admit_scheme.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "ftl/make_ftl.h"

namespace flashlab {

namespace {

std::vector<const Scheme*>& guests() {
    static std::vector<const Scheme*> all;
    return all;
}

bool is_word(std::string_view text) { // a replay id has the name in it, a configuration file, too
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
    return !text.empty() && text.size() <= 40 && text.find_first_not_of(letters) == std::string_view::npos;
}

/// A key that another scheme declares is shared: with the same meaning.
bool is_other(const Option& a, const Option& b) {
    return a.phase != b.phase || a.initial != b.initial || a.min != b.min || a.max != b.max || a.is_size != b.is_size;
}

std::string fault_of(const Option* option, const std::vector<const Option*>& declared) {
    if (option == nullptr) return "an option is a null pointer";
    const auto fault = [&](std::string_view what) { return fmt::format("option '{}' {}", option->key, what); };
    const std::size_t dot = std::min(option->key.find('.'), option->key.size());
    if (!is_word(option->key.substr(0, dot)) || dot == option->key.size() || !is_word(option->key.substr(dot + 1)))
        return fault("is no key; a key is section.name, each 1 to 40 of a to z, 0 to 9 and _");
    if (option->help.empty()) return fault("has no help");
    if (option->min > option->max) return fault("has a range that begins above its end");
    if (option->initial < option->min || option->initial > option->max) return fault("has a default outside of its range");
    const auto same = std::ranges::find(declared, option->key, &Option::key);
    if (same != declared.end() && is_other(*option, **same)) return fault("is another scheme's key, of another default, range or phase");
    return {};
}

/// A counter with a place of its own is asked for by the name that a scheme of the list has given it.
bool has_place(std::string_view name) {
    return std::ranges::any_of(schemes(), [&](const Scheme* scheme) {
        return std::ranges::any_of(scheme->counters, [&](const Counter& c) { return c.has_own_place && c.name == name; });
    });
}

std::string fault_of(const Counter& counter) {
    const auto fault = [&](std::string_view what) { return fmt::format("counter '{}' {}", counter.name, what); };
    if (!is_word(counter.name)) return fault("has no name; a name is 1 to 40 of a to z, 0 to 9 and _");
    if (counter.help.empty()) return fault("has no help");
    if (counter.read == nullptr) return fault("has no function that reads it");
    if (counter.has_own_place && !has_place(counter.name)) return fault("has a place of its own, where nobody asks for it; leave has_own_place out");
    return {};
}

bool is_first(std::string_view name, std::vector<std::string_view>& before) {
    if (std::ranges::find(before, name) != before.end()) return false;
    before.push_back(name);
    return true;
}

/// Empty: it can be planned, made and shown.
std::string fault_of(const Scheme& scheme) {
    if (!is_word(scheme.name)) return "a scheme's name is 1 to 40 of a to z, 0 to 9 and _";
    if (find_scheme(scheme.name)) return "there is such a scheme already; take another name";
    if (scheme.idea.empty()) return "it has no idea, the line for people";
    if (scheme.plan == nullptr || scheme.make == nullptr) return "it has no plan() or no make()";
    std::vector<std::string_view> keys, counters;
    const std::vector<const Option*> declared = declared_options();
    for (const Option* option : scheme.options) {
        if (auto fault = fault_of(option, declared); !fault.empty()) return fault;
        if (!is_first(option->key, keys)) return fmt::format("option '{}' is declared twice", option->key);
    }
    for (const Counter& counter : scheme.counters) {
        if (auto fault = fault_of(counter); !fault.empty()) return fault;
        if (!is_first(counter.name, counters)) return fmt::format("counter '{}' is declared twice", counter.name);
    }
    return {};
}

} // namespace

std::span<const Scheme* const> admitted_schemes() { return guests(); }

std::expected<void, std::string> admit_scheme(const Scheme& scheme) {
    if (const std::string fault = fault_of(scheme); !fault.empty()) return std::unexpected(fmt::format("scheme '{}': {}", scheme.name, fault));
    guests().push_back(&scheme);
    return {};
}

} // namespace flashlab

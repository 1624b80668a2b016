#include "tools/live/fault_control.h"

#include <cstring>

#include <fmt/format.h>

namespace flashlab {

namespace {

constexpr std::uint64_t most_strikes_told = 1000; ///< strikes in the log of one mount; a dead die would fill it

Json to_json(const FaultPlan::Entry& entry) {
    return Json::object({{"number", entry.number}, {"rule", entry.rule.text()}, {"seen", entry.seen}, {"struck", entry.struck}});
}

Json failure(std::string text) { return Json::object({{"error", std::move(text)}}); }

} // namespace

FaultControl::FaultControl() : plan_{[this](const FaultStrike& strike) { tell_strike(strike); }} {}

void FaultControl::attach(DeviceDirectory& opened, std::function<void(const std::string&)> complain) {
    opened_ = &opened;
    complain_ = std::move(complain);
    plan_.set_surroundings({.chips = opened.device().array().chip_geometry(),
                            .can_lie = opened.device().ssd().can_lie(),
                            .path_of =
                                [this](Ino ino) {
                                    const auto paths = opened_->device().fs().paths_of(ino, 1);
                                    return paths.empty() ? std::string{} : paths.front();
                                },
                            .drop_kernel_pages =
                                [this](Ino ino, std::uint64_t offset, std::uint64_t bytes) {
                                    if (mount_ != nullptr) mount_->drop_kernel_pages(ino, offset, bytes);
                                }});
}

void FaultControl::bring_into_force() {
    opened_->device().set_faults(plan_.has_flash_rules() ? &plan_ : nullptr);
    opened_->device().ssd().set_lies(plan_.has_lies() ? &plan_ : nullptr);
    opened_->set_image_faults(plan_.has_image_rules() ? std::function<int()>{[this] { return plan_.image_write_fails(); }} : nullptr);
}

void FaultControl::tell(FaultAction action, std::uint64_t number, const FaultRule& rule, SimTime now) {
    opened_->log().add_fault({.at = now, .action = action, .rule = number, .text = rule.text()});
}

void FaultControl::tell_strike(const FaultStrike& strike) {
    if (++strikes_told_ > most_strikes_told) return;
    opened_->log().add_fault({.at = strike.at,
                              .action = FaultAction::struck,
                              .rule = strike.rule,
                              .text = strike.text,
                              .ino = strike.ino,
                              .path = strike.path,
                              .error = strike.error});
    if (strikes_told_ <= most_strikes_told / 10)
        complain_(fmt::format("fault {} ({}) struck{}{}{}{}", strike.rule, strike.text, strike.path.empty() ? "" : " ", strike.path,
                              strike.error == 0 ? "" : ": ", strike.error == 0 ? "" : std::strerror(strike.error)));
}

std::expected<void, std::string> FaultControl::set(const std::vector<FaultRule>& rules, SimTime now) {
    std::vector<std::uint64_t> set;
    for (const FaultRule& rule : rules) {
        const auto number = plan_.add(rule);
        if (!number) {
            for (const std::uint64_t before : set) plan_.clear(before);
            return std::unexpected(fmt::format("fault '{}': {}", rule.text(), number.error()));
        }
        set.push_back(*number);
    }
    for (std::size_t i = 0; i < rules.size(); ++i) tell(FaultAction::set, set[i], rules[i], now);
    bring_into_force();
    return {};
}

Json FaultControl::add(const Json& request, SimTime now) {
    std::vector<FaultRule> rules;
    for (const Json& one : request["rules"].items()) {
        std::vector<std::string> words;
        for (const Json& word : one.items()) words.push_back(word.text());
        auto rule = FaultRule::parse(words);
        if (!rule) return failure(rule.error());
        rules.push_back(std::move(*rule));
    }
    if (rules.empty()) return failure("no rule was given");
    const std::size_t before = plan_.entries().size();
    if (const auto done = set(rules, now); !done) return failure(done.error());
    Json added{Json::Array{}};
    for (std::size_t i = before; i < plan_.entries().size(); ++i) added.push(to_json(plan_.entries()[i]));
    return Json::object({{"faults", std::move(added)}});
}

Json FaultControl::clear(const Json& request, SimTime now) {
    std::vector<std::uint64_t> numbers;
    if (request["number"].is_number()) {
        numbers.push_back(request["number"].number());
    } else {
        for (const auto& entry : plan_.entries()) numbers.push_back(entry.number);
    }
    Json cleared{Json::Array{}};
    for (const std::uint64_t number : numbers) {
        const auto entry = plan_.clear(number);
        if (!entry) return failure(fmt::format("there is no fault {}; see: flashlab ctl MNT fault list", number));
        tell(FaultAction::cleared, number, entry->rule, now);
        cleared.push(to_json(*entry));
    }
    bring_into_force();
    return Json::object({{"cleared", std::move(cleared)}});
}

Json FaultControl::list() const {
    Json all{Json::Array{}};
    for (const auto& entry : plan_.entries()) all.push(to_json(entry));
    return Json::object({{"faults", std::move(all)}});
}

Json FaultControl::answer(const Json& request) {
    const std::string what = request["do"].text();
    Json answer = failure(fmt::format("fault {}: allowed: add, list, clear", what));
    mount_->with_monitor([&](SimTime now) {
        if (opened_->device().was_cut()) {
            answer = failure("the power was cut, and the faults ended with it; mount again");
        } else if (what == "add") {
            answer = add(request, now);
        } else if (what == "clear") {
            answer = clear(request, now);
        } else if (what == "list") {
            answer = list();
        }
    });
    return answer;
}

} // namespace flashlab

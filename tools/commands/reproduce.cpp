#include <algorithm>

#include <fmt/format.h>

#include "tools/commands/commands.h"
#include "tools/reproduce/experiment.h"
#include "tools/table.h"

namespace flashlab {
namespace {

std::string number(double value) { return fmt::format("{:.3f}", value); }

void print(const Experiment& experiment, const Reproduction& result) {
    fmt::print("{}: {}\n{}\n\n", experiment.id, experiment.title, experiment.paper);
    Table points{{"series", "x", "paper", "ours", "ratio"}};
    for (const ReproducedPoint& p : result.points) {
        const auto paper = paper_value(experiment.id, p.series, p.x);
        points.add({p.series, fmt::format("{:g}", p.x), paper ? number(*paper) : "-", number(p.ours), paper ? number(p.ours / *paper) : "-"});
    }
    fmt::print("{}\n", points.to_text());
    for (const ReproducedClaim& c : result.claims)
        fmt::print("{} {}\n      ours:  {}\n      paper: {}\n", c.holds ? "[✓]" : "[✗]", c.text, c.ours, paper_words(experiment.id, c.text));
    const auto held = std::ranges::count(result.claims, true, &ReproducedClaim::holds);
    fmt::print("{} of {} claims hold\n\n", held, result.claims.size());
}

int list(bool json) {
    Json all{Json::Array{}};
    Table table{{"id", "figure", "paper"}};
    for (const Experiment& e : experiments()) {
        all.push(Json::object({{"id", e.id}, {"paper", e.paper}, {"title", e.title}}));
        table.add({std::string{e.id}, std::string{e.title}, std::string{e.paper}});
    }
    fmt::print("{}", json ? Json::object({{"experiments", std::move(all)}}).dump() + "\n" : table.to_text());
    return exit_done;
}

} // namespace

int run_reproduce(const ReproduceOptions& o) {
    const auto asked = [&](std::string_view word) { return std::ranges::find(o.ids, word) != o.ids.end(); };
    if (o.ids.empty() || (o.ids.size() == 1 && asked("list")))
        return list(o.json);
    std::vector<const Experiment*> chosen;
    if (asked("all"))
        for (const Experiment& e : experiments())
            chosen.push_back(&e);
    for (const std::string& id : o.ids) {
        const Experiment* experiment = find_experiment(id);
        if (experiment == nullptr && id != "all")
            return complain(fmt::format("reproduce: no experiment is called '{}'; see: flashlab reproduce list", id), exit_usage);
        if (experiment != nullptr && std::ranges::find(chosen, experiment) == chosen.end())
            chosen.push_back(experiment);
    }
    for (const Experiment* experiment : chosen) {
        const auto result = experiment->run(o.quick ? RunLength::quick : RunLength::full);
        if (!result)
            return complain(fmt::format("reproduce: {}: {}", experiment->id, result.error()));
        if (o.json)
            fmt::print("{}\n", to_json(*experiment, *result).dump());
        else
            print(*experiment, *result);
    }
    return exit_done;
}

} // namespace flashlab

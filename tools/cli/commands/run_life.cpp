#include "tools/cli/commands/run_life.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tools/drive/lifetime.h"

namespace flashlab {

std::uint64_t sum_of(const Json& nand, std::string_view key) {
    std::uint64_t sum = 0;
    for (const auto& [cause, counts] : nand.members()) sum += counts[key].number();
    return sum;
}

Json lifetime_of(const DriveAnswers& drive, const RunPace& pace) {
    const Json &smart = drive.smart, &info = drive.info;
    const std::uint64_t blocks = info["channels"].number() * info["chips_per_channel"].number() * info["dies_per_chip"].number() *
                                 info["planes_per_die"].number() * info["blocks_per_plane"].number();
    const Lifetime life = Lifetime::of({.endurance_cycles = smart["endurance_cycles"].number(),
                                        .good_blocks = blocks - std::min(blocks, smart["bad_user_nand_blocks"].number()),
                                        .block_bytes = info["pages_per_block"].number() * info["page_bytes"].number(),
                                        .device_bytes = info["device_bytes"].number(),
                                        .mean_erases = smart["wear_mean"].real(),
                                        .erases_before = drive.config["config"]["nand.cycles_before"].real(),
                                        .worst_erases = smart["wear_max"].real(),
                                        .host_bytes = drive.use["drive"]["host_write_bytes"].number(),
                                        .nand_bytes = drive.use["nand_write_bytes"].number(),
                                        .erases = sum_of(drive.use["drive"]["nand"], "block_erases")});
    const bool is_timed = pace.is_real && pace.seconds > 0;
    const double runs = pace.runs_per_day > 0 ? pace.runs_per_day : is_timed ? 86400.0 / pace.seconds : 0;
    Json out = life.to_json();
    out.add("runs_per_day", runs > 0 ? Json{runs} : Json{});
    const double years = life.years_at(runs);
    out.add("years", years > 0 ? Json{years} : Json{});
    Json assumptions{Json::Array{}};
    if (runs > 0)
        assumptions.push(pace.runs_per_day > 0 ? fmt::format("the program runs {:g} times a day", pace.runs_per_day)
                                               : fmt::format("the program runs again and again without a pause, {:.3g} s each time", pace.seconds));
    if (!is_timed)
        assumptions.push("with --latency off this machine's speed decides what is collected meanwhile: repeat the run, or take --latency real");
    for (const std::string& sentence : lifetime_assumptions()) assumptions.push(sentence);
    out.add("assumptions", std::move(assumptions));
    return out;
}

} // namespace flashlab

#include "crash/fs/fs_explorer.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include <fmt/format.h>

#include "base/contract.h"
#include "crash/fs/crash_rig.h"

namespace flashlab {

namespace {

constexpr std::string_view all_variants[] = {"buffer", "worn"};

std::string_view take_until(std::string_view& text, char end) {
    const std::size_t at = std::min(text.find(end), text.size());
    const std::string_view part = text.substr(0, at);
    text.remove_prefix(std::min(at + 1, text.size()));
    return part;
}

template <class Number>
bool read_number(std::string_view text, Number& to) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
    return error == std::errc{} && end == text.data() + text.size();
}

} // namespace

std::string FsCrashCase::id() const {
    return fmt::format("{}{}:{}-{}{}{}:{}:{}x{}:{}", prefix, shape.scheme, shape.journal ? "journal" : "pram", shape.cell,
                       shape.variant.empty() ? "" : "-", shape.variant, seed, laps, steps, cuts);
}

std::expected<FsCrashCase, std::string> FsCrashCase::parse(std::string_view id) {
    FsCrashCase parsed;
    std::string_view rest = id;
    const bool is_ours = rest.starts_with(prefix);
    if (is_ours) rest.remove_prefix(prefix.size());
    parsed.shape.scheme = take_until(rest, ':');
    const std::string_view metadata = take_until(rest, '-');
    parsed.shape.journal = metadata == "journal";
    std::string_view cell = take_until(rest, ':');
    parsed.shape.cell = take_until(cell, '-');
    parsed.shape.variant = cell;
    const bool is_variant = cell.empty() || std::ranges::find(all_variants, cell) != std::end(all_variants);
    const bool numbers = read_number(take_until(rest, ':'), parsed.seed) && read_number(take_until(rest, 'x'), parsed.laps) &&
                         read_number(take_until(rest, ':'), parsed.steps) && read_number(rest, parsed.cuts);
    if (!is_ours || !numbers || !is_variant || (metadata != "pram" && metadata != "journal") || parsed.steps == 0 || parsed.cuts < 1 ||
        parsed.cuts > 2)
        return std::unexpected(
            fmt::format("'{}' is not fs:SCHEME:METADATA-CELL:SEED:LAPSxSTEPS:CUTS, such as fs:hftl:pram-slc:17:3x40:2; behind CELL "
                        "may stand -buffer or -worn",
                        id));
    return parsed;
}

std::expected<void, std::string> can_explore(const FsShape& shape) {
    const auto config = tiny_stack(shape);
    if (!config) return std::unexpected(config.error());
    CrashRig rig{*config, 1};
    if (auto trouble = rig.run(0)) return std::unexpected(*trouble);
    return {};
}

namespace {

/// The laps of a program. A broken promise between the parts is a finding like any other.
Verdict run_laps(CrashRig& rig, const FsCrashCase& where, std::unordered_set<std::uint64_t>& known, FsExploreReport& report) {
    Random random{where.seed ^ 0xc0ffee};
    std::optional<std::string> wrong;
    try {
        for (std::uint32_t lap = 0; lap < where.laps && !wrong; ++lap) {
            wrong = rig.run(1 + random.below(where.steps));
            if (wrong) break;
            wrong = rig.cut(where.cuts > 1);
            ++report.states;
            if (known.insert(rig.stack().fingerprint()).second) ++report.distinct_states;
            report.recovery.add(rig.stack().ready_at() - rig.stack().opened_at());
        }
    } catch (const ContractViolation& broken) {
        return Finding{Judge::recovery, fmt::format("contract: {}: {}", broken.place(), broken.what())};
    }
    return wrong ? Verdict{Finding{rig.convicted_by(), std::move(*wrong)}} : std::nullopt;
}

/// One variant of the stack: its empty file system, and the cells of its last program.
struct Stage {
    FsShape shape;
    FsStackConfig config;
    FsImage image;
    FsCells cells;
};

std::expected<Stage, std::string> stage_of(const FsShape& shape) {
    auto config = tiny_stack(shape);
    if (!config) return std::unexpected(config.error());
    config->notes_instants = false;
    std::string trouble;
    FsStack empty{*config, trouble};
    if (!trouble.empty()) return std::unexpected(trouble);
    FsImage image = empty.take_image();
    return Stage{shape, std::move(*config), std::move(image), {}};
}

Verdict run_program(Stage& stage, const FsCrashCase& where, std::unordered_set<std::uint64_t>& known, FsExploreReport& report) {
    CrashRig rig{stage.config, where.seed, stage.image, std::move(stage.cells)};
    auto wrong = run_laps(rig, where, known, report);
    ++report.programs;
    report.operations += rig.operations();
    report.second_cuts += rig.recoveries_cut();
    for (std::size_t i = 0; i < report.outcomes.counts.size(); ++i) report.outcomes.counts[i] += rig.stack().outcomes().counts[i];
    rig.end(stage.cells);
    return wrong;
}

} // namespace

std::vector<std::string> variants_of(const FsShape& shape) {
    std::vector<std::string> variants{shape.variant};
    for (const std::string_view variant : all_variants) {
        FsShape other = shape;
        other.variant = variant;
        if (variant != shape.variant && stage_of(other)) variants.emplace_back(variant);
    }
    return variants;
}

std::optional<std::string> replay_file_system(const FsCrashCase& where, FsExploreReport& report) {
    auto stage = stage_of(where.shape);
    if (!stage) return stage.error();
    std::unordered_set<std::uint64_t> known;
    auto wrong = run_program(*stage, where, known, report);
    return wrong ? std::optional{std::move(wrong->what)} : std::nullopt;
}

void explore_file_system(const FsCrashCase& where, const FsExploreLimits& limits, FsExploreReport& report) {
    const std::uint64_t until = report.states + limits.states;
    std::vector<Stage> stages;
    for (const std::string& variant : limits.variants.empty() ? std::vector{where.shape.variant} : limits.variants) {
        FsShape shape = where.shape;
        shape.variant = variant;
        auto stage = stage_of(shape);
        if (!stage) {
            report.violations.push_back({where, stage.error()});
            return;
        }
        stage->config.sabotage = limits.sabotage;
        stage->config.judges = limits.judges;
        stages.push_back(std::move(*stage));
    }
    std::unordered_set<std::uint64_t> known;
    FsCrashCase program = where;
    const std::uint64_t last = program.seed + limits.states * 2 + 16; // a program that fails before any cut adds no state
    for (; report.states < until && report.violations.size() < limits.violations && program.seed != last; ++program.seed) {
        if (limits.go_on && !limits.go_on(report)) return;
        const std::uint64_t before = report.states;
        Stage& stage = stages[(program.seed - where.seed) % stages.size()];
        program.shape = stage.shape;
        auto wrong = run_program(stage, program, known, report);
        if (!wrong || !limits.judges.has(wrong->judge)) continue;
        FsCrashCase failed = program;
        failed.laps = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, report.states - before));
        report.violations.push_back({failed, std::move(wrong->what), wrong->judge});
    }
}

FsViolation shrink_file_system(const FsViolation& found, std::uint32_t runs) {
    constexpr std::pair<std::uint32_t, std::uint32_t> sizes[] = {{1, 3}, {1, 8}, {1, 20}, {2, 8}, {2, 20}, {3, 20}}; // laps, steps
    FsExploreReport ignored;
    for (const auto& [laps, steps] : sizes) {
        if (laps * steps >= found.where.laps * found.where.steps) break;
        FsCrashCase smaller = found.where;
        smaller.laps = laps;
        smaller.steps = steps;
        for (std::uint32_t i = 0; i < runs / std::size(sizes); ++i, ++smaller.seed) {
            if (auto wrong = replay_file_system(smaller, ignored)) return {smaller, std::move(*wrong), found.judge};
        }
    }
    return found;
}

} // namespace flashlab

#include "crash/fs/fs_explorer.h"

#include <charconv>

#include <fmt/format.h>

#include "crash/fs/crash_rig.h"

namespace flashlab {

namespace {

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
    return fmt::format("{}{}:{}-{}:{}:{}x{}:{}", prefix, shape.scheme, shape.journal ? "journal" : "pram", shape.cell, seed, laps, steps, cuts);
}

std::expected<FsCrashCase, std::string> FsCrashCase::parse(std::string_view id) {
    FsCrashCase parsed;
    std::string_view rest = id;
    const bool is_ours = rest.starts_with(prefix);
    if (is_ours) rest.remove_prefix(prefix.size());
    parsed.shape.scheme = take_until(rest, ':');
    const std::string_view metadata = take_until(rest, '-');
    parsed.shape.journal = metadata == "journal";
    parsed.shape.cell = take_until(rest, ':');
    const bool numbers = read_number(take_until(rest, ':'), parsed.seed) && read_number(take_until(rest, 'x'), parsed.laps) &&
                         read_number(take_until(rest, ':'), parsed.steps) && read_number(rest, parsed.cuts);
    if (!is_ours || !numbers || (metadata != "pram" && metadata != "journal") || parsed.steps == 0 || parsed.cuts < 1 || parsed.cuts > 2)
        return std::unexpected(fmt::format("'{}' is not fs:SCHEME:METADATA-CELL:SEED:LAPSxSTEPS:CUTS, such as fs:hftl:pram-slc:17:3x40:2", id));
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

/// Runs a program with the PRAM cells of the program before, if there was one, and leaves its own in `cells`.
std::optional<std::string> run_program(const FsStackConfig& config, const FsCrashCase& where, std::unique_ptr<MemoryPramStore>& cells,
                                       FsExploreReport& report) {
    CrashRig rig{config, where.seed, std::move(cells)};
    Random random{where.seed ^ 0xc0ffee};
    std::optional<std::string> wrong;
    for (std::uint32_t lap = 0; lap < where.laps && !wrong; ++lap) {
        wrong = rig.run(1 + random.below(where.steps));
        if (wrong) break;
        wrong = rig.cut(where.cuts > 1);
        ++report.states;
        report.recovery.add(rig.stack().ready_at() - rig.stack().opened_at());
    }
    ++report.programs;
    report.operations += rig.operations();
    report.second_cuts += rig.recoveries_cut();
    for (std::size_t i = 0; i < report.outcomes.counts.size(); ++i) report.outcomes.counts[i] += rig.stack().outcomes().counts[i];
    rig.end(cells);
    return wrong;
}

} // namespace

std::optional<std::string> replay_file_system(const FsCrashCase& where, FsExploreReport& report) {
    const auto config = tiny_stack(where.shape);
    if (!config) return config.error();
    std::unique_ptr<MemoryPramStore> cells;
    return run_program(*config, where, cells, report);
}

void explore_file_system(const FsCrashCase& where, const FsExploreLimits& limits, FsExploreReport& report) {
    const std::uint64_t until = report.states + limits.states;
    const auto config = tiny_stack(where.shape);
    if (!config) {
        report.violations.push_back({where, config.error()});
        return;
    }
    std::unique_ptr<MemoryPramStore> cells;
    FsCrashCase program = where;
    for (; report.states < until && report.violations.size() < limits.violations; ++program.seed) {
        if (limits.go_on && !limits.go_on(report)) return;
        const std::uint64_t before = report.states;
        auto wrong = run_program(*config, program, cells, report);
        if (!wrong) continue;
        FsCrashCase failed = program;
        failed.laps = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, report.states - before));
        report.violations.push_back({failed, std::move(*wrong)});
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
            if (auto wrong = replay_file_system(smaller, ignored)) return {smaller, std::move(*wrong)};
        }
    }
    return found;
}

} // namespace flashlab

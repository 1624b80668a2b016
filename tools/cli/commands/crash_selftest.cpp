/// flashlab crash selftest: the seeded defects, and which judge sees which.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "crash/explorer.h"
#include "crash/fs/seeded_fs_bugs.h"
#include "crash/seeded_bugs.h"
#include "ftl/make_ftl.h"
#include "tools/cli/commands/crash.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/host/kept_memory.h"
#include "tools/host/standard_streams.h"
#include "tools/text/table.h"

namespace flashlab {

namespace {

/// One line of the table of judges and defects.
struct Defect {
    std::string name, level, what;
    Judge judge;
    std::vector<Judge> seen_by;
};

struct SelfTest {
    OutputFormat format;
    std::uint64_t states;
    std::uint64_t seed;
    std::uint64_t seeded = 0;
    std::uint64_t caught = 0;
    Json missed{Json::Array{}};
    std::vector<Defect> defects{};

    void note(const std::string& where, std::string_view name, std::string_view what, bool found, std::uint64_t after,
              const std::string& found_what) {
        ++seeded;
        caught += found ? 1 : 0;
        if (!found) missed.push(fmt::format("{}:{}", where, name));
        if (format != OutputFormat::table) return;
        const std::string first_line = found_what.substr(0, std::min(found_what.find('\n'), found_what.size()));
        fmt::print("{:10} {:28} {}\n", where, name,
                   found ? fmt::format("caught after {} states: {}", after, first_line) : "MISSED: " + std::string{what});
    }
    /// The row of a defect. At home, above the first scheme that it can harm, the judge that is named for it must be among those who see it.
    void add_row(Defect row, bool is_at_home) {
        if (is_at_home && std::ranges::find(row.seen_by, row.judge) == row.seen_by.end())
            missed.push(fmt::format("{} by {}", row.name, name_of(row.judge)));
        defects.push_back(std::move(row));
    }
};

/// The first scheme of `schemes` that the bug can harm: there all judges are asked.
std::optional<std::string> home_of(const SeededBug& bug, const std::vector<std::string>& schemes) {
    const auto home = std::ranges::find_if(schemes, [&](const std::string& scheme) { return applies(bug, scheme); });
    return home == schemes.end() ? std::nullopt : std::optional{*home};
}

void test_drives(SelfTest& test, const std::vector<std::string>& schemes) {
    const std::vector<std::string> all = all_schemes();
    for (const SeededBug& bug : seeded_bugs()) {
        for (const std::string& scheme : schemes) {
            if (Interruption::came()) return;
            if (!applies(bug, scheme)) continue;
            const auto hunted = hunt(bug, scheme, test.states, test.seed);
            const bool found = hunted && hunted->found;
            test.note(scheme, bug.name, bug.what, found, hunted ? hunted->states : 0, found ? hunted->found->what : "");
        }
        const auto home = home_of(bug, schemes);
        if (home && !Interruption::came())
            test.add_row(
                {std::string{bug.name}, std::string{bug.level}, std::string{bug.what}, bug.judge, seen_by(bug, *home, test.states, test.seed)},
                home == home_of(bug, all));
    }
}

void test_file_systems(SelfTest& test, const std::string& scheme) {
    const std::uint64_t states = std::max<std::uint64_t>(1, test.states / 10);
    for (const SeededFsBug& bug : seeded_fs_bugs()) {
        if (Interruption::came()) return;
        const FsHunt hunted = hunt(bug, scheme, states, test.seed);
        const bool found = hunted.found.has_value();
        test.note("fs:" + hunted.scheme, bug.name, bug.what, found, hunted.states, found ? hunted.found->what : "");
        test.add_row({std::string{bug.name}, std::string{bug.level}, std::string{bug.what}, bug.judge, seen_by(bug, scheme, states, test.seed)},
                     scheme.empty());
    }
}

void print_table(const std::vector<Defect>& defects) {
    fmt::print("\n{:30} {:11} {:14} {}\n", "defect", "level", "judge", "seen by");
    for (const Defect& d : defects) {
        std::vector<std::string_view> names;
        for (const Judge judge : d.seen_by) names.push_back(name_of(judge));
        fmt::print("{:30} {:11} {:14} {}\n", d.name, d.level, name_of(d.judge), names.empty() ? "nobody" : fmt::format("{}", fmt::join(names, ", ")));
    }
}

/// For --csv: a line for each defect, its judges separated by blanks.
Table table_of(const std::vector<Defect>& defects) {
    Table table{{"defect", "level", "judge", "seen_by", "what"}};
    for (const Defect& d : defects) {
        std::vector<std::string_view> names;
        for (const Judge judge : d.seen_by) names.push_back(name_of(judge));
        table.add({d.name, d.level, std::string{name_of(d.judge)}, fmt::format("{}", fmt::join(names, " ")), d.what});
    }
    return table;
}

Json json_of(const std::vector<Defect>& defects) {
    Json rows{Json::Array{}};
    for (const Defect& d : defects) {
        Json judges{Json::Array{}};
        for (const Judge judge : d.seen_by) judges.push(name_of(judge));
        rows.push(
            Json::object({{"name", d.name}, {"level", d.level}, {"judge", name_of(d.judge)}, {"what", d.what}, {"seen_by", std::move(judges)}}));
    }
    return rows;
}

struct CrashSelftestOptions {
    std::string ftl = "all";
    std::uint64_t states = 30'000, seed = 1;
    OutputFormat format = OutputFormat::table;
};

int run_crash_selftest(const CrashSelftestOptions& o) {
    const std::vector<std::string> schemes = o.ftl == "all" ? all_schemes() : std::vector{o.ftl};
    for (const std::string& scheme : schemes) {
        if (const auto device = Explorer::make(scheme, "chip-slc"); !device)
            return complain(fmt::format("crash selftest: {}", device.error()), exit_usage);
    }
    keep_freed_memory();
    const Interruption interruption;
    SelfTest test{.format = o.format, .states = o.states, .seed = o.seed};
    test_drives(test, schemes);
    test_file_systems(test, o.ftl == "all" ? "" : o.ftl);
    const bool is_whole = test.missed.items().empty();
    if (o.format == OutputFormat::table) {
        print_table(test.defects);
        fmt::print("\n{} defects; {} of {} seeded bugs caught{}\n", test.defects.size(), test.caught, test.seeded,
                   Interruption::came() ? " (partial: the others were not tried)" : "");
        for (const Json& missed : test.missed.items()) fmt::print("missed: {}\n", missed.text());
    } else {
        Json result = Json::object({{"seeded_bugs", test.seeded},
                                    {"caught", test.caught},
                                    {"missed", std::move(test.missed)},
                                    {"defects", json_of(test.defects)},
                                    {"version", FLASHLAB_VERSION}});
        if (Interruption::came()) result.add("partial", true);
        fmt::print("{}", shown(o.format, result, table_of(test.defects)));
        if (o.format == OutputFormat::csv)
            for (const Json& missed : result["missed"].items()) complain(fmt::format("crash selftest: missed: {}", missed.text()));
    }
    return is_whole ? exit_done : exit_failed;
}

} // namespace

void add_crash_selftest(CLI::App& crash, Action& action) {
    auto [c, o] =
        add_command(crash, action, run_crash_selftest, "selftest",
                    "Does the harness notice? Deliberate defects that must all be caught, and who sees which", "flashlab crash selftest --ftl hftl");
    c.add_option("--ftl", o.ftl, translation_layers() + "; or all")->capture_default_str();
    c.add_option("--states", o.states, "States at most for each defect")->check(at_least_one())->capture_default_str();
    c.add_option("--seed", o.seed, "Of what is drawn")->capture_default_str();
    add_format(c, o.format, "One JSON object");
}

} // namespace flashlab

// Goal: what is told not to be durable can be lost, and after the calls that are told nothing of it can be.
// Method: drawn programs in every model; the calls are appended to the history, and what is unsynced then is asked again.
#include <fmt/format.h>

#include "base/random.h"
#include "crash/apps/history_base.h"
#include "crash/apps/told_name.h"
#include "crash/apps/unsynced_report.h"
#include "tests/apps/recorded_program.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

UnsyncedReport told(const std::vector<Operation>& history, const std::string& model) {
    return report_unsynced(Past{history}, *find_persistence(model));
}

std::vector<Operation> with_calls(std::vector<Operation> history, const UnsyncedReport& report) {
    const std::uint64_t now = history.back().at_ms;
    for (const UnsyncedFile& file : report.files)
        history.push_back({.act = file.is_data_only ? Act::fdatasync : Act::fsync, .at_ms = now, .ino = file.ino});
    for (const UnsyncedName& name : report.names)
        for (const std::uint64_t directory : name.inos) history.push_back({.act = Act::fsync, .at_ms = now, .ino = directory});
    return history;
}

} // namespace

TEST_CASE("after the calls that are told nothing is left that a cut could take", "[apps][unsynced]") {
    const std::string model = GENERATE("strict", "ext4", "xfs", "btrfs", "posix");
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(model, seed);
        Random random{seed};
        RecordedProgram p;
        const auto d = p.mkdir("d");
        p.prepared();
        std::vector<std::uint64_t> files;
        for (int i = 0; i < 12; ++i) {
            const std::string name(1, static_cast<char>('a' + random.below(4)));
            const std::uint64_t in = random.chance(1, 2) ? d : RecordedProgram::root;
            switch (files.empty() ? 0 : random.below(6)) {
            case 0:
                files.push_back(p.create(fmt::format("{}{}", name, i), in));
                break;
            case 1:
                p.append(files[random.below(files.size())], "text");
                break;
            case 2:
                p.rename(fmt::format("{}{}", name, random.below(12)), name, in, random.chance(1, 2) ? d : RecordedProgram::root);
                break;
            case 3:
                p.truncate(files[random.below(files.size())], random.below(3));
                break;
            case 4:
                p.fsync(files[random.below(files.size())]);
                break;
            default:
                (void)p.mkdir(fmt::format("m{}", i), in);
            }
        }
        const UnsyncedReport before = told(p.history(), model);
        const UnsyncedReport after = told(with_calls(p.history(), before), model);
        CHECK(after.names.empty());
        CHECK(after.files.empty());
        if (model == "strict") CHECK(before.names.empty());
    }
}

TEST_CASE("what is unsynced is told by file and range, and names by their directories", "[apps][unsynced]") {
    RecordedProgram p;
    const auto d = p.mkdir("d");
    const auto old = p.create("old", d);
    p.prepared();
    const auto log = p.create("log", d);
    p.write(log, 0, std::string(100, 'x'));
    p.write(log, 100, std::string(50, 'x'));
    p.write(log, 4096, "x");
    p.rename("log", "journal", d, RecordedProgram::root);
    p.write(old, 5, "abc");
    const UnsyncedReport report = told(p.history(), "posix");
    REQUIRE(report.names.size() == 2);
    CHECK(report.names[0].change == "create d/log");
    CHECK(report.names[0].directories == std::vector<std::string>{"d"});
    CHECK(report.names[1].change == "rename d/log -> journal");
    CHECK(report.names[1].directories == std::vector<std::string>{"d", "."});
    REQUIRE(report.files.size() == 2);
    const auto& file = report.files[0].path == "d/old" ? report.files[1] : report.files[0];
    REQUIRE(file.ranges.size() == 2);
    CHECK(file.ranges[0].offset == 0);
    CHECK(file.ranges[0].bytes == 150);
    CHECK(file.ranges[1].offset == 4096);
    CHECK(file.is_data_only);
    CHECK(told(p.history(), "ext4").names.size() == 2);
    CHECK(told(p.history(), "strict").names.empty());
}

TEST_CASE("what nobody touched with a name known is told by its inode", "[apps][unsynced]") {
    CHECK(told_name("\x01/#12/a") == "(inode 12)/a");
    CHECK(told_name("\x01/#12/a b") == "(inode 12)/\"a b\"");
    CHECK(told_name("\x01/#7") == "(inode 7)");
    CHECK(told_name("d/a") == "d/a");
}

TEST_CASE("of a file without a name its bytes are told, and its name when it gets one", "[apps][unsynced][unnamed]") {
    RecordedProgram p;
    p.prepared();
    std::vector<Operation> history = p.history();
    history.push_back({.act = Act::make, .ino = 77, .parent = nameless_folder, .mode = S_IFREG | 0644, .name = "#77"});
    history.push_back({.act = Act::write, .ino = 77, .data = "abc"});
    const UnsyncedReport before = told(history, "posix");
    CHECK(before.names.empty());
    REQUIRE(before.files.size() == 1);
    CHECK(before.files[0].path == "(inode 77)");
    history.push_back({.act = Act::link, .ino = 77, .parent = root_number, .name = "f"});
    const UnsyncedReport after = told(history, "posix");
    REQUIRE(after.names.size() == 1);
    CHECK(after.names[0].change == "link f");
    CHECK(after.files[0].path == "(inode 77)"); // what it was called then
    const Past past{history};
    const Persistence strict = *find_persistence("strict");
    CHECK(LeftState{past, strict, {.cut = past.size() - 1, .losses = {}}}.tree().names.empty());
    CHECK(LeftState{past, strict, {.cut = past.size(), .losses = {}}}.tree().names.size() == 1);
}

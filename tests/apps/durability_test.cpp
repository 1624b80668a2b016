// Goal: what a sync makes durable beside its own file, change by change: growth, a new size, rights, names, and what btrfs takes along.
// Method: a few calls, then a sync; the lines that are durable then, by model, and those that are not.
#include "crash/apps/durability.h"

#include <fmt/format.h>

#include "tests/apps/recorded_program.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// The lines about names that are durable at the end, by number from the first after the preparation.
std::string durable_names(const RecordedProgram& program, const std::string& model) {
    const Past past{program.history()};
    const Persistence persistence = *find_persistence(model);
    const Durability durable{past, persistence, past.size()};
    std::string lines;
    for (const std::uint32_t i : past.name_lines())
        if (i >= past.first_cut() && durable.name_is_durable(i)) lines += fmt::format("{}{}", lines.empty() ? "" : " ", i - past.first_cut());
    return lines;
}

/// A program whose file "a" is durable; what it does with it follows.
struct Prepared {
    Prepared() {
        file = program.create("a");
        program.append(file, "data");
        program.prepared();
    }
    RecordedProgram program;
    std::uint64_t file = 0;
};

} // namespace

TEST_CASE("a sync of data alone of a file that has grown takes the names before its growth along, in ext4 and xfs", "[apps][durability]") {
    Prepared p;
    (void)p.program.create("b");
    p.program.append(p.file, "more");
    (void)p.program.create("c");
    p.program.fdatasync(p.file);
    (void)p.program.create("d");
    CHECK(durable_names(p.program, "ext4") == "0");
    CHECK(durable_names(p.program, "xfs") == "0");
    CHECK(durable_names(p.program, "btrfs").empty());
    CHECK(durable_names(p.program, "posix").empty());
}

TEST_CASE("growth that an earlier sync has met is not met again", "[apps][durability]") {
    Prepared p;
    p.program.append(p.file, "more");
    p.program.fdatasync(p.file);
    (void)p.program.create("b");
    p.program.write(p.file, 0, "DATA");
    p.program.fdatasync(p.file);
    for (const std::string model : {"ext4", "xfs", "btrfs", "posix"}) {
        CAPTURE(model);
        CHECK(durable_names(p.program, model).empty());
    }
}

TEST_CASE("a size that is set takes the names before it along, in ext4 and xfs", "[apps][durability]") {
    const auto sets = GENERATE(0, 1);
    Prepared p;
    (void)p.program.create("b");
    if (sets == 0) p.program.truncate(p.file, 1);
    if (sets == 1) p.program.extend(p.file, 9000);
    (void)p.program.create("c");
    p.program.fdatasync(p.file);
    CHECK(durable_names(p.program, "ext4") == "0");
    CHECK(durable_names(p.program, "xfs") == "0");
    CHECK(durable_names(p.program, "btrfs").empty());
}

TEST_CASE("rights are met by fsync, and not by a sync of data alone", "[apps][durability]") {
    const bool is_data_only = GENERATE(false, true);
    Prepared p;
    (void)p.program.create("b");
    p.program.chmod(p.file, 0600);
    (void)p.program.create("c");
    is_data_only ? p.program.fdatasync(p.file) : p.program.fsync(p.file);
    CHECK(durable_names(p.program, "ext4") == (is_data_only ? "" : "0"));
    CHECK(durable_names(p.program, "xfs") == (is_data_only ? "" : "0"));
}

TEST_CASE("a file's making is met by every sync of it, its other names by fsync", "[apps][durability]") {
    const bool is_data_only = GENERATE(false, true);
    RecordedProgram made;
    made.prepared();
    const auto file = made.create("a");
    is_data_only ? made.fdatasync(file) : made.fsync(file);
    Prepared moved;
    moved.program.rename("a", "b");
    is_data_only ? moved.program.fdatasync(moved.file) : moved.program.fsync(moved.file);
    for (const std::string model : {"ext4", "xfs", "btrfs"}) {
        CAPTURE(model);
        CHECK(durable_names(made, model) == "0");
        CHECK(durable_names(moved.program, model) == (is_data_only && model != "btrfs" ? "" : "0"));
    }
    CHECK(durable_names(made, "posix").empty());
    CHECK(durable_names(moved.program, "posix").empty());
}

TEST_CASE("btrfs takes along who had the name before, through every move", "[apps][durability]") {
    SECTION("a file in the place of one that was removed") {
        Prepared p;
        (void)p.program.create("other");
        p.program.unlink("a");
        p.program.fsync(p.program.create("a"));
        CHECK(durable_names(p.program, "btrfs") == "1 2");
    }
    SECTION("a file that was moved to that place") {
        Prepared p;
        (void)p.program.create("other");
        p.program.unlink("a");
        const auto made = p.program.create("t");
        p.program.rename("t", "a");
        p.program.fsync(made);
        CHECK(durable_names(p.program, "btrfs") == "1 2 3");
    }
    SECTION("a third file that was moved to that place, and removed") {
        Prepared p;
        (void)p.program.create("x");
        p.program.rename("a", "old");
        p.program.rename("x", "a");
        p.program.unlink("a");
        (void)p.program.create("other");
        p.program.fsync(p.program.create("a"));
        CHECK(durable_names(p.program, "btrfs") == "0 1 2 3 5");
    }
    SECTION("one that was exchanged for it") {
        RecordedProgram p;
        (void)p.create("a");
        (void)p.create("b");
        p.prepared();
        (void)p.create("other");
        p.exchange("b", "a");
        p.unlink("a");
        p.fsync(p.create("a"));
        CHECK(durable_names(p, "btrfs") == "1 2 3");
    }
    SECTION("the same name in another directory is another name") {
        RecordedProgram p;
        const auto directory = p.mkdir("d");
        (void)p.create("a", directory);
        p.prepared();
        p.unlink("a", directory);
        p.fsync(p.create("a"));
        CHECK(durable_names(p, "btrfs") == "1");
    }
}

TEST_CASE("btrfs takes along the directories above, where a file was made and where it was moved", "[apps][durability]") {
    SECTION("made there") {
        RecordedProgram p;
        p.prepared();
        (void)p.mkdir("other");
        const auto above = p.mkdir("d");
        const auto directory = p.mkdir("e", above);
        p.fsync(p.create("a", directory));
        CHECK(durable_names(p, "btrfs") == "1 2 3");
    }
    SECTION("moved there") {
        Prepared p;
        (void)p.program.mkdir("other");
        const auto directory = p.program.mkdir("d");
        p.program.rename("a", "a", RecordedProgram::root, directory);
        p.program.fsync(p.file);
        CHECK(durable_names(p.program, "btrfs") == "1 2");
    }
    SECTION("a directory that was moved since") {
        RecordedProgram p;
        p.prepared();
        const auto directory = p.mkdir("d");
        p.rename("d", "e");
        (void)p.create("other");
        p.fsync(p.create("a", directory));
        CHECK(durable_names(p, "btrfs") == "0 1 3");
    }
}

// Goal: a sync makes durable what stood there when it began, and nothing that another thread did before it ended; a close counts as of its call.
// Method: histories of two threads by hand; calls in steps with a call between the steps, on a recorded and on a live file system; the bytes of a
// recorded line, spelled out.
#include <array>

#include "crash/apps/live_history.h"
#include "tests/apps/recorded_program.h"
#include "tests/fs/fs_world.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// An old file `a` of two pages; one thread wrote the first page, another the second while `sync` was under way.
RecordedProgram two_threads(const std::function<void(RecordedProgram&, std::uint64_t file)>& sync) {
    RecordedProgram p;
    const auto file = p.create("a");
    p.append(file, std::string(2 * page_bytes, '.'));
    p.prepared();
    p.write(file, 0, "before");
    p.write(file, page_bytes, "during");
    sync(p, file);
    p.promise("synced");
    return p;
}

bool holds(const AfterCut& cut, std::size_t at, const std::string& text) {
    return !cut.promised("synced") || cut.read("a").value().substr(at, text.size()) == text;
}
bool has_first(const AfterCut& cut) { return holds(cut, 0, "before"); }
bool has_second(const AfterCut& cut) { return holds(cut, page_bytes, "during"); }

/// Lines that a cut at the end may lose.
std::size_t writes_at_risk(const std::vector<Operation>& history, const char* model = "ext4") {
    const Past past{history};
    return find_unsynced(past, *find_persistence(model), past.size()).writes.size();
}
std::size_t names_at_risk(const std::vector<Operation>& history, const char* model = "ext4") {
    const Past past{history};
    return find_unsynced(past, *find_persistence(model), past.size()).names.size();
}

} // namespace

TEST_CASE("what another thread wrote while a sync was under way may be lost in every model, what stood there when it began in none",
          "[apps][persistence]") {
    using Sync = std::function<void(RecordedProgram&, std::uint64_t)>;
    const std::vector<Sync> syncs{[](RecordedProgram& p, std::uint64_t file) { p.fsync(file, 1); },
                                  [](RecordedProgram& p, std::uint64_t file) { p.fdatasync(file, 1); },
                                  [](RecordedProgram& p, std::uint64_t) { p.sync_all(1); }};
    for (std::size_t i = 0; i < syncs.size(); ++i)
        for (const std::string model : all_models) {
            CAPTURE(i, model);
            CHECK_FALSE(first_failure(two_threads(syncs[i]), model, has_first));
            CHECK(first_failure(two_threads(syncs[i]), model, has_second));
        }
}

TEST_CASE("what one sync reached stays durable when another ends that began before it", "[apps][persistence]") {
    for (const std::string model : all_models)
        for (const bool of_all : {false, true}) {
            CAPTURE(model, of_all);
            const auto twice = two_threads([&](RecordedProgram& p, std::uint64_t file) {
                of_all ? p.sync_all() : p.fsync(file);
                of_all ? p.sync_all(2) : p.fsync(file, 2); // the second write and the first sync came meanwhile
            });
            CHECK_FALSE(first_failure(twice, model, has_second));
        }
}

TEST_CASE("a name made while an fsync was under way may be lost where the journal would have carried it", "[apps][persistence]") {
    const auto program = [](std::uint64_t meanwhile) {
        RecordedProgram p;
        p.prepared();
        const auto file = p.create("a");
        p.append(file, "1");
        (void)p.create("b");
        p.chmod(file, 0600); // a change of its own, behind b
        p.fsync(file, meanwhile);
        p.promise("synced");
        return p;
    };
    const Check has_a = [](const AfterCut& c) { return !c.promised("synced") || c.has("a"); };
    const Check has_b = [](const AfterCut& c) { return !c.promised("synced") || c.has("b"); };
    CHECK_FALSE(first_failure(program(0), "ext4", has_b));
    CHECK(first_failure(program(2), "ext4", has_b));
    CHECK_FALSE(first_failure(program(2), "ext4", has_a));
    CHECK_FALSE(first_failure(program(2), "btrfs", has_a));
}

TEST_CASE("a name made in a folder while that was synced may be lost", "[apps][persistence]") {
    RecordedProgram p;
    p.prepared();
    (void)p.create("a");
    (void)p.create("b");
    p.fsync(RecordedProgram::root, 1);
    p.promise("synced");
    for (const std::string model : {"ext4", "xfs", "btrfs", "posix"}) {
        CAPTURE(model);
        CHECK_FALSE(first_failure(p, model, [](const AfterCut& c) { return !c.promised("synced") || c.has("a"); }));
        CHECK(first_failure(p, model, [](const AfterCut& c) { return !c.promised("synced") || c.has("b"); }));
    }
}

TEST_CASE("a close stands where it was called, although the file is given back some calls later", "[apps][persistence]") {
    const auto program = [](std::uint64_t meanwhile) {
        RecordedProgram p;
        const auto file = p.create("a");
        p.append(file, "old");
        p.prepared();
        p.truncate(file, 0);
        p.append(file, "new");
        (void)p.create("later");
        p.promise("closed");
        p.close(file, meanwhile);
        return p;
    };
    const Check has_data = [](const AfterCut& c) { return !c.has("later") || c.read("a") == "new"; };
    CHECK(first_failure(program(0), "ext4", has_data));
    CHECK(first_failure(program(1), "ext4", has_data));
    CHECK_FALSE(first_failure(program(2), "ext4", has_data));
    CHECK_FALSE(first_failure(program(99), "posix", [](const AfterCut& c) { return c.has("a"); }));
}

TEST_CASE("a close that is put where it was called shifts no sync's beginning", "[apps][persistence]") {
    // Method: each line has its number as ino; what a sync says nothing about is read back as numbers.
    Random random{29};
    for (int round = 0; round < 2000; ++round) {
        std::vector<Operation> lines;
        for (std::uint64_t i = 0; i < 12; ++i) {
            const Act act = std::array{Act::write, Act::close, Act::fsync, Act::sync_all, Act::promise}[random.below(5)];
            lines.push_back({.act = act, .ino = i, .bytes = act == Act::write || act == Act::promise ? 0 : random.below(6)});
        }
        const std::vector<Operation> ordered = closes_first(lines);
        REQUIRE(ordered.size() == lines.size());
        std::vector<std::uint64_t> others_before, others_after;
        for (const Operation& line : lines)
            if (line.act != Act::close) others_before.push_back(line.ino);
        for (const Operation& line : ordered)
            if (line.act != Act::close) others_after.push_back(line.ino);
        REQUIRE(others_after == others_before);
        const auto started = [&](std::uint64_t i) { return i - std::min(i, lines[i].bytes); };
        for (std::uint64_t at = 0; at < ordered.size(); ++at) {
            const std::uint64_t me = ordered[at].ino;
            if (!is_sync(ordered[at].act)) continue;
            for (std::uint64_t before = 0; before < at; ++before) {
                const std::uint64_t other = ordered[before].ino;
                const bool came_before =
                    lines[other].act == Act::close && lines[other].bytes != 0 ? started(other) <= started(me) : other < started(me);
                CAPTURE(round, me, other);
                REQUIRE((before < at - std::min(at, ordered[at].bytes)) == came_before);
            }
        }
    }
}

TEST_CASE("a recorded close counts what came since it was called", "[apps][persistence]") {
    FsWorld world{4096, 4u << 20};
    std::vector<Operation> lines;
    int promises = 1;
    RecordingFileSystem recorded{*world.fs, [&](Operation&& line) { lines.push_back(std::move(line)); }, [&] { return lines.size(); },
                                 [&](const RecordingFileSystem::Planned*) -> std::optional<FsError> {
                                     for (; promises > 0; --promises) lines.push_back({.act = Act::promise});
                                     return std::nullopt;
                                 }};
    const Ino file = world.create("a");
    REQUIRE(recorded.open_file(world.call(), file, {.writes = true}).has_value());
    FsCall close = world.call();
    close.close_began = recorded.close_begins().value();
    CHECK(lines.size() == 1); // what was promised before the close stands before it
    promises = 2;
    recorded.close_file(close, file, true);
    REQUIRE(lines.back().act == Act::close);
    CHECK(lines.back().bytes == 2);
    REQUIRE(recorded.open_file(world.call(), file, {.writes = true}).has_value());
    recorded.close_file(world.call(), file, true); // nobody said when it was called
    CHECK(lines.back().bytes == 0);
}

TEST_CASE("a count that is longer than the history reaches back to the preparation and no further", "[apps][persistence]") {
    const auto p = two_threads([](RecordedProgram& program, std::uint64_t file) { program.fsync(file, ~std::uint64_t{0}); });
    CHECK(first_failure(p, "ext4", has_first));
    CHECK_FALSE(first_failure(p, "posix", [](const AfterCut& c) { return c.has("a"); })); // prepared
}

TEST_CASE("the file of a history keeps the count in a word that older ones have as 0", "[apps][persistence]") {
    const Operation sync{.act = Act::fsync, .at_ms = 7, .ino = 3, .bytes = 2};
    std::string text = history_head();
    append_record(text, sync);
    std::string expected = "FLASHLAB HISTORY 1\n";
    expected += '\x0d';                                               // fsync
    for (const char low : {'\x07', '\x03', '\0', '\0', '\0', '\x02'}) // at_ms, ino, parent, to_parent, offset, bytes: the count
        expected += std::string{low} + std::string(7, '\0');          //
    expected += std::string(4 + 3 * 4, '\0');                         // mode, three lengths
    CHECK(text == expected);
    const auto read = read_history(text);
    REQUIRE(read.has_value());
    REQUIRE(read->size() == 1);
    CHECK(read->front().bytes == 2);
    expected[19 + 1 + 5 * 8] = '\0'; // as it was written before the count
    CHECK(read_history(expected)->front().bytes == 0);
}

TEST_CASE("a recorded sync counts the lines that came between its first step and its last, promises too", "[apps][persistence]") {
    FsWorld world{4096, 4u << 20};
    std::vector<Operation> lines{{.act = Act::promise}, {.act = Act::promise}};
    RecordingFileSystem recorded{*world.fs, [&](Operation&& line) { lines.push_back(std::move(line)); }, [&] { return lines.size(); },
                                 [](const RecordingFileSystem::Planned*) { return std::nullopt; }};
    const Ino file = world.create("a");
    const auto put = [&](std::uint64_t at) { REQUIRE(recorded.write(world.call(), file, at, std::as_bytes(std::span{"text", 4})).has_value()); };
    put(0);
    auto sync = recorded.begin_sync(world.call(), file, SyncScope::data_and_metadata, nullptr);
    put(page_bytes);
    lines.push_back({.act = Act::promise});
    REQUIRE(world.run(std::move(sync)) == 0);
    REQUIRE(lines.back().act == Act::fsync);
    CHECK(lines.back().bytes == 2);
    REQUIRE(world.run(recorded.begin_sync_all(world.call())) == 0);
    CHECK(lines.back().bytes == 0);
}

TEST_CASE("fallocate is recorded with the size or without, and no file grows beyond what a history can tell", "[apps][persistence]") {
    FsWorld world{4096, 4u << 20};
    std::vector<Operation> lines;
    RecordingFileSystem recorded{*world.fs, [&](Operation&& line) { lines.push_back(std::move(line)); }, [&] { return lines.size(); },
                                 [](const RecordingFileSystem::Planned*) { return std::nullopt; }};
    const Ino file = world.create("a");
    REQUIRE(recorded.allocate(world.call(), file, FallocateMode::keep_size, page_bytes, page_bytes).has_value());
    REQUIRE(lines.size() == 1);
    CHECK((lines[0].act == Act::extend && lines[0].offset == page_bytes && lines[0].bytes == 2 * page_bytes && keeps_size(lines[0])));
    REQUIRE(recorded.allocate(world.call(), file, FallocateMode::allocate, 0, page_bytes).has_value());
    CHECK_FALSE(keeps_size(lines.back()));
    const auto far = recorded.write(world.call(), file, std::uint64_t{1} << 50, std::as_bytes(std::span{"text", 4}));
    REQUIRE_FALSE(far.has_value());
    CHECK(far.error().error_number == EFBIG);
    CHECK(recorded.allocate(world.call(), file, FallocateMode::punch_hole, 0, std::uint64_t{1} << 50).has_value());
}

namespace {

/// A live history over a world, as a mount with --persistence has it.
struct Live {
    explicit Live(std::uint64_t most_bytes = 64u << 20) : history{*world.fs, most_bytes, [] { return std::uint64_t{0}; }} {}
    [[nodiscard]] Ino make(std::string_view name) {
        const auto made = history.fs().make_node(world.call(), root_ino, name, S_IFREG | 0644, 0);
        REQUIRE(made.has_value());
        return made->value.ino;
    }
    [[nodiscard]] FsResult<Timed<std::size_t>> write(Ino file, std::uint64_t at, const std::string& text) {
        return history.fs().write(world.call(), file, at, std::as_bytes(std::span{text}));
    }
    [[nodiscard]] std::vector<Operation> lines() { return history.history(world.now); }

    FsWorld world{4096, 4u << 20};
    LiveHistory history;
};

} // namespace

TEST_CASE("a live write that came during the fsync of its file may be lost at a cut", "[apps][persistence][live]") {
    Live live;
    const Ino file = live.make("a");
    REQUIRE(live.write(file, 0, "before").has_value());
    auto sync = live.history.fs().begin_sync(live.world.call(), file, SyncScope::data_and_metadata, nullptr);
    REQUIRE(live.write(file, page_bytes, "during").has_value());
    (void)live.make("b");
    REQUIRE(live.world.run(std::move(sync)) == 0);
    CHECK(writes_at_risk(live.lines()) == 1);
    CHECK(names_at_risk(live.lines()) == 1);
    REQUIRE(live.world.run(live.history.fs().begin_sync(live.world.call(), file, SyncScope::data_and_metadata, nullptr)) == 0);
    CHECK(writes_at_risk(live.lines()) == 0);
}

TEST_CASE("a sync of everything that is not over at the cut does not shift what others reach", "[apps][persistence][live]") {
    Live live;
    const Ino file = live.make("a");
    REQUIRE(live.write(file, 0, "1").has_value());
    auto sync = live.history.fs().begin_sync(live.world.call(), file, SyncScope::data_and_metadata, nullptr);
    auto all = live.history.fs().begin_sync_all(live.world.call());
    (void)live.make("b");
    const SimTime before = live.world.now; // told of a time before it is over, its line is left out
    REQUIRE(live.world.run(std::move(all)) == 0);
    REQUIRE(live.write(file, page_bytes, "2").has_value());
    REQUIRE(live.world.run(std::move(sync)) == 0);
    CHECK(live.history.history(before).size() + 1 == live.lines().size());
    CHECK(writes_at_risk(live.history.history(before)) == 1);
    CHECK(writes_at_risk(live.lines()) == 1);
}

TEST_CASE("a sync of everything that is overtaken does not begin a history that its past is missing from", "[apps][persistence][live]") {
    Live live{16 * 1024};
    const Ino large = live.world.create("large");
    REQUIRE(live.world.write(large, 0, std::string(100'000, 'x')) == 0);
    REQUIRE(live.history.fs().unlink(live.world.call(), root_ino, "large").has_value()); // more than the bound: nothing is told any more
    auto all = live.history.fs().begin_sync_all(live.world.call());
    const Ino file = live.make("b");
    REQUIRE(live.world.run(std::move(all)) == 0);
    live.world.now += Duration{1'000'000'000};
    auto wrote = live.write(file, 0, "text");
    while (!wrote) {
        live.world.now = std::max(live.world.now, wrote.error().again);
        wrote = live.write(file, 0, "text");
    }
    CHECK(live.history.own_syncs() == 1); // the one that covers b, too
}

TEST_CASE("a name made while the history syncs by itself stays in it", "[apps][persistence][live]") {
    Live live{16 * 1024};
    const Ino file = live.make("a");
    const std::string text(4000, 'x');
    FsResult<Timed<std::size_t>> wrote = live.write(file, 0, text);
    for (int i = 1; wrote; ++i) wrote = live.write(file, static_cast<std::uint64_t>(i) * text.size(), text);
    REQUIRE(wrote.error().is_again()); // the bound is reached: the history's own sync is under way
    REQUIRE(live.history.own_syncs() == 1);
    (void)live.make("b"); // cannot wait
    for (int i = 0; i < 100 && live.history.own_syncs() == 1 && !wrote; ++i) {
        live.world.now = std::max(live.world.now, wrote.error().again);
        wrote = live.write(file, 0, text);
    }
    CHECK((names_at_risk(live.lines()) == 1 || live.history.own_syncs() == 2)); // not durable before a sync that began after it
    while (!wrote) {
        live.world.now = std::max(live.world.now, wrote.error().again);
        wrote = live.write(file, 0, text);
    }
    CHECK(live.history.own_syncs() == 2);
    CHECK(names_at_risk(live.lines()) == 0);
}

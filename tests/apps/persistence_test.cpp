// Goal: each cell of the table of models (docs/crash-model.md, "What other file systems leave") is what the states show.
// Method: for each cell a program whose belief some models break and others keep. Where a model breaks it, a state that shows it is among those
// tried; where it does not, none of 10,000 states shows it.
#include "tests/apps/model_beliefs.h"

using namespace flashlab;
using namespace flashlab::test;

TEST_CASE("an answered name survives in strict only", "[apps][persistence]") {
    RecordedProgram p;
    p.prepared();
    (void)p.create("a");
    p.promise("made");
    breaks_in("ext4 xfs btrfs posix", p, [](const AfterCut& c) { return !c.promised("made") || c.has("a"); });
}

TEST_CASE("names survive in their order, but for posix", "[apps][persistence]") {
    RecordedProgram p;
    p.prepared();
    (void)p.create("a");
    (void)p.mkdir("b");
    p.rename("a", "c");
    p.unlink("c");
    breaks_in("posix", p, [](const AfterCut& c) { return !c.has("c") || c.has("b"); });
}

TEST_CASE("two renames may survive in either order in posix", "[apps][persistence]") {
    RecordedProgram p;
    prepare(p, "a", "1");
    prepare(p, "b", "2");
    p.prepared();
    p.rename("a", "a2");
    p.rename("b", "b2");
    breaks_in("posix", p, [](const AfterCut& c) { return !c.has("b2") || c.has("a2"); });
}

TEST_CASE("rename over a name gives the old file or the new one when the new one was synced", "[apps][persistence]") {
    RecordedProgram p;
    prepare(p, "a", "old");
    p.prepared();
    const auto file = p.create("t");
    p.append(file, "new");
    p.fsync(file);
    p.rename("t", "a");
    breaks_in("", p, [](const AfterCut& c) { return c.read("a") == "old" || c.read("a") == "new"; });
}

TEST_CASE("rename over a name carries the data in strict and ext4 only", "[apps][persistence]") {
    RecordedProgram p;
    prepare(p, "a", "old");
    p.prepared();
    const auto file = p.create("t");
    p.append(file, "new");
    p.close(file);
    p.rename("t", "a");
    breaks_in("xfs btrfs posix", p, [](const AfterCut& c) { return c.read("a") == "old" || c.read("a") == "new"; });
}

TEST_CASE("rename to a free name carries no data anywhere", "[apps][persistence]") {
    RecordedProgram p;
    p.prepared();
    const auto file = p.create("t");
    p.append(file, "new");
    p.close(file);
    p.rename("t", "a");
    breaks_in("strict ext4 xfs btrfs posix", p, [](const AfterCut& c) { return !c.has("a") || c.read("a") == "new"; });
}

TEST_CASE("a file truncated to nothing and written has its data with the names made after its close in ext4", "[apps][persistence]") {
    RecordedProgram p;
    const auto file = prepare(p, "a", "old");
    p.prepared();
    p.truncate(file, 0);
    p.append(file, "new");
    p.close(file);
    (void)p.create("later");
    breaks_in("strict xfs btrfs posix", p, [](const AfterCut& c) { return !c.has("later") || c.read("a") == "new"; });
    breaks_in("strict ext4 xfs btrfs posix", p, [](const AfterCut& c) { return c.read("a") == "old" || c.read("a") == "new"; });
}

TEST_CASE("unsynced overwrites survive in any order", "[apps][persistence]") {
    RecordedProgram p;
    const auto file = prepare(p, "a", std::string(2 * page, 'A'));
    p.prepared();
    p.write(file, 0, std::string(page, 'B'));
    p.write(file, page, std::string(page, 'B'));
    breaks_in("strict ext4 xfs btrfs posix", p, [](const AfterCut& c) { return c.read("a")->at(page) != 'B' || c.read("a")->at(0) == 'B'; });
}

TEST_CASE("a write of two pages is done page by page", "[apps][persistence]") {
    RecordedProgram p;
    const auto file = prepare(p, "a", std::string(2 * page, 'A'));
    p.prepared();
    p.write(file, 0, std::string(2 * page, 'B'));
    breaks_in("strict ext4 xfs btrfs posix", p, [](const AfterCut& c) { return c.read("a")->at(0) == c.read("a")->at(page); });
}

TEST_CASE("a page may be torn at 512 bytes where it is overwritten in place", "[apps][persistence]") {
    RecordedProgram p;
    const auto file = prepare(p, "a", std::string(page, 'A'));
    p.prepared();
    p.write(file, 0, std::string(page, 'B'));
    breaks_in("ext4 xfs posix", p, [](const AfterCut& c) { return c.read("a") == std::string(page, 'A') || c.read("a") == std::string(page, 'B'); });
    breaks_in("", p, [](const AfterCut& c) { return c.read("a")->substr(0, 512) == std::string(512, c.read("a")->at(0)); });
}

TEST_CASE("what is called lost leads to the same state again", "[apps][persistence]") {
    RecordedProgram p;
    prepare(p, "old", "old");
    const auto file = prepare(p, "a", "x");
    p.prepared();
    p.append(file, std::string(2 * page, 'y'));
    p.append(file, std::string(page, 'z'));
    (void)p.create("b");
    p.truncate(file, page + 7);
    p.punch(file, 3, 9);
    p.write(file, 0, "w");
    p.rename("a", "old");
    p.append(file, "v");
    const std::string model = GENERATE(from_range(all_models));
    CAPTURE(model);
    const Past past{p.history()};
    const Persistence persistence = *find_persistence(model);
    StateOrder order{past, persistence, 1};
    for (int i = 0; i < 3000; ++i) {
        const LeftState state{past, persistence, order.next()};
        const LeftState again{past, persistence, {state.cut(), state.lost()}};
        REQUIRE(again.tree().id == state.tree().id);
        REQUIRE(again.lost() == state.lost());
    }
}

TEST_CASE("of several appends a prefix survives, but for posix", "[apps][persistence]") {
    RecordedProgram p;
    const auto file = prepare(p, "a", "");
    p.prepared();
    std::string whole;
    for (const char c : {'1', '2', '3'}) {
        p.append(file, std::string(page, c));
        whole += std::string(page, c);
    }
    breaks_in("posix", p, [&](const AfterCut& c) { return whole.starts_with(*c.read("a")); });
}

TEST_CASE("of a write appended a prefix may be there", "[apps][persistence]") {
    RecordedProgram p;
    const auto file = prepare(p, "a", "");
    p.prepared();
    p.append(file, std::string(3 * page, '1'));
    breaks_in("strict ext4 xfs btrfs posix", p, [&](const AfterCut& c) { return c.read("a")->empty() || c.read("a") == std::string(3 * page, '1'); });
}

TEST_CASE("the bytes of a page that grows may come before its size", "[apps][persistence]") {
    RecordedProgram p;
    const auto file = prepare(p, "a", "old");
    p.prepared();
    p.write(file, 0, "newer");
    breaks_in("ext4 xfs posix", p, [&](const AfterCut& c) { return c.read("a") == "old" || c.read("a") == "newer"; });
}

TEST_CASE("fsync of a file makes its own name durable, but for posix", "[apps][persistence]") {
    RecordedProgram p;
    p.prepared();
    const auto directory = p.mkdir("d");
    const auto file = p.create("a", directory);
    p.append(file, "data");
    p.fsync(file);
    p.promise("made");
    breaks_in("posix", p, [](const AfterCut& c) { return !c.promised("made") || c.read("d/a") == "data"; });
}

TEST_CASE("fsync of a file makes earlier names of others durable in strict, ext4 and xfs", "[apps][persistence]") {
    RecordedProgram p;
    p.prepared();
    (void)p.create("b");
    const auto file = p.create("a");
    p.append(file, "data");
    p.fsync(file);
    p.promise("made");
    breaks_in("btrfs posix", p, [](const AfterCut& c) { return !c.promised("made") || c.has("b"); });
}

TEST_CASE("fsync of a file reaches as far as its own last change: the journal may have been committed right behind that", "[apps][persistence]") {
    const bool grows = GENERATE(false, true), is_data_only = GENERATE(false, true);
    RecordedProgram p;
    prepare(p, "c", "");
    p.prepared();
    const auto file = p.create("a");
    if (grows) p.append(file, "data");
    (void)p.create("b");
    is_data_only ? p.fdatasync(file) : p.fsync(file);
    p.promise("made");
    breaks_in("ext4 xfs btrfs posix", p, [](const AfterCut& c) { return !c.promised("made") || c.has("b"); });
    breaks_in("posix", p, [&](const AfterCut& c) { return !c.promised("made") || c.read("a") == (grows ? "data" : ""); });
}

TEST_CASE("a truncation that is lost may have zeroed the rest of its page, a hole both its ends, where data are written in place",
          "[apps][persistence]") {
    RecordedProgram p;
    const auto file = prepare(p, "a", "0123456789");
    p.prepared();
    p.truncate(file, 5);
    breaks_in("ext4 xfs posix", p, [](const AfterCut& c) { return c.read("a") == "0123456789" || c.read("a") == "01234"; });
    breaks_in("", p, [](const AfterCut& c) { return c.read("a")->starts_with("01234"); });
    RecordedProgram holes;
    const std::string three(3 * page, 'A');
    const auto wide = prepare(holes, "a", three);
    holes.prepared();
    holes.punch(wide, 100, 2 * page);
    const auto zeroed = [&](std::size_t from, std::size_t to) { return std::string{three}.replace(from, to - from, to - from, '\0'); };
    breaks_in("ext4 xfs posix", holes, [&](const AfterCut& c) { return c.read("a") == three || c.read("a") == zeroed(100, 100 + 2 * page); });
    breaks_in("", holes, [&](const AfterCut& c) {
        const std::string left = *c.read("a");
        return left == three || left == zeroed(100, 100 + 2 * page) ||
               left == std::string{zeroed(100, page)}.replace(2 * page, 100, 100, '\0'); // the page between has its bytes as long as its block
    });
}

TEST_CASE("a new block is zeros under its size in ext4 where a later name was committed", "[apps][persistence]") {
    RecordedProgram p;
    p.prepared();
    const auto file = p.create("a");
    p.append(file, "data");
    (void)p.create("later");
    breaks_in("ext4 posix", p, [](const AfterCut& c) { return !c.has("later") || c.read("a") == "data" || c.read("a")->empty(); });
    p.fsync(file);
    p.promise("synced");
    breaks_in("posix", p, [](const AfterCut& c) { return !c.promised("synced") || c.read("a") == "data"; });
}

TEST_CASE("fsync of a file that only was overwritten makes nobody's name durable", "[apps][persistence]") {
    RecordedProgram p;
    const auto file = prepare(p, "a", "data");
    p.prepared();
    (void)p.create("b");
    p.write(file, 0, "DATA");
    p.fdatasync(file);
    p.promise("made");
    breaks_in("ext4 xfs btrfs posix", p, [](const AfterCut& c) { return !c.promised("made") || c.has("b"); });
    breaks_in("", p, [](const AfterCut& c) { return !c.promised("made") || c.read("a") == "DATA"; });
}

TEST_CASE("rights are there after fsync everywhere, after a sync of data alone in strict and btrfs", "[apps][persistence]") {
    const bool is_data_only = GENERATE(false, true);
    RecordedProgram p;
    const auto file = prepare(p, "a", "data");
    p.chmod(file, 0644);
    p.prepared();
    p.chmod(file, 0600);
    is_data_only ? p.fdatasync(file) : p.fsync(file);
    p.promise("synced");
    breaks_in(is_data_only ? "ext4 xfs posix" : "", p, [](const AfterCut& left) { return !left.promised("synced") || left.mode_of("a") == 0600; });
}

TEST_CASE("fsync of a directory makes its names durable everywhere, and others as the journal has them", "[apps][persistence]") {
    RecordedProgram p;
    const auto directory = p.mkdir("d");
    p.prepared();
    (void)p.create("other", directory);
    (void)p.create("a");
    p.fsync(RecordedProgram::root);
    p.promise("made");
    breaks_in("", p, [](const AfterCut& c) { return !c.promised("made") || c.has("a"); });
    breaks_in("btrfs posix", p, [](const AfterCut& c) { return !c.promised("made") || c.has("d/other"); });
}

TEST_CASE("names grow old and durable, as the model says", "[apps][persistence]") {
    const auto belief = [](const AfterCut& c) { return !c.promised("made") || c.has("a"); };
    for (const auto& [wait, broken] : {std::pair{6'000, "ext4 xfs btrfs posix"}, std::pair{8'000, "xfs btrfs posix"}, std::pair{36'000, "posix"}}) {
        RecordedProgram p;
        p.prepared();
        (void)p.create("a");
        p.wait(static_cast<std::uint64_t>(wait));
        p.promise("made");
        breaks_in(broken, p, belief);
    }
}

TEST_CASE("data grow old and durable later than names", "[apps][persistence]") {
    RecordedProgram p;
    const auto file = prepare(p, "a", "old");
    p.prepared();
    p.write(file, 0, "new");
    p.wait(46'000);
    p.promise("made");
    breaks_in("strict xfs btrfs posix", p, [](const AfterCut& c) { return !c.promised("made") || c.read("a") == "new"; });
}

TEST_CASE("what a flush of everything covered is there in every model", "[apps][persistence]") {
    RecordedProgram p;
    p.prepared();
    const auto directory = p.mkdir("d");
    const auto file = p.create("a", directory);
    p.append(file, "data");
    p.link(file, "b");
    p.prepared();
    p.promise("made");
    breaks_in("", p, [](const AfterCut& c) { return !c.promised("made") || (c.read("d/a") == "data" && c.read("b") == "data"); });
}

TEST_CASE("whatever survives is a tree", "[apps][persistence]") {
    RecordedProgram p;
    p.prepared();
    const auto a = p.mkdir("a");
    const auto b = p.mkdir("b", a);
    (void)p.create("f", b);
    p.rename("b", "c", a, RecordedProgram::root);
    p.rename("a", "a", RecordedProgram::root, b);
    p.rename("f", "g", b);
    p.unlink("g", b);
    p.rmdir("a", b);
    const Check is_tree = [](const AfterCut& c) {
        std::set<std::string> names;
        for (const std::string& name : c.names()) {
            const auto slash = name.rfind('/');
            if (slash != std::string::npos && !names.contains(name.substr(0, slash))) return false;
            if (!names.insert(name).second) return false;
        }
        return true;
    };
    breaks_in("", p, is_tree);
}

TEST_CASE("names that differ in what counts them up are of one kind", "[apps]") {
    CHECK(kind_of_path("a.tmp17") == kind_of_path("a.tmp18"));
    CHECK(kind_of_path("d/tmp_kdo6vw") == kind_of_path("d/tmp_1x9abc"));
    CHECK(kind_of_path("objects/tmp_obj_aBcdeF") == kind_of_path("objects/tmp_obj_qXyzAb"));
    CHECK(kind_of_path("d/Readme") != kind_of_path("d/Remade"));
    CHECK(kind_of_path("q0001") == kind_of_path("q0002"));
    CHECK(kind_of_path("00/1f3a9b") == kind_of_path("07/ffe012"));
    CHECK(kind_of_path("cache/3f/4e/9030934c0e94.val") == kind_of_path("cache/bf/e1/35e552556359.val"));
    CHECK(kind_of_path("a.tmp") != kind_of_path("b.tmp"));
    CHECK(kind_of_path("data/1a2") == "data/#a#");
    CHECK(kind_of_path("") == "");
}

TEST_CASE("the same history and seed give the same states in the same order", "[apps]") {
    RecordedProgram p;
    p.prepared();
    for (const char* name : {"a", "b", "c"}) {
        const auto file = p.create(name);
        p.append(file, std::string(3 * page, *name));
        p.rename(name, std::string{name} + "2");
    }
    const Past past{p.history()};
    const Persistence model = *find_persistence("posix");
    StateOrder one{past, model, 7}, other{past, model, 7};
    for (int i = 0; i < 3000; ++i) {
        const CutState left = one.next(), right = other.next();
        REQUIRE(left.cut == right.cut);
        REQUIRE(left.losses == right.losses);
    }
}

TEST_CASE("a tear of sectors that are equal is no state of its own", "[apps]") {
    RecordedProgram p;
    const auto file = prepare(p, "a", std::string(page, 'A'));
    p.prepared();
    p.write(file, 0, "B");
    const Past past{p.history()};
    const Persistence model = *find_persistence("posix");
    StateOrder order{past, model, 1};
    std::set<std::uint64_t> trees;
    for (int i = 0; i < 2000; ++i) trees.insert(LeftState{past, model, order.next()}.tree().id);
    CHECK(trees.size() == 2); // the old content and the new one
}

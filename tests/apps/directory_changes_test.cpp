// Goal: what a directory's own changes leave: exchanges, rights, attributes; and that no size comes that no file had.
// Method: as in persistence_test.cpp: a belief, and the models in which a state breaks it.
#include "tests/apps/model_beliefs.h"

using namespace flashlab;
using namespace flashlab::test;

TEST_CASE("an exchange that would bring a directory into itself is not there, and takes nothing with it", "[apps][persistence]") {
    RecordedProgram p;
    const auto a = p.mkdir("A");
    const auto q = p.mkdir("Q", a);
    (void)p.create("file", q);
    (void)p.create("keep", a);
    (void)p.mkdir("Z");
    p.prepared();
    p.rename("Q", "Q", a, RecordedProgram::root); // lost, Q still lies in A
    (void)p.mkdir("m", q);
    p.exchange("A", "m", RecordedProgram::root, q);
    p.rename("Z", "Z", RecordedProgram::root, q);
    breaks_in("", p, [](const AfterCut& c) {
        const auto names = c.names();
        const auto ends_with = [&](std::string_view end) { return std::ranges::any_of(names, [&](const auto& n) { return n.ends_with(end); }); };
        return ends_with("Q/file") && ends_with("keep");
    });
}

TEST_CASE("the sync of a directory makes its rights and attributes durable", "[apps][persistence]") {
    RecordedProgram p;
    const auto d = p.mkdir("d");
    p.prepared();
    p.chmod(d, S_IFDIR | 0700);
    p.set_xattr(d, "user.a", "1");
    p.fsync(d);
    p.promise("done");
    breaks_in("", p, [](const AfterCut& c) { return !c.promised("done") || (c.mode_of("d") == 0700 && c.xattr_of("d", "user.a") == "1"); });
}

TEST_CASE("what a directory's rights wait for in the journal is durable with its sync in ext4 and XFS", "[apps][persistence]") {
    RecordedProgram p;
    const auto d = p.mkdir("d");
    p.prepared();
    (void)p.create("x");
    p.chmod(d, S_IFDIR | 0700);
    p.fsync(d);
    p.promise("done");
    breaks_in("btrfs posix", p, [](const AfterCut& c) { return !c.promised("done") || c.has("x"); });
}

TEST_CASE("a sync after a sync of data alone still commits the rights that wait, and the names before them", "[apps][persistence]") {
    RecordedProgram p;
    const auto f = prepare(p, "f", std::string(page, 'A'));
    p.prepared();
    (void)p.create("x");
    p.chmod(f, S_IFREG | 0600);
    p.write(f, 0, std::string(page, 'B'));
    p.fdatasync(f);
    p.fsync(f);
    p.promise("done");
    breaks_in("btrfs posix", p, [](const AfterCut& c) { return !c.promised("done") || c.has("x"); });
    breaks_in("", p, [](const AfterCut& c) { return !c.promised("done") || c.mode_of("f") == 0600; });
}

TEST_CASE("a write that changes no size brings none", "[apps][persistence]") {
    RecordedProgram p;
    const auto f = prepare(p, "f", "0123456789");
    p.prepared();
    p.write(f, 0, std::string(60, 'a'));
    p.write(f, 0, std::string(30, 'b'));
    breaks_in("", p, [](const AfterCut& c) { return c.read("f")->size() == 10 || c.read("f")->size() == 60; });
}

TEST_CASE("attributes of directories come and go with them, as those of files", "[apps][persistence]") {
    RecordedProgram p;
    const auto d = p.mkdir("d");
    p.set_xattr(d, "user.a", "1");
    p.prepared();
    p.rename("d", "e");
    p.set_xattr(d, "user.a", "2");
    breaks_in("", p, [](const AfterCut& c) {
        const std::string value = c.xattr_of(c.has("d") ? "d" : "e", "user.a");
        return value == "1" || value == "2";
    });
    breaks_in("posix", p, [](const AfterCut& c) { return !(c.has("d") && c.xattr_of("d", "user.a") == "2"); });
}

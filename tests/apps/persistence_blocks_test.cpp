// Goal: where a page had its block decides in ext4 what a rename carries, and whether a size comes without its bytes (docs/crash-model.md).
#include "tests/apps/model_beliefs.h"

using namespace flashlab;
using namespace flashlab::test;

TEST_CASE("rename over a name carries no overwrite in place, and nothing into fallocated space, but for strict", "[apps][persistence]") {
    const std::string kind = GENERATE("in place", "fallocated", "fallocated, the size kept");
    CAPTURE(kind);
    RecordedProgram p;
    prepare(p, "a", "old");
    const auto file = p.create("t");
    if (kind == "in place") p.append(file, std::string(2 * page, 'o'));
    p.prepared();
    if (kind == "fallocated") p.extend(file, 2 * page);
    if (kind == "fallocated, the size kept") p.reserve(file, 2 * page);
    p.write(file, 0, std::string(2 * page, 'n'));
    p.close(file);
    p.rename("t", "a");
    breaks_in("ext4 xfs btrfs posix", p, [](const AfterCut& c) { return c.read("a") == "old" || c.read("a") == std::string(2 * page, 'n'); });
    p.fsync(file);
    p.promise("synced");
    breaks_in("", p, [](const AfterCut& c) { return !c.promised("synced") || c.read("a") == "old" || c.read("a") == std::string(2 * page, 'n'); });
}

TEST_CASE("rename over a name carries the new blocks in ext4, and not what was overwritten beside them", "[apps][persistence]") {
    RecordedProgram p;
    prepare(p, "a", "old");
    const auto file = prepare(p, "t", std::string(page, 'o'));
    p.prepared();
    p.write(file, 0, std::string(2 * page, 'n'));
    p.rename("t", "a");
    breaks_in("xfs btrfs posix", p, [](const AfterCut& c) { return c.read("a") == "old" || c.read("a")->substr(page) == std::string(page, 'n'); });
    breaks_in("ext4 xfs btrfs posix", p, [](const AfterCut& c) { return c.read("a") == "old" || c.read("a") == std::string(2 * page, 'n'); });
}

TEST_CASE("rename over a name carries into a hole that a truncation or a punch made, even after fallocate", "[apps][persistence]") {
    const bool is_punched = GENERATE(false, true);
    CAPTURE(is_punched);
    RecordedProgram p;
    prepare(p, "a", "old");
    const auto file = p.create("t");
    p.extend(file, 2 * page);
    p.write(file, 0, std::string(2 * page, 'o'));
    p.prepared();
    is_punched ? p.punch(file, 0, 2 * page) : p.truncate(file, 0);
    p.write(file, 0, std::string(2 * page, 'n'));
    p.rename("t", "a");
    breaks_in("xfs btrfs posix", p, [](const AfterCut& c) { return c.read("a") == "old" || c.read("a") == std::string(2 * page, 'n'); });
}

TEST_CASE("a file truncated to nothing and written into fallocated space has its data by a sync alone, but for strict", "[apps][persistence]") {
    RecordedProgram p;
    const auto file = prepare(p, "a", "old");
    p.prepared();
    p.truncate(file, 0);
    p.extend(file, page);
    p.write(file, 0, std::string(page, 'n'));
    p.close(file);
    (void)p.create("later");
    const Check has_no_zeros = [](const AfterCut& c) { return !c.has("later") || c.read("a") == std::string(page, 'n'); };
    breaks_in("strict ext4 xfs btrfs posix", p, has_no_zeros);
}

TEST_CASE("in one journal a truncation that is lost leaves the old bytes, and none of what was written behind it", "[apps][persistence]") {
    const bool is_punched = GENERATE(false, true), is_fallocated = GENERATE(false, true);
    CAPTURE(is_punched, is_fallocated);
    RecordedProgram p;
    const auto file = prepare(p, "a", std::string(2 * page, 'x'));
    p.prepared();
    is_punched ? p.punch(file, 0, 2 * page) : p.truncate(file, 0);
    if (is_fallocated) p.extend(file, 2 * page);
    p.write(file, 0, std::string(2 * page, 'y'));
    const Check is_not_mixed = [](const AfterCut& c) {
        const std::string now = *c.read("a");
        return now.find('x') == std::string::npos || now.find('y') == std::string::npos;
    };
    breaks_in("posix", p, is_not_mixed);
    p.fsync(file);
    p.promise("synced");
    breaks_in("", p, [](const AfterCut& c) { return !c.promised("synced") || c.read("a") == std::string(2 * page, 'y'); });
}

TEST_CASE("what is written within a block that a lost truncation only shortened may be there", "[apps][persistence]") {
    RecordedProgram p;
    const auto file = prepare(p, "a", std::string(100, 'x'));
    p.prepared();
    p.truncate(file, 50);
    p.write(file, 0, "y");
    breaks_in("ext4 xfs posix", p, [](const AfterCut& c) { return c.read("a") != "y" + std::string(49, 'x') + std::string(50, '\0'); });
}

TEST_CASE("a new block is zeros or whole in one journal; one that was there can be torn", "[apps][persistence]") {
    RecordedProgram p;
    const auto hole = p.create("a");
    p.truncate(hole, page);
    const auto there = prepare(p, "b", std::string(page, 'x'));
    p.prepared();
    p.write(hole, 0, std::string(page, 'y'));
    p.write(there, 0, std::string(page, 'y'));
    const auto is_torn = [](const AfterCut& c, const char* name) {
        const std::string now = *c.read(name);
        return now.find('y') != std::string::npos && now != std::string(page, 'y');
    };
    breaks_in("posix", p, [&](const AfterCut& c) { return !is_torn(c, "a"); });
    breaks_in("ext4 xfs posix", p, [&](const AfterCut& c) { return !is_torn(c, "b"); });
}

TEST_CASE("a block that fallocate made is zeros or whole in one journal, once its allocation is there", "[apps][persistence]") {
    RecordedProgram p;
    const auto file = prepare(p, "a", std::string(page, 'x'));
    p.prepared();
    p.truncate(file, 0);
    p.extend(file, page);
    p.fsync(file);
    p.write(file, 0, std::string(page, 'y'));
    breaks_in("posix", p, [](const AfterCut& c) {
        const std::string now = *c.read("a");
        return now.find('y') == std::string::npos || now == std::string(page, 'y');
    });
}

TEST_CASE("an append shows zeros in posix, and in ext4 with a name made after it", "[apps][persistence]") {
    RecordedProgram p;
    const auto file = prepare(p, "a", "x");
    p.prepared();
    p.append(file, "yyyy");
    p.append(file, std::string(2 * page, 'z'));
    (void)p.create("other");
    breaks_in("ext4 posix", p, [](const AfterCut& c) { return c.read("a")->find('\0') == std::string::npos; });
    breaks_in("ext4 posix", p, [](const AfterCut& c) { return c.read("a")->find('\0', page) == std::string::npos; });
    breaks_in("posix", p, [](const AfterCut& c) { return c.has("other") || c.read("a")->find('\0') == std::string::npos; });
}

TEST_CASE("an append that begins a block, or goes on in one that nobody synced, is zeros as a whole in ext4", "[apps][persistence]") {
    const std::string synced(GENERATE(std::size_t{0}, page), 'x');
    CAPTURE(synced.size());
    RecordedProgram p;
    const auto file = prepare(p, "a", synced);
    p.prepared();
    p.append(file, "yyyy");
    p.append(file, "zzzz");
    (void)p.create("other");
    const auto behind = [&](const AfterCut& c) { return c.read("a")->substr(synced.size()); };
    breaks_in("ext4 posix", p, [&](const AfterCut& c) { return behind(c).find('\0') == std::string::npos; });
}

TEST_CASE("in ext4 a size comes without its bytes only with names made after it, and a sync of the file brings both", "[apps][persistence]") {
    RecordedProgram p;
    const auto file = prepare(p, "log", "x");
    p.prepared();
    p.append(file, "y");
    p.fsync(p.create("other"));
    p.promise("other");
    breaks_in("ext4 posix", p, [](const AfterCut& c) { return !c.promised("other") || c.read("log") != std::string{"x\0", 2}; });
    breaks_in("posix", p, [](const AfterCut& c) { return c.has("other") || c.read("log") != std::string{"x\0", 2}; });
    p.fdatasync(file);
    p.promise("log");
    breaks_in("", p, [](const AfterCut& c) { return !c.promised("log") || c.read("log") == "xy"; });
}

TEST_CASE("a rename over a name gives the file its blocks in ext4: what is appended then may be zeros", "[apps][persistence]") {
    RecordedProgram p;
    prepare(p, "a", "old");
    p.prepared();
    const auto file = p.create("t");
    p.append(file, "x");
    p.rename("t", "a");
    p.append(file, "y");
    (void)p.create("other");
    breaks_in("ext4 posix", p, [](const AfterCut& c) { return c.read("a") == "old" || c.read("a") != std::string{"x\0", 2}; });
    breaks_in("xfs btrfs posix", p, [](const AfterCut& c) { return c.read("a") == "old" || c.read("a")->starts_with("x"); });
}

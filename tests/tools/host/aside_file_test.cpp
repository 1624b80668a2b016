// Goal: a file that is written aside is the old one or the whole new one, and nothing else is ever left.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/catch.h"
#include "tests/support/file_text.h"
#include "tests/support/temporary_directory.h"
#include "tools/host/aside_file.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

namespace files = std::filesystem;

std::size_t entries(const files::path& folder) {
    return static_cast<std::size_t>(std::distance(files::directory_iterator{folder}, files::directory_iterator{}));
}

} // namespace

TEST_CASE("a file that is not committed leaves what was there, and nothing else", "[tools]") {
    const TemporaryDirectory work;
    std::ofstream{work / "page"} << "old";
    {
        auto file = AsideFile::make((work / "page").string(), AsideFile::Existing::replaced);
        REQUIRE(file.has_value());
        REQUIRE(file->write("half of the new").has_value());
        std::ofstream{file->path() + "-wal"} << "of SQLite";
    }
    CHECK(text_of(work / "page") == "old");
    CHECK(entries(work / "") == 1);
}

TEST_CASE("a file that is committed has the mode of the one before, and a link to it stays a link", "[tools]") {
    const TemporaryDirectory work;
    std::ofstream{work / "page"} << "old";
    files::permissions(work / "page", files::perms{0640});
    files::create_symlink("page", work / "link");
    auto file = AsideFile::make((work / "link").string(), AsideFile::Existing::replaced);
    REQUIRE(file.has_value());
    REQUIRE(file->write("new").has_value());
    CHECK(text_of(work / "page") == "old");
    REQUIRE(file->commit().has_value());
    CHECK(text_of(work / "page") == "new");
    CHECK(files::is_symlink(work / "link"));
    CHECK(files::status(work / "page").permissions() == files::perms{0640});
    CHECK(entries(work / "") == 2);
}

TEST_CASE("a name that must be new and is taken meanwhile is not overwritten", "[tools]") {
    const TemporaryDirectory work;
    auto file = AsideFile::make((work / "log").string(), AsideFile::Existing::refused);
    REQUIRE(file.has_value());
    REQUIRE(file->write("ours").has_value());
    std::ofstream{work / "log"} << "theirs";
    CHECK_FALSE(file->commit().has_value());
    CHECK(text_of(work / "log") == "theirs");
    CHECK_FALSE(AsideFile::make((work / "log").string(), AsideFile::Existing::refused).has_value());
}

TEST_CASE("where no file can be made is told at the beginning", "[tools]") {
    const TemporaryDirectory work;
    CHECK_FALSE(AsideFile::make("", AsideFile::Existing::replaced).has_value());
    CHECK_FALSE(AsideFile::make((work / "").string(), AsideFile::Existing::replaced).has_value());
    CHECK_FALSE(AsideFile::make((work / "no/such").string(), AsideFile::Existing::replaced).has_value());
    files::create_symlink("loop", work / "loop");
    CHECK_FALSE(AsideFile::make((work / "loop").string(), AsideFile::Existing::replaced).has_value());
    CHECK(entries(work / "") == 1);
}

TEST_CASE("a device is written straight through, and stays one", "[tools]") {
    auto file = AsideFile::make("/dev/full", AsideFile::Existing::replaced);
    REQUIRE(file.has_value());
    CHECK(file->path() == "/dev/full");
    (void)file->write("lost");
    CHECK_FALSE(file->commit().has_value());
    CHECK(files::is_character_file("/dev/full"));
}

TEST_CASE("what is read, a database and a file of a drive are not replaced", "[tools]") {
    const TemporaryDirectory work;
    const auto at = [&](const char* name) { return (work / name).string(); };
    const auto makes = [](const std::string& name, const std::vector<std::string>& read = {}) {
        return AsideFile::make(name, AsideFile::Existing::replaced, read).has_value();
    };
    std::ofstream{work / "trace"} << "0,1,2";
    files::create_symlink("trace", work / "link");
    files::create_hard_link(work / "trace", work / "hard");
    for (const char* name : {"trace", "link", "hard"}) {
        CHECK(makes(at(name)));
        CHECK_FALSE(makes(at(name), {at("other"), at("trace")}));
    }
    std::ofstream{work / "log.db"} << std::string_view{"SQLite format 3\0 and more", 25};
    CHECK_FALSE(makes(at("log.db")));
    CHECK(AsideFile::make(at("log.db"), AsideFile::Existing::replaced_database).has_value());
    files::create_directory(work / "dev");
    std::ofstream{work / "dev/nand.img"} << "image";
    CHECK(makes(at("dev/nand.img"))); // so far no drive
    std::ofstream{work / "dev/device.toml"} << "format = 1";
    for (const char* name : {"dev/nand.img", "dev/device.toml"}) {
        CHECK_FALSE(makes(at(name)));
        CHECK_FALSE(AsideFile::make(at(name), AsideFile::Existing::replaced_database).has_value());
    }
    CHECK(makes(at("dev/page.html")));
    CHECK(entries(work / "dev") == 2);
}

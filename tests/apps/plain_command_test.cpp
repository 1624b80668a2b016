#include "tools/explore/plain_command.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/catch.h"
#include "tools/explore/check_run.h"

using namespace flashlab;

namespace {

std::string content_of(const std::string& file) {
    std::ifstream in{file};
    return {std::istreambuf_iterator<char>{in}, {}};
}

} // namespace

TEST_CASE("a check that is one program and its words is split as the shell does", "[plain_command]") {
    const auto plain = plain_command("  A=1 B='x y' exec './a check' 'one two' \"3 4\" --five=5 ''");
    REQUIRE(plain);
    CHECK(plain->assignments == std::vector<std::pair<std::string, std::string>>{{"A", "1"}, {"B", "x y"}});
    CHECK(plain->words == std::vector<std::string>{"./a check", "one two", "3 4", "--five=5", ""});
    CHECK(plain_command("exec A=b c")->words.front() == "A=b"); // behind exec it is a program
    CHECK(plain_command("'A=b' c")->words.front() == "A=b");
    CHECK(plain_command("python3 check.py")->words.size() == 2);
}

TEST_CASE("what may mean more than its letters is left to the shell", "[plain_command]") {
    for (const char* line :
         {"",    "   ", "A=1",   "a; b", "a && b", "a | b", "a > f",  "a $B", "a \"$B\"", "a `b`", "a \\b",   "a *",       "a ?",         "a [b]",
          "a ~", "~/a", "a # b", "a 'b", "a \"b",  "! a",   "{ a; }", "a\nb", "(a)",      "a &",   "a {b,c}", "PATH=/x a", "exec -a b c", "exec"})
        CHECK_FALSE(plain_command(line));
}

TEST_CASE("a check does the same without the shell as with it", "[plain_command]") {
    std::string work = (std::filesystem::temp_directory_path() / "flashlab-check.XXXXXX").string();
    REQUIRE(::mkdtemp(work.data()) != nullptr);
    std::filesystem::create_directory(work + "/state");
    const auto write = [&](const std::string& name, const std::string& text) {
        std::ofstream{work + "/state/" + name} << text;
        ::chmod((work + "/state/" + name).c_str(), 0755);
    };
    write("says", "#!/bin/sh\nprintf '%s|' \"$PWD\" \"$V\" \"$@\"\nexit 3\n");
    write("bare", "printf bare\nexit 4\n"); // without #!: a shell takes it for its own
    write("dies", "#!/bin/sh\nkill -TERM $$\n");
    const auto run = [&](const std::string& line) {
        const CheckVerdict verdict = run_check(
            {.command = line, .directory = work + "/state", .output = work + "/out", .environment = {}, .limit = std::chrono::milliseconds{20'000}});
        return std::pair{verdict.code, content_of(work + "/out")};
    };
    for (const std::string line : {"./says 'a b' c", "V=x./y ./says", "exec ./says", "./bare", "./dies", "true", "false", ":", "exit 5"}) {
        INFO(line);
        CHECK(run(line) == run(line + " #")); // a comment is for the shell
    }
    CHECK(run("./says 'a b'") == std::pair{3, work + "/state||a b|"});
    CHECK(run("./not-there").first == 127);
    std::filesystem::remove_all(work);
}

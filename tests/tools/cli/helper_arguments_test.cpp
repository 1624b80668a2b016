// What mount(8), fsck(8) and mkfs(8) pass, and the codes they expect.
#include "tests/support/catch.h"

#include "tools/cli/command_line.h"

using namespace flashlab;
using Arguments = std::vector<std::string>;

TEST_CASE("mount(8)'s arguments become the command's", "[tools]") {
    CHECK(translate_helper_arguments("mount", {"/dev/disk", "/mnt", "-o", "rw,noatime"}) ==
          Arguments{"mount", "/dev/disk", "/mnt", "-o", "rw,noatime"});
    CHECK(translate_helper_arguments("mount", {"d", "m", "-sfnv", "-N", "/proc/1/ns/mnt", "-t", "fuse.flashlab"}) ==
          Arguments{"mount", "d", "m", "--sloppy", "--fake"});
    CHECK(translate_helper_arguments("mount", {"-r", "d", "m"}) == Arguments{"mount", "--read-only", "d", "m"});
    CHECK(translate_helper_arguments("mount", {"-rw"}) == Arguments{"mount", "--read-only"});
}

TEST_CASE("fsck(8)'s arguments become the command's; -n is kept, since it promises to change nothing", "[tools]") {
    CHECK(translate_helper_arguments("fsck", {"-a", "-C0", "d"}) == Arguments{"fsck", "d"});
    CHECK(translate_helper_arguments("fsck", {"-C", "5", "-T", "-f", "-v", "d"}) == Arguments{"fsck", "d"});
    CHECK(translate_helper_arguments("fsck", {"-C", "d"}) == Arguments{"fsck", "d"});
    CHECK(translate_helper_arguments("fsck", {"-n", "d"}) == Arguments{"fsck", "-n", "d"});
    CHECK(translate_helper_arguments("fsck", {"-fn", "d"}) == Arguments{"fsck", "-n", "d"});
}

TEST_CASE("mkfs(8)'s arguments become the command's", "[tools]") {
    CHECK(translate_helper_arguments("mkfs", {"-n", "-F", "-L", "home", "-v", "d"}) == Arguments{"mkfs", "-n", "--force", "--label", "home", "d"});
    CHECK(translate_helper_arguments("mkfs", {"--size", "1G", "d"}) == Arguments{"mkfs", "--size", "1G", "d"});
}

TEST_CASE("exit codes are those of the page of each caller", "[tools]") {
    CHECK(translate_exit_code("", 2) == 2);
    CHECK(translate_exit_code("mount", 0) == 0);
    CHECK(translate_exit_code("mount", 1) == 32);
    CHECK(translate_exit_code("mount", 2) == 1);
    CHECK(translate_exit_code("mkfs", 1) == 8);
    CHECK(translate_exit_code("mkfs", 2) == 16);
    CHECK(translate_exit_code("fsck", 4) == 4);
}

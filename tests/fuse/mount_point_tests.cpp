#include "fs/fuse/mount_point.h"

#include <filesystem>
#include <fstream>

#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("an unusable mount point is refused with what to do", "[fuse]") {
    const auto missing = check_mount_point("/tmp/flashlab-no-such-directory");
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().find("mkdir -p /tmp/flashlab-no-such-directory") != std::string::npos);

    const auto file = check_mount_point("/etc/passwd");
    REQUIRE_FALSE(file.has_value());
    CHECK(file.error().find("not a directory") != std::string::npos);

    CHECK(check_mount_point("/tmp").has_value());
}

TEST_CASE("the user's options come after ours, and commas in the device's path do not become options", "[fuse]") {
    MountConfig config;
    config.device_directory = "/data/a,b";
    config.fuse_options = {"allow_other", "default_permissions", "noatime"};
    config.read_only = true;
    const auto words = session_arguments(config, false);
    REQUIRE(words.size() == 3);
    CHECK(words[2] == "default_permissions,subtype=flashlab,fsname=/data/a\\,b,ro,allow_other,noatime");
}

TEST_CASE("set-uid programs and device nodes come to a mount only when root asks for them", "[fuse]") {
    MountConfig config;
    for (const bool is_root : {true, false}) {
        const std::string words = session_arguments(config, is_root)[2];
        CHECK(words.find("suid") == std::string::npos);
        CHECK(words.find(",dev") == std::string::npos);
    }
    config.fuse_options = {"suid", "dev"};
    CHECK(session_arguments(config, true)[2].ends_with(",suid,dev"));
    CHECK(session_arguments(config, false)[2].find("suid") == std::string::npos);
}

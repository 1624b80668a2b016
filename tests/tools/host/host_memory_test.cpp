#include "tools/host/host_memory.h"

#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("what the host has is granted, and more than its memory is refused with what it has", "[tools]") {
    CHECK(check_host_memory(1u << 20).has_value());
    const auto refused = check_host_memory(std::uint64_t{1} << 50);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().starts_with("this host has "));
}

TEST_CASE("memory that a limit of the process keeps back is refused", "[tools]") {
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
    rlimit tight = before;
    std::uint64_t pages = 0;
    REQUIRE(std::ifstream{"/proc/self/statm"} >> pages);
    tight.rlim_cur = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + (32u << 20); // Catch needs some
    if (setrlimit(RLIMIT_AS, &tight) != 0) return;
    const bool granted = check_host_memory(64u << 20).has_value();
    REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
    CHECK_FALSE(granted);
}

/// Which stream a user or a process has: what is a rule, which of them counts, and when it ends.
#include "fs/fuse/stream_rules.h"

#include <atomic>
#include <thread>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.h"

using namespace flashlab;

namespace {

std::uint32_t own_pid() { return static_cast<std::uint32_t>(::getpid()); }

void set_rule(StreamRules& rules, std::string_view text) {
    const auto rule = StreamRule::parse(text);
    REQUIRE(rule.has_value());
    REQUIRE(rules.set(*rule).has_value());
}

} // namespace

TEST_CASE("a rule is read as it is written, and what is none is refused with the reason", "[fuse]") {
    for (const char* text : {"uid:0=1", "uid:4294967295=249", "pid:1=0"}) CHECK(StreamRule::parse(text)->text() == text);
    for (const char* text : {"", "uid", "uid:1", "uid=1", "=1:uid", "gid:1=1", "uid:=1", "uid:-1=1", "uid:4294967296=1", "uid:1=", "uid:1=250",
                             "uid:1=x", "uid:1=1 ", " uid:1=1"}) {
        CAPTURE(text);
        const auto rule = StreamRule::parse(text);
        REQUIRE_FALSE(rule.has_value());
        CHECK(rule.error().contains("write uid:1000=3 or pid:4711=3"));
    }
}

TEST_CASE("a process comes before its user, the newest rule of a writer before the others, and stream 0 ends it", "[fuse]") {
    StreamRules rules;
    CHECK(rules.stream_of(7, own_pid()) == no_stream);
    set_rule(rules, "uid:7=1");
    CHECK(rules.stream_of(7, own_pid()) == StreamId{1});
    CHECK(rules.stream_of(8, own_pid()) == no_stream);
    set_rule(rules, "pid:" + std::to_string(own_pid()) + "=2");
    set_rule(rules, "uid:7=3");
    CHECK(rules.stream_of(7, own_pid()) == StreamId{2});
    CHECK(rules.stream_of(7, 1) == StreamId{3});
    set_rule(rules, "pid:" + std::to_string(own_pid()) + "=0");
    CHECK(rules.stream_of(7, own_pid()) == StreamId{3});
    CHECK(rules.all().size() == 1);
    rules.clear();
    CHECK(rules.all().empty());
    CHECK(rules.stream_of(7, own_pid()) == no_stream);
}

TEST_CASE("the rule of a process is for all of its threads, not for its children, and ends with it", "[fuse]") {
    StreamRules rules;
    set_rule(rules, "pid:" + std::to_string(own_pid()) + "=2");
    std::thread{[&] { CHECK(rules.stream_of(0, static_cast<std::uint32_t>(::gettid())) == StreamId{2}); }}.join();
    const pid_t child = ::fork();
    if (child == 0) {
        ::pause();
        ::_exit(0);
    }
    REQUIRE(child > 0);
    const auto pid = static_cast<std::uint32_t>(child);
    CHECK(rules.stream_of(0, pid) == no_stream);
    set_rule(rules, "pid:" + std::to_string(pid) + "=4");
    CHECK(rules.stream_of(0, pid) == StreamId{4});
    REQUIRE(::kill(child, SIGKILL) == 0);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    CHECK(rules.stream_of(0, pid) == no_stream); // even where another process has its number
    CHECK(rules.all().size() == 1);
    const auto gone = rules.set({StreamRule::Writer::process, pid, StreamId{1}});
    REQUIRE_FALSE(gone.has_value());
    CHECK(gone.error().contains("there is no process"));
}

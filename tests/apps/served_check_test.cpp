// Goal: a check that stays says of each state what a check of its own process says; and what it keeps of one state accuses no other.
#include "tools/explore/served_check.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "tests/apps/recorded_program.h"
#include "tests/support/temporary_directory.h"
#include "tools/explore/state_explorer.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// A served check in a directory of its own, and what it said of the last state.
class Server {
public:
    explicit Server(const std::string& command, std::chrono::milliseconds limit = std::chrono::seconds{20})
        : check_{{.command = command, .directory = tree(), .output = out(), .environment = {{"FLASHLAB_ACKS", "acks"}}, .limit = limit}} {}

    CheckVerdict ask(const std::string& question) { return check_.ask(question); }
    [[nodiscard]] std::string said() const {
        std::ifstream in{out()};
        return {std::istreambuf_iterator<char>{in}, {}};
    }
    [[nodiscard]] std::string tree() const {
        std::filesystem::create_directory(work_ / "tree");
        return work_ / "tree";
    }

private:
    [[nodiscard]] std::string out() const { return work_ / "out"; }
    TemporaryDirectory work_;
    ServedCheck check_;
};

pid_t number_in(const std::string& file) {
    pid_t number = 0;
    std::ifstream{file} >> number;
    return number;
}

/// Eight records, of which the third is promised before it is synced; and a file that is renamed without its data.
RecordedProgram careless() {
    RecordedProgram program;
    const auto log = program.create("log");
    program.prepared();
    for (int i = 0; i < 8; ++i) {
        program.append(log, "record\n");
        if (i != 2) program.fsync(log);
        program.promise(std::to_string(i));
    }
    const auto made = program.create("new");
    program.append(made, "all of it");
    program.rename("new", "state");
    program.fsync(log);
    return program;
}

ExploreResult explore(const RecordedProgram& program, const std::string& check, bool serves, unsigned workers = 2) {
    const TemporaryDirectory work;
    const Past past{program.history()};
    const Persistence model = *find_persistence("posix");
    StateExplorer explorer{
        past, model, {.check = check, .work = work.path(), .check_serves = serves, .limit = std::chrono::seconds{20}, .workers = workers}};
    return explorer.run();
}

const std::string looks = "n=$(wc -l < \"$FLASHLAB_ACKS\"); m=$(wc -l < log); "
                          "if [ $m -lt $n ]; then answer=\"$n promised and $m there\"; "
                          "elif [ -e state ] && [ ! -s state ]; then answer=empty; else answer=ok; fi; ";
const std::string alone = looks + "[ \"$answer\" = ok ] || { echo \"$answer\"; exit 1; }";
const std::string served = "while read cut; do " + looks + "echo \"$answer\"; done";

} // namespace

TEST_CASE("a check that stays is one process until a state is wrong, and answers for each state as it is then", "[apps][served_check]") {
    Server server{"echo $$ >> ../started; while read n; do [ ! -e bad ] && echo ok || { echo looked >&2; echo \"$n: bad is there\"; }; done"};
    const auto starts = [&] {
        std::ifstream in{server.tree() + "/../started"};
        return std::count(std::istreambuf_iterator<char>{in}, {}, '\n');
    };
    for (int i = 0; i < 3; ++i) CHECK(server.ask("1").end == CheckEnd::passed);
    CHECK(starts() == 1);
    std::ofstream{server.tree() + "/bad"} << "bad";
    CHECK(server.ask("2").end == CheckEnd::failed);
    CHECK(server.said() == "looked\n2: bad is there\n");
    CHECK(starts() == 1);
    CHECK(server.ask("3").code == 1);
    CHECK(server.said() == "looked\n3: bad is there\n");
    CHECK(starts() == 2);
    std::filesystem::remove(server.tree() + "/bad");
    CHECK(server.ask("4").end == CheckEnd::passed);
    CHECK(server.said().empty());
}

TEST_CASE("only the one word ok, as a line, is content", "[apps][served_check]") {
    for (const char* answer : {"OK", "ok ", "", "not ok", "ok ok"}) {
        INFO("'" << answer << "'");
        Server server{"while read n; do echo '" + std::string{answer} + "'; done"};
        CHECK(server.ask("1").end == CheckEnd::failed);
        CHECK(server.ask("2").end == CheckEnd::failed);
    }
    Server talks{"while read n; do printf 'ok\\nok\\n'; done"};
    CHECK(talks.ask("1").end == CheckEnd::unclear);
    CHECK(talks.ask("2").end == CheckEnd::unclear); // the second answer to 1 is none to 2
    Server slowly{"while read n; do echo ok; sleep 0.05; echo ok; done"};
    CHECK(slowly.ask("1").end == CheckEnd::passed);
    std::this_thread::sleep_for(std::chrono::milliseconds{300});
    CHECK(slowly.ask("2").end == CheckEnd::unclear);
    Server endless{"read n; head -c 1000000 /dev/zero"};
    CHECK(endless.ask("1").end == CheckEnd::failed);
}

TEST_CASE("a process that ends without an answer has failed of its state, and the next state has a new one", "[apps][served_check]") {
    Server server{"while read n; do [ ! -e poison ] || kill -SEGV $$; echo ok; done"};
    CHECK(server.ask("1").end == CheckEnd::passed);
    std::ofstream{server.tree() + "/poison"} << "poison";
    const CheckVerdict died = server.ask("2");
    CHECK(died.end == CheckEnd::failed);
    CHECK(died.code == 128 + SIGSEGV);
    CHECK(server.said().find("without an answer") != std::string::npos);
    std::filesystem::remove(server.tree() + "/poison");
    CHECK(server.ask("3").end == CheckEnd::passed);

    Server content{"exit 0"};
    CHECK(content.ask("1").end == CheckEnd::failed); // an exit code is no answer
    CHECK(content.ask("1").code == 1);
    Server once{"read n && echo ok"};
    for (int i = 0; i < 20; ++i) CHECK(once.ask("1").end == CheckEnd::passed);
}

TEST_CASE("a process that does not answer in time is ended with all that it started, and the next state has a new one", "[apps][served_check]") {
    Server server{"echo $$ > ../pid; while read n; do [ ! -e slow ] || sleep 600; echo ok; done", std::chrono::milliseconds{300}};
    CHECK(server.ask("1").end == CheckEnd::passed);
    std::ofstream{server.tree() + "/slow"} << "slow";
    CHECK(server.ask("2").end == CheckEnd::timed_out);
    CHECK(server.said().find("longer than 0.3 s") != std::string::npos);
    const pid_t ended = number_in(server.tree() + "/../pid");
    CHECK((::kill(ended, 0) != 0 && errno == ESRCH));
    std::filesystem::remove(server.tree() + "/slow");
    CHECK(server.ask("3").end == CheckEnd::passed);
}

TEST_CASE("an exploration finds the same with a check that stays as with a process for each state", "[apps][served_check]") {
    const RecordedProgram program = careless();
    const ExploreResult one = explore(program, alone, false);
    REQUIRE(one.failing != 0);
    for (const unsigned workers : {1u, 3u}) {
        const ExploreResult other = explore(program, served, true, workers);
        CHECK(other.states == one.states);
        CHECK(other.failing == one.failing);
        CHECK(other.unsteady == 0);
        REQUIRE(other.findings.size() == one.findings.size());
        for (std::size_t i = 0; i < one.findings.size(); ++i) {
            CHECK(other.findings[i].words.what == one.findings[i].words.what);
            CHECK(other.findings[i].said == one.findings[i].said);
            CHECK(other.findings[i].found_at == one.findings[i].found_at);
        }
    }
}

TEST_CASE("what a check keeps of one state accuses no other", "[apps][served_check]") {
    // Once a file was empty, this check says so for ever.
    const std::string keeps = "while read cut; do [ ! -e state ] || [ -s state ] || bad=1; [ -z \"$bad\" ] && echo ok || echo empty; done";
    const std::string alone_of_it = "[ ! -e state ] || [ -s state ] || { echo empty; exit 1; }";
    const ExploreResult one = explore(careless(), alone_of_it, false, 1), other = explore(careless(), keeps, true, 1);
    REQUIRE(one.failing != 0);
    CHECK(other.failing == one.failing);
    CHECK(other.unsteady == 0);
}

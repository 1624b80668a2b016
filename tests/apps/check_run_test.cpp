// Goal: a check meets nothing that an earlier check or state left: no process, no attribute of a file; and what a running check needs stays.
#include "tools/explore/check_run.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/apps/recorded_program.h"
#include "tests/support/temporary_directory.h"
#include "tools/explore/state_directory.h"
#include "tools/explore/state_explorer.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// Starts a process in a session of its own, which writes its number to `pid`; ends when that is there.
constexpr const char* leaves_a_daemon =
    "setsid sh -c 'echo $$ > pid.new && mv pid.new pid; exec sleep 600' & while [ ! -s pid ]; do sleep 0.01; done";

CheckVerdict check_in(const std::filesystem::path& directory, const std::string& command) {
    std::filesystem::create_directory(directory);
    return run_check({.command = command, .directory = directory.string(), .output = directory.string() + ".out", .environment = {}});
}

bool lives(const std::filesystem::path& pid_file) {
    pid_t pid = 0;
    std::ifstream{pid_file} >> pid;
    REQUIRE(pid > 0);
    return ::kill(pid, 0) == 0 || errno != ESRCH;
}

} // namespace

TEST_CASE("what a check started in a session of its own ends with the check, and its children, too", "[apps][check_run]") {
    const TemporaryDirectory work;
    CHECK(check_in(work / "a", leaves_a_daemon).end == CheckEnd::passed);
    CHECK_FALSE(lives(work / "a/pid"));
    const std::string nested = "setsid sh -c 'setsid sh -c \"echo \\$\\$ > pid.new && mv pid.new pid; exec sleep 600\" & sleep 600' & "
                               "while [ ! -s pid ]; do sleep 0.01; done; exit 3";
    CHECK(check_in(work / "b", nested).code == 3);
    CHECK_FALSE(lives(work / "b/pid"));
    CHECK(check_in(work / "c", "(setsid true &) ; exit 0").end == CheckEnd::passed); // gone before the check
}

TEST_CASE("a server that a check has started lives while other checks end", "[apps][check_run]") {
    const TemporaryDirectory work;
    CheckVerdict served;
    std::jthread slow{
        [&] { served = check_in(work / "slow", std::string{leaves_a_daemon} + "; while [ ! -e go ]; do sleep 0.01; done; kill -0 $(cat pid)"); }};
    while (!std::filesystem::exists(work / "slow/pid")) std::this_thread::yield();
    for (int i = 0; i < 5; ++i) CHECK(check_in(work / fmt::format("quick{}", i), leaves_a_daemon).end == CheckEnd::passed);
    CHECK(lives(work / "slow/pid"));
    std::ofstream{work / "slow/go"} << 1;
    slow.join();
    CHECK(served.end == CheckEnd::passed);
    CHECK_FALSE(lives(work / "slow/pid"));
}

TEST_CASE("a state has the attributes of its files and none that the state or the check before it left", "[apps][check_run]") {
    const TemporaryDirectory work;
    RecordedProgram program;
    program.prepared();
    const auto file = program.create("f");
    program.append(file, "content");
    const Past past{program.history()};
    const Persistence model = *find_persistence("strict");
    const LeftState state{past, model, {past.size(), {}}};
    StateDirectory directory{past, (work / "tree").string()};
    REQUIRE(directory.make(state.tree()).has_value());
    const std::string path = (work / "tree/f").string();
    if (::setxattr(path.c_str(), "user.left", "1", 1, 0) != 0) {
        WARN("skipped: the host takes no extended attributes there");
        return;
    }
    REQUIRE(directory.make(state.tree()).has_value());
    char value = 0;
    CHECK(::getxattr(path.c_str(), "user.left", &value, 1) == -1);
}

namespace {

/// Who may keep the set-id bits of what he writes sees nothing of their loss.
class AsOrdinaryWriter {
public:
    AsOrdinaryWriter() {
        REQUIRE(::syscall(SYS_capget, &header_, had_.data()) == 0);
        auto less = had_;
        less[0].effective &= ~(1u << CAP_FSETID);
        REQUIRE(::syscall(SYS_capset, &header_, less.data()) == 0);
    }
    ~AsOrdinaryWriter() { (void)::syscall(SYS_capset, &header_, had_.data()); }

private:
    __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> had_{};
};

} // namespace

TEST_CASE("a state has the rights that its files, directories and FIFOs had, its own directory among them", "[apps][check_run]") {
    const TemporaryDirectory work;
    RecordedProgram program;
    program.prepared();
    const auto open = program.mkdir("open"), closed = program.mkdir("closed"), of_group = program.mkdir("of_group"), tool = program.create("tool");
    program.append(program.create("within", closed), "content");
    program.append(tool, "content");
    program.chmod(tool, 04755);
    program.chmod(open, 0777);
    program.chmod(closed, 0500);
    program.chmod(of_group, 02775);
    program.chmod(RecordedProgram::root, 0711);
    program.append(tool, " and more"); // the host takes set-id bits away where it is written
    const Past past{program.history()};
    const Persistence model = *find_persistence("strict");
    const LeftState state{past, model, {past.size(), {}}}, before{past, model, {past.size() - 1, {}}};
    StateDirectory directory{past, (work / "tree").string()};
    const AsOrdinaryWriter ordinary;
    const mode_t mask = ::umask(0022);
    for (int round = 0; round < 3; ++round) {
        REQUIRE(directory.make(state.tree()).has_value());
        const auto mode_of = [&](const char* name) {
            struct stat found {};
            REQUIRE(::lstat((work / "tree" / name).c_str(), &found) == 0);
            return found.st_mode & 07777;
        };
        CHECK(mode_of("open") == 0777);
        CHECK(mode_of("closed") == 0500);
        CHECK(mode_of("of_group") == 02775);
        CHECK(mode_of("tool") == 04755);
        CHECK(mode_of(".") == 0711);
        CHECK(::access((work / "tree/closed/within").c_str(), F_OK) == 0);
        if (round == 0) REQUIRE(directory.make(before.tree()).has_value()); // shorter: the host takes the bits
        CHECK(mode_of("tool") == 04755);
        std::filesystem::permissions(work / "tree/closed", std::filesystem::perms::owner_all); // whoever is not root removes nothing from it else
        if (round == 1) std::filesystem::remove_all(work / "tree");                            // a check may do that
    }
    ::umask(mask);
}

TEST_CASE("a file with a page behind a hole of a tebibyte is unpacked without a walk through the hole", "[apps][check_run]") {
    const TemporaryDirectory work;
    RecordedProgram program;
    program.prepared();
    const auto file = program.create("f");
    program.write(file, 5000, "first");
    program.write(file, std::uint64_t{1} << 40, "last");
    const Past past{program.history()};
    const LeftState state{past, *find_persistence("posix"), {past.size(), {}}};
    StateDirectory directory{past, (work / "tree").string()};
    const auto began = std::chrono::steady_clock::now();
    if (const auto made = directory.make(state.tree()); !made) {
        WARN("skipped: the host takes no file of a tebibyte there: " << made.error());
        return;
    }
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{5}); // the walk took minutes
    std::ifstream made{work / "tree/f", std::ios::binary};
    for (const auto& [at, text] : {std::pair{std::uint64_t{4999}, std::string{"\0first\0", 7}}, {std::uint64_t{1} << 40, std::string{"last"}}}) {
        std::string found(text.size(), ' ');
        made.seekg(static_cast<std::streamoff>(at));
        made.read(found.data(), static_cast<std::streamsize>(found.size()));
        CHECK(found == text);
    }
    CHECK(std::filesystem::file_size(work / "tree/f") == (std::uint64_t{1} << 40) + 4);
}

TEST_CASE("a state that fails twice and passes while its cause is sought is not repeatable, and no failing state without a finding",
          "[apps][check_run]") {
    const TemporaryDirectory work;
    RecordedProgram program;
    program.prepared();
    for (const char* name : {"a", "b"}) program.append(program.create(name), name);
    const Past past{program.history()};
    const Persistence model = *find_persistence("posix");
    const std::string count = (work / "count").string();
    for (const int fails : {1, 2}) {
        std::ofstream{count} << 0;
        const std::string check = fmt::format("n=$(($(cat {0}) + 1)); echo $n > {0}; [ $n -gt {1} ]", count, fails);
        const ExploreResult result =
            StateExplorer{past, model, {.check = check, .work = work.path().string(), .limit = std::chrono::milliseconds{20'000}, .states = 20}}
                .run();
        CHECK(result.unsteady == 1);
        CHECK(result.failing == 0);
        CHECK(result.findings.empty());
    }
}

// Goal: what a live mount answers on its control socket, and that faults are in force exactly between the answers that say so.
#include "tools/live/mount_control.h"

#include "tests/support/quiet_mount.h"
#include "tests/tools/device_fixture.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

struct ControlledDevice {
    ControlledDevice() {
        make(work / "device");
        opened = open(work / "device");
        mount.emplace(opened->device());
        faults.attach(*opened, [this](const std::string& line) { complaints += line + '\n'; });
        faults.set_mount(*mount);
        control.emplace(work / "device", *opened, *mount, faults, streams, persistence, opened->device().ready_at(), [this] { ++samples; });
    }
    Json ask(const std::string& request) { return *Json::parse(control->answer(request)); }
    /// A file with data that nobody has synced.
    void write_file(FileSystem& fs, SimTime now) {
        const auto file = fs.make_node(call_at(now), root_ino, "f", 0100644, 0);
        REQUIRE(file.has_value());
        const std::vector<std::byte> data(9000, std::byte{7});
        REQUIRE(fs.write(call_at(now), file->value.ino, 0, data).has_value());
    }
    std::size_t rules_in_force() { return ask(R"({"cmd":"fault","do":"list"})")["faults"].items().size(); }

    TemporaryDirectory work;
    std::string complaints;
    int samples = 0;
    std::unique_ptr<DeviceDirectory> opened;
    std::optional<QuietMount> mount;
    FaultControl faults;
    StreamRules streams;
    std::unique_ptr<LivePersistence> persistence; ///< strict
    std::optional<MountControl> control;
};

} // namespace

TEST_CASE("whatever is asked of a mount gets an answer, and what is no request an error", "[tools][live][control]") {
    ControlledDevice device;
    for (const char* request : {"stats", "unsynced", "blocks", "set", "idle", "flush", "flush_log", "config", "info", "smart"}) {
        INFO(request);
        const Json answer = device.ask(std::string{R"({"cmd":")"} + request + "\"}");
        CHECK(answer.is_object());
        CHECK(answer["error"].text().empty());
    }
    CHECK(device.samples == 1);
    CHECK_THAT(device.ask("{")["error"].text(), ContainsSubstring("not valid JSON"));
    CHECK_THAT(device.ask("[]")["error"].text(), ContainsSubstring("unknown request"));
    CHECK_THAT(device.ask(R"({"cmd":"stat"})")["error"].text(), ContainsSubstring("unknown request 'stat'"));
    CHECK_THAT(device.ask(R"({"cmd":"set","latency":"fast"})")["error"].text(), ContainsSubstring("allowed: off, real"));
    CHECK_THAT(device.ask(R"({"cmd":"powercut","at":"noon"})")["error"].text(), ContainsSubstring("allowed: work"));
    const Json cut = device.ask(R"({"cmd":"powercut","at":"erase"})");
    CHECK(cut["asked"].text() == "erase");
    CHECK(cut["struck"].text() == "erase");
}

TEST_CASE("smart tells the bytes that programs wrote and that are not yet on the flash", "[tools][live][control]") {
    ControlledDevice device;
    const auto unsynced = [&] { return device.ask(R"({"cmd":"smart"})")["unsynced_bytes"].number(99); };
    CHECK(unsynced() == 0);
    FileSystem& fs = device.opened->device().fs();
    const SimTime now = device.opened->device().ready_at();
    device.write_file(fs, now);
    CHECK(unsynced() >= 9000);
    CHECK(device.ask(R"({"cmd":"flush_log"})")["unsynced_bytes"].number() == unsynced()); // report and query say it, too
    REQUIRE(sync_all(fs, now).has_value());
    CHECK(unsynced() == 0);
}

TEST_CASE("the faults of one request are all in force with its answer, or none of them is", "[tools][live][faults]") {
    ControlledDevice device;
    const Json refused = device.ask(R"({"cmd":"fault","do":"add","rules":[["eio","op=fsync"],["program_fail"],["die_dead","die=99"]]})");
    CHECK_THAT(refused["error"].text(), ContainsSubstring("die=99"));
    CHECK(device.rules_in_force() == 0);
    CHECK(device.faults.plan().on_request(FsOp::fsync, root_ino, sim_start).error == 0);
    CHECK_FALSE(device.faults.plan().program_fails(Ppn{0}));

    const Json added = device.ask(R"({"cmd":"fault","do":"add","rules":[["eio","op=fsync","sticky"],["host_enospc","sticky"]]})");
    REQUIRE(added["faults"].items().size() == 2);
    CHECK(device.faults.plan().on_request(FsOp::fsync, root_ino, sim_start).error == EIO);
    CHECK_THAT(device.complaints, ContainsSubstring("fault 3 (eio op=fsync") && ContainsSubstring("struck"));
    CHECK(device.faults.plan().on_request(FsOp::fsync, root_ino, sim_start).error == EIO);
    CHECK(std::ranges::count(device.complaints, '\n') == 2); // each strike is told
    const Json cleared = device.ask(R"({"cmd":"fault","do":"clear","number":3})");
    CHECK(cleared["cleared"].items().front()["struck"].number() == 2);
    CHECK(device.faults.plan().on_request(FsOp::fsync, root_ino, sim_start).error == 0);
    CHECK_THAT(device.ask(R"({"cmd":"fault","do":"clear","number":3})")["error"].text(), ContainsSubstring("there is no fault 3"));
    CHECK(device.rules_in_force() == 1);
    CHECK(device.ask(R"({"cmd":"fault","do":"clear"})")["cleared"].items().size() == 1);
    CHECK(device.rules_in_force() == 0);
    CHECK_THAT(device.ask(R"({"cmd":"fault","do":"add","rules":[]})")["error"].text(), ContainsSubstring("no rule"));
}

TEST_CASE("after a power cut no fault is listed, set or cleared, and the answer says why", "[tools][live][faults]") {
    ControlledDevice device;
    REQUIRE(device.ask(R"({"cmd":"fault","do":"add","rules":[["host_eio","sticky"]]})")["faults"].items().size() == 1);
    (void)device.opened->device().cut(device.opened->device().ready_at(), 1);
    for (const char* request : {R"({"cmd":"fault","do":"list"})", R"({"cmd":"fault","do":"clear"})", R"({"cmd":"fault","do":"clear","number":1})",
                                R"({"cmd":"fault","do":"add","rules":[["eio"]]})"}) {
        INFO(request);
        const Json answer = device.ask(request);
        CHECK_THAT(answer["error"].text(), ContainsSubstring("the power was cut") && ContainsSubstring("mount again"));
        CHECK(answer["faults"].items().empty());
    }
    CHECK(device.faults.plan().entries().size() == 1); // as they were when the power failed
    CHECK(device.faults.plan().entries().front().struck == 0);
}

TEST_CASE("a fault of the host's image strikes the device's next write, and none after it was cleared", "[tools][live][faults]") {
    for (const bool is_cleared : {false, true}) {
        ControlledDevice device;
        REQUIRE(device.ask(R"({"cmd":"fault","do":"add","rules":[["host_eio","sticky"]]})")["error"].text().empty());
        if (is_cleared) (void)device.ask(R"({"cmd":"fault","do":"clear"})");
        FileSystem& fs = device.opened->device().fs();
        const SimTime now = device.opened->device().ready_at();
        device.write_file(fs, now);
        CHECK(sync_all(fs, now).has_value() == is_cleared);
        CHECK((device.opened->host_errno() == EIO) == !is_cleared);
        device.opened->abandon();
    }
}

TEST_CASE("a rule for a stream that the drive does not have is refused with the remedy, and none of the others is taken", "[tools]") {
    ControlledDevice device;
    CHECK(device.ask(R"({"cmd":"stream"})")["streams"].items().empty());
    CHECK(device.ask(R"({"cmd":"stream","rules":["uid:1=1"]})")["error"].text().contains("--set ftl.separation=host"));
    CHECK(device.ask(R"({"cmd":"stream","rules":["uid:1=0","nonsense"]})")["error"].text().contains("write uid:1000=3"));
    CHECK(device.ask(R"({"cmd":"stream","rules":[7]})")["error"].text().contains("no rule"));
    CHECK(device.ask(R"({"cmd":"stream","rules":["uid:1=0"]})")["streams"].items().empty()); // ends a rule that there is not
}

// Goal: mkfs makes a whole device or nothing; looking at a device changes nothing; only mounts count as power cycles.
// Method: real directories of 32 MiB devices below /tmp, contents compared byte by byte.
#include <csignal>

#include <sys/resource.h>

#include "tests/tools/device_fixture.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// Files may grow to this size only: a full disk for tests.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
        const rlimit now{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &now);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    rlimit before_{};
    void (*handler_)(int) = SIG_DFL;
};

} // namespace

TEST_CASE("a device that was made opens, is empty and sound, and closes", "[tools]") {
    const TemporaryDirectory work;
    make(work / "device");
    auto opened = open(work / "device", DeviceAccess::use);
    CHECK(opened->device().recovery().was_clean);
    CHECK(opened->device().ssd().check().empty());
    CHECK(opened->device().fs().check().empty());
    CHECK(opened->device().fs().label() == "test");
    write_something(*opened);
    close(*opened);
    auto again = open(work / "device", DeviceAccess::use);
    CHECK(again->device().recovery().was_clean);
    CHECK(again->device().fs().check().empty());
    close(*again);
}

TEST_CASE("a failed mkfs leaves nothing behind", "[tools]") {
    const TemporaryDirectory work;
    const DevicePlan plan = small_plan();
    {
        const FileSizeLimit full{1u << 20};
        const auto made = make_device_directory(work / "device", plan, "", ExistingDevice::refuse);
        REQUIRE_FALSE(made.has_value());
    }
    CHECK(files::is_empty(work.path()));
    files::create_directory(work / "empty");
    {
        const FileSizeLimit full{1u << 20};
        REQUIRE_FALSE(make_device_directory(work / "empty", plan, "", ExistingDevice::refuse).has_value());
    }
    CHECK(files::is_empty(work / "empty"));
    CHECK_FALSE(make_device_directory(work / "no/such/parent", plan, "", ExistingDevice::refuse).has_value());
    CHECK_FALSE(make_device_directory(work / "device", plan, std::string(500, 'x'), ExistingDevice::refuse).has_value());
    CHECK_FALSE(files::exists(work / "device"));
}

TEST_CASE("mkfs refuses a directory that holds something else, and a device without --force", "[tools]") {
    const TemporaryDirectory work;
    files::create_directory(work / "mine");
    std::ofstream{work / "mine" / "letter"} << "dear";
    CHECK_THAT(make_device_directory(work / "mine", small_plan(), "", ExistingDevice::replace).error(), ContainsSubstring("not empty"));
    CHECK(contents(work / "mine").at("letter").begin()->second == "dear");
    CHECK(contents(work / "mine").size() == 1);
    make(work / "device");
    CHECK_THAT(make_device_directory(work / "device", small_plan(), "", ExistingDevice::refuse).error(), ContainsSubstring("--force"));
}

TEST_CASE("of two that make a device in one place at once, one is told that the other was sooner", "[tools]") {
    const TemporaryDirectory work;
    REQUIRE(make_device_directory(work / "other", small_plan(), "first", ExistingDevice::refuse));
    const auto let_another_in = [&](const std::string&) -> std::expected<void, std::string> {
        std::filesystem::rename(work / "other", work / "device");
        return {};
    };
    const auto made = make_device_directory(work / "device", small_plan(), "second", ExistingDevice::refuse, let_another_in);
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().contains("a device is here already"));
    auto opened = open(work / "device", DeviceAccess::use);
    CHECK(opened->device().fs().label() == "first");
    close(*opened);
    CHECK(std::ranges::distance(std::filesystem::directory_iterator{work / "."}, std::filesystem::directory_iterator{}) == 1);
}

TEST_CASE("a forced mkfs that fails leaves the old device as it was, one that succeeds leaves only the new one and what is not the device's",
          "[tools]") {
    const TemporaryDirectory work;
    make(work / "device");
    std::ofstream{work / "device" / "notes"} << "mine";
    const auto before = contents(work / "device");
    {
        const FileSizeLimit full{1u << 20};
        REQUIRE_FALSE(make_device_directory(work / "device", small_plan(), "", ExistingDevice::replace).has_value());
    }
    CHECK((contents(work / "device") == before));
    std::ofstream{work / "device" / "events.db"} << "of the old device";
    make(work / "device", ExistingDevice::replace);
    const auto after = contents(work / "device");
    CHECK(after.at("notes").begin()->second == "mine");
    CHECK((after.at("nand.img") != before.at("nand.img"))); // another uuid
    CHECK(after.size() == 5);
    close(*open(work / "device", DeviceAccess::use));
}

TEST_CASE("a device in use is opened by nobody else and not replaced", "[tools]") {
    const TemporaryDirectory work;
    make(work / "device");
    auto opened = open(work / "device", DeviceAccess::use);
    CHECK(is_in_use(work / "device"));
    for (const auto access : {DeviceAccess::use, DeviceAccess::check, DeviceAccess::look}) {
        OpenOptions options;
        options.access = access;
        CHECK_THAT(DeviceDirectory::open(work / "device", options).error(), ContainsSubstring("in use"));
    }
    CHECK_THAT(make_device_directory(work / "device", small_plan(), "", ExistingDevice::replace).error(), ContainsSubstring("in use"));
    close(*opened);
    CHECK_FALSE(is_in_use(work / "device"));
}

TEST_CASE("looking changes no byte, even of a device that has to recover, and several may look at once", "[tools]") {
    const TemporaryDirectory work;
    make(work / "device");
    const bool after_a_cut = GENERATE(false, true);
    if (after_a_cut) cut(work / "device");
    const auto before = contents(work / "device");
    {
        auto one = open(work / "device", DeviceAccess::look);
        auto two = open(work / "device", DeviceAccess::look);
        CHECK(one->device().recovery().was_clean == !after_a_cut);
        CHECK(one->device().ssd().check().empty());
        CHECK(one->device().fs().check().empty());
        write_something(*one, "private");
        close(*one);
        CHECK(two->device().fs().check().empty());
    }
    CHECK((contents(work / "device") == before));
}

TEST_CASE("only mounts are power cycles; a check recovers and leaves the unsafe shutdown to be counted by the next mount", "[tools]") {
    const TemporaryDirectory work;
    make(work / "device");
    close(*open(work / "device", DeviceAccess::use));
    cut(work / "device");
    CHECK(open(work / "device", DeviceAccess::look)->history_now().power_cycles == 2);
    {
        auto checked = open(work / "device", DeviceAccess::check);
        CHECK_FALSE(checked->device().recovery().was_clean);
        close(*checked);
    }
    auto looked = open(work / "device", DeviceAccess::look);
    CHECK(looked->device().recovery().was_clean);
    CHECK(looked->history_now().power_cycles == 2);
    CHECK(looked->history_now().unsafe_shutdowns == 0);
    looked.reset();
    auto used = open(work / "device", DeviceAccess::use);
    CHECK(used->history_now().power_cycles == 3);
    CHECK(used->history_now().unsafe_shutdowns == 1);
    close(*used);
}

TEST_CASE("a check that is abandoned leaves no clean mark", "[tools]") {
    const TemporaryDirectory work;
    make(work / "device");
    open(work / "device", DeviceAccess::check)->abandon();
    CHECK_FALSE(open(work / "device", DeviceAccess::look)->device().recovery().was_clean);
}

TEST_CASE("the images stay locked until log and counters are written, so that the next mount cannot come too early", "[tools]") {
    const TemporaryDirectory work;
    make(work / "device");
    int complaints = 0;
    bool locked = false;
    OpenOptions options;
    options.complain = [&](const std::string&) {
        ++complaints;
        locked = is_in_use(work / "device");
    };
    auto opened = DeviceDirectory::open(work / "device", options);
    REQUIRE(opened.has_value());
    REQUIRE(complaints == 0);
    files::create_directory(work / "device" / "counters.json.new"); // the counters cannot be written: that is told when it is tried
    close(**opened);
    CHECK(complaints == 1);
    CHECK(locked);
    CHECK_FALSE(is_in_use(work / "device"));
}

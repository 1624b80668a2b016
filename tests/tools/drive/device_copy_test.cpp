// Goal: a copy is the device as it was, whole or absent, with an identity of its own where it is a clone.
#include <csignal>
#include <filesystem>
#include <fstream>

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/support/catch.h"
#include "tests/tools/device_fixture.h"

#include "nand/image_page_store.h"
#include "tools/drive/device_copy.h"
#include "tools/drive/device_directory.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr Sector somewhere{8192};
constexpr std::size_t header_bytes = 4096;

void write_page(DeviceDirectory& device, char with) {
    const std::vector<std::byte> page(4096, static_cast<std::byte>(with));
    REQUIRE(device.device().ssd().write(somewhere, 8, page, WriteDurability::fua, device.device().ready_at()).has_value());
}
Uuid identity_of(const std::string& directory) { return ImagePageStore::read_header(directory + "/nand.img")->uuid; }

std::string bytes_of(const std::string& path) {
    std::ifstream in{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

} // namespace

TEST_CASE("a snapshot keeps the device as it was, and a clone of it brings that back", "[copy]") {
    const TemporaryDirectory work;
    make(work / "device");
    {
        auto device = open(work / "device");
        write_page(*device, 'a'); // left without a clean shutdown: as kill -9 leaves it
        device->abandon();
    }
    const auto taken = take_snapshot(work / "device", "before");
    INFO((taken ? "" : taken.error()));
    REQUIRE(taken.has_value());
    CHECK((bytes_of(work / "device/snapshots/before/nand.img") == bytes_of(work / "device/nand.img")));
    CHECK((bytes_of(work / "device/snapshots/before/pram.img") == bytes_of(work / "device/pram.img")));
    const std::string nand = bytes_of(work / "device/nand.img").substr(header_bytes);
    const std::string pram = bytes_of(work / "device/pram.img").substr(header_bytes);
    {
        auto device = open(work / "device");
        write_page(*device, 'b');
        device->abandon();
    }
    CHECK((bytes_of(work / "device/nand.img").substr(header_bytes) != nand));
    const auto cloned = clone_device(work / "device@before", work / "old");
    INFO((cloned ? "" : cloned.error()));
    REQUIRE(cloned.has_value());
    // But for the identity in the headers, the clone is what the device was.
    CHECK((bytes_of(work / "old/nand.img").substr(header_bytes) == nand));
    CHECK((bytes_of(work / "old/pram.img").substr(header_bytes) == pram));
    open(work / "old")->abandon();
    (void)open(work / "device/snapshots/before", DeviceAccess::look);
    CHECK(*list_snapshots(work / "device") == std::vector<std::string>{"before"});
    REQUIRE(delete_snapshot(work / "device", "before").has_value());
    CHECK(list_snapshots(work / "device")->empty());
}

TEST_CASE("a clone has an identity of its own, and images of the two are not mixed", "[copy]") {
    const TemporaryDirectory work;
    make(work / "device");
    REQUIRE(clone_device(work / "device", work / "twin").has_value());
    CHECK(identity_of(work / "device") != identity_of(work / "twin"));
    CHECK(ImagePageStore::read_header(work / "twin/nand.img").has_value());
    open(work / "twin")->abandon();
    files::copy_file(work / "device/pram.img", work / "twin/pram.img", files::copy_options::overwrite_existing);
    CHECK_THAT(DeviceDirectory::open(work / "twin", {}).error(), ContainsSubstring("different devices"));
    REQUIRE(take_snapshot(work / "device", "s").has_value());
    CHECK(identity_of(work / "device") == identity_of(work / "device/snapshots/s"));
}

TEST_CASE("a copy of a sparse image is sparse", "[copy]") {
    const TemporaryDirectory work;
    make(work / "device");
    const auto cloned = clone_device(work / "device", work / "twin");
    REQUIRE(cloned.has_value());
    struct stat image {};
    REQUIRE(::stat((work / "twin/nand.img").c_str(), &image) == 0);
    CHECK(image.st_size > (32 << 20));
    CHECK(image.st_blocks * 512 < (1 << 20));
    CHECK(cloned->file_bytes > (36u << 20));
}

TEST_CASE("a device in use is not copied, a device being looked at is", "[copy]") {
    const TemporaryDirectory work;
    make(work / "device");
    {
        auto user = open(work / "device");
        CHECK_THAT(clone_device(work / "device", work / "twin").error(), ContainsSubstring("in use"));
        CHECK_THAT(take_snapshot(work / "device", "s").error(), ContainsSubstring("in use"));
        CHECK_FALSE(files::exists(work / "twin"));
        CHECK(list_snapshots(work / "device")->empty());
        user->abandon();
    }
    auto looker = open(work / "device", DeviceAccess::look);
    CHECK(clone_device(work / "device", work / "twin").has_value());
}

TEST_CASE("bad names, taken places and missing devices are refused and nothing is left behind", "[copy]") {
    const TemporaryDirectory work;
    make(work / "device");
    for (const char* name : {"", ".", "..", "a/b", "a b", ".hidden"}) {
        CAPTURE(name);
        CHECK_THAT(take_snapshot(work / "device", name).error(), ContainsSubstring("name of a snapshot"));
    }
    REQUIRE(take_snapshot(work / "device", "one").has_value());
    CHECK_THAT(take_snapshot(work / "device", "one").error(), ContainsSubstring("already"));
    CHECK_THAT(delete_snapshot(work / "device", "two").error(), ContainsSubstring("no snapshot"));
    CHECK_FALSE(clone_device(work / "device@two", work / "twin").has_value());
    CHECK_FALSE(clone_device(work / "nothing", work / "twin").has_value());
    files::create_directory(work / "full");
    std::ofstream{work / "full/file"} << "mine";
    CHECK_THAT(clone_device(work / "device", work / "full").error(), ContainsSubstring("not an empty directory"));
    files::create_directory(work / "empty");
    CHECK(clone_device(work / "device", work / "empty").has_value());
    CHECK_FALSE(files::exists(work / "twin"));
}

TEST_CASE("a copy that the host's disk has no room for leaves nothing", "[copy]") {
    const TemporaryDirectory work;
    make(work / "device");
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const rlimit small{1u << 20, before.rlim_max};
    auto* const handled = std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const auto cloned = clone_device(work / "device", work / "twin");
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, handled);
    if (cloned && cloned->reflinked) return; // shared extents take no room
    CHECK_FALSE(cloned.has_value());
    for (const auto& entry : files::directory_iterator{files::path{work / "device"}.parent_path()}) CHECK(entry.path().filename() == "device");
}

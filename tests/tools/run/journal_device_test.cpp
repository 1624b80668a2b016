// Goal: a drive whose metadata lie in a journal has PRAM only where its translation layer wants some, and is opened, checked and remounted as any
// other.
// Method: every scheme, real directories of small devices below /tmp.
#include "ftl/make_ftl.h"
#include "tests/tools/device_fixture.h"
#include "tools/run/virtual_calls.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

DevicePlan journal_plan(const std::string& scheme) {
    ConfigSources sources;
    sources.settings = {"nand.pages_per_block=64", "nand.planes_per_die=1", "fs.metadata=journal", "ftl.scheme=" + scheme};
    const auto config = gather_config(sources);
    REQUIRE(config.has_value());
    auto plan = plan_device(*config, 64u << 20);
    INFO((plan ? "" : plan.error()));
    REQUIRE(plan.has_value());
    return *plan;
}

} // namespace

TEST_CASE("with metadata in a journal only hftl's drive has PRAM, and every scheme's file system is there after a remount", "[tools][journal]") {
    for (const std::string& scheme : all_schemes()) {
        INFO(scheme);
        TemporaryDirectory base;
        const auto directory = base / "device";
        const DevicePlan plan = journal_plan(scheme);
        CHECK(plan.config.needs_pram() == (scheme == "hftl"));
        CHECK(plan.config.layout.fs_bytes == 0);
        const auto made = make_device_directory(directory, plan, "kept", ExistingDevice::refuse);
        INFO((made ? "" : made.error()));
        REQUIRE(made.has_value());
        {
            const auto opened = open(directory, DeviceAccess::use);
            Device& device = opened->device();
            FileSystem& fs = device.fs();
            REQUIRE(fs.make_directory(call_at(device.ready_at()), root_ino, "here", 0755).has_value());
            close(*opened);
        }
        const auto opened = open(directory, DeviceAccess::look);
        Device& device = opened->device();
        CHECK(device.fs().lookup(call_at(device.ready_at()), root_ino, "here").has_value());
        CHECK(device.ssd().check().empty());
        CHECK(device.fs().check().empty());
        close(*opened);
    }
}

TEST_CASE("a drive too small for a journal, or one whose PRAM is too small for its translation layer, is refused with the reason",
          "[tools][journal]") {
    ConfigSources sources;
    sources.settings = {"nand.channels=1",     "nand.pages_per_block=16", "nand.planes_per_die=1", "nand.blocks_per_plane=64",
                        "fs.metadata=journal", "ftl.scheme=page_map",     "nand.page_bytes=4096"};
    const auto config = gather_config(sources);
    REQUIRE(config.has_value());
    const auto small = plan_device(*config, std::nullopt);
    REQUIRE(!small.has_value());
    CHECK_THAT(small.error(), ContainsSubstring("too small for metadata in a journal"));
    sources.settings = {"pram.bytes=64K", "fs.metadata=journal", "ftl.scheme=hftl"};
    const auto tight = plan_device(*gather_config(sources), 256u << 20);
    REQUIRE(!tight.has_value());
    CHECK_THAT(tight.error(), ContainsSubstring("the hftl scheme needs"));
}

// Goal: fsck leaves a device with problems as it is, byte for byte, whether it was asked to repair or not; it recovers a clean one.
// Method: a killed drive, so that opening it for writing would change it; page records with flipped bits that no checksum can turn back.
#include "nand/image_layout.h"
#include "tests/tools/drive/damaged_devices.h"
#include "tools/cli/command_line.h"

using namespace flashlab;
using namespace flashlab::test;

TEST_CASE("fsck that finds problems, and a repair that is refused, change not a byte of either image, also after a kill", "[tools][fsck]") {
    const TemporaryDirectory work;
    const auto directory = work / "device";
    REQUIRE(make_device_directory(directory, plan_of({"page_map", "journal", true}), "", ExistingDevice::refuse).has_value());
    (void)fill(directory, true, 1);
    const ImageLayout layout{*Geometry::make(read_device_toml(directory)->ssd.nand.geometry)};
    Image image{directory / "nand.img"};
    std::vector<std::uint64_t> records; // of 512 bytes each
    for (const std::uint64_t at : image.written())
        if (at >= layout.pages_at && at < layout.payload_at) records.push_back(at);
    REQUIRE(records.size() > 8);
    int found = 0;
    for (std::size_t i = 0; i < records.size(); i += records.size() / 8) {
        INFO("records at " << records[i]);
        for (const unsigned bit : {0u, 3u, 6u}) image.flip(records[i] + 10, bit);
        const auto before = images_of(directory);
        for (const bool repair : {false, true}) {
            std::vector<std::string> words{"fsck", directory, "--quiet"};
            if (repair) words.emplace_back("--repair");
            const int code = run_words(words);
            CHECK(code != 0);
            if (code == 1) break; // repaired by copying
            ++found;
            CHECK(images_of(directory) == before);
        }
        if (images_of(directory) != before) break; // other images now
        image.put_back();
    }
    CHECK(found != 0);
    image.put_back();
}

TEST_CASE("fsck of a drive that was killed recovers it, so that the next look finds it clean", "[tools][fsck]") {
    const TemporaryDirectory work;
    const auto directory = work / "device";
    REQUIRE(make_device_directory(directory, plan_of({"fast", "pram", true}), "", ExistingDevice::refuse).has_value());
    (void)fill(directory, true, 2);
    CHECK_FALSE(open(directory, DeviceAccess::look)->device().recovery().was_clean);
    CHECK(run_words({"fsck", directory, "--quiet"}) == 0);
    CHECK(open(directory, DeviceAccess::look)->device().recovery().was_clean);
    CHECK(problems_of(directory) == 0);
}

TEST_CASE("pages of the file system that share a unit of the drive are not taken for free ones that hold data", "[tools][fsck]") {
    const TemporaryDirectory work;
    const auto directory = work / "device";
    REQUIRE(run_words({"mkfs", directory, "--size", "64M", "--set", "nand.page_bytes=3072", "--quiet"}) == 0);
    (void)fill(directory, true, 3);
    CHECK(run_words({"fsck", directory, "--quiet"}) == 0);
}

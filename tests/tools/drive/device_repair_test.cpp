// Goal: fsck --repair never makes a damaged device worse, and what it calls repaired is right.
// Method: devices as in damaged_images_test.cpp with flipped bits, one image in eight cut short; then every file is compared with what was written.
#include <fmt/format.h>

#include "tests/tools/drive/damaged_devices.h"
#include "tools/drive/device_copy.h"
#include "tools/drive/device_repair.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

std::map<std::string, std::map<off_t, std::string>> images_of(const files::path& directory) {
    return {{"nand.img", extents(directory / "nand.img")}, {"pram.img", extents(directory / "pram.img")}};
}

/// After a repair: each file is as it was written, or has another name and holds its own bytes or zeros.
void check_repaired(const files::path& directory, const Model& model, const Repair& repair) {
    CHECK(problems_of(directory) == 0);
    OpenOptions options;
    options.access = DeviceAccess::look;
    const auto opened = DeviceDirectory::open(directory, options);
    REQUIRE(opened.has_value());
    FileSystem& fs = (*opened)->device().fs();
    const FsCall call = call_at((*opened)->device().ready_at());
    for (const auto& [name, data] : model) {
        auto found = fs.lookup(call, root_ino, name);
        const bool is_whole = found.has_value();
        if (!found) found = fs.lookup(call, root_ino, name + ".damaged");
        const bool is_told = std::ranges::any_of(repair.lost, [&](const LostPart& lost) { return lost.path == "/" + name; });
        INFO(name);
        CHECK(is_told == !is_whole);
        if (!found) continue;
        std::vector<std::byte> got(data.size());
        REQUIRE(found->value.size == data.size());
        REQUIRE(fs.read(call, found->value.ino, 0, got).has_value());
        for (std::size_t i = 0; i < data.size(); ++i)
            if (got[i] != data[i] && (is_whole || got[i] != std::byte{0})) FAIL("byte " << i);
    }
}

/// Each image of one kind of device: repaired, or a clear error and not a byte changed.
void repair_many(const Kind& kind, int images, const char* file, std::uint64_t seed, int& repaired, int& refused) {
    const TemporaryDirectory work;
    REQUIRE(make_device_directory(work / "whole", plan_of(kind), "", ExistingDevice::refuse).has_value());
    const Model model = fill(work / "whole", kind.killed, seed);
    for (int i = 0; i < images; ++i) {
        INFO(kind.scheme << " " << kind.metadata << (kind.killed ? " killed" : " closed") << ", " << file << ", image " << i);
        const auto directory = work / "device";
        REQUIRE(clone_device(work / "whole", directory).has_value());
        Random random{seed * 1000 + static_cast<std::uint64_t>(i)};
        Image{directory / file}.flip(random, 1 + random.below(i % 2 == 0 ? 3 : 100));
        if (i % 8 == 7) files::resize_file(directory / file, files::file_size(directory / file) * (1 + random.below(99)) / 100);
        const auto before = images_of(directory);
        const auto repair = repair_device(directory);
        if (repair) {
            ++repaired;
            check_repaired(directory, model, *repair);
        } else {
            ++refused;
            require_for_users(repair.error());
            CHECK(repair.error().size() > 20);
            CHECK(images_of(directory) == before);
        }
        files::remove_all(directory);
    }
}

void repair_all(int images_of_each) {
    for (const char* file : {"nand.img", "pram.img"}) {
        int repaired = 0, refused = 0;
        std::uint64_t seed = 1;
        for (const Kind& kind : kinds) {
            const bool has_pram = std::string{kind.metadata} == "pram" || std::string{kind.scheme} == "hftl";
            if (std::string{file} == "nand.img" || has_pram) repair_many(kind, images_of_each, file, seed, repaired, refused);
            ++seed;
        }
        fmt::print("{}: {} damaged images: {} repaired, {} refused with an error and left as they were\n", file, repaired + refused, repaired,
                   refused);
        if (std::string{file} == "nand.img") CHECK(repaired != 0); // nothing stands in for metadata on PRAM
    }
}

} // namespace

TEST_CASE("a repair of a damaged image leaves a sound device that tells what is lost, or an error and not a byte changed",
          "[tools][damage][repair]") {
    repair_all(1);
}

TEST_CASE("five hundred damaged images are repaired, or refused with an error", "[.][damage-long]") { repair_all(32); }

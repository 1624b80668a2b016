// Goal: fsck --repair never makes a damaged device worse, and what it calls repaired is right.
// Method: devices as in damaged_images_test.cpp with flipped bits, one image in eight cut short; then every file is compared with what was written.
#include <fmt/format.h>

#include "nand/image_layout.h"
#include "pram/pram_image_header.h"
#include "tests/tools/drive/damaged_devices.h"
#include "tools/drive/device_copy.h"
#include "tools/drive/device_repair.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

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
void repair_many(const Kind& kind, int images, const char* file, std::uint64_t seed, int& repaired, int& in_place, int& refused) {
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
            in_place += repair->is_in_place ? 1 : 0;
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
        int repaired = 0, in_place = 0, refused = 0;
        std::uint64_t seed = 1;
        for (const Kind& kind : kinds) {
            const bool has_pram = std::string{kind.metadata} == "pram" || std::string{kind.scheme} == "hftl";
            if (std::string{file} == "nand.img" || has_pram) repair_many(kind, images_of_each, file, seed, repaired, in_place, refused);
            ++seed;
        }
        fmt::print("{}: {} damaged images: {} repaired, {} of them in place, {} refused with an error and left as they were\n", file,
                   repaired + refused, repaired, in_place, refused);
        CHECK(in_place != 0);
    }
}

} // namespace

TEST_CASE("a flipped bit of an image is turned back in place: nothing is lost, and the image is what it was", "[tools][damage][repair]") {
    for (const Kind& kind : {kinds[0], kinds[3], kinds[5]}) {
        const TemporaryDirectory work;
        REQUIRE(make_device_directory(work / "whole", plan_of(kind), "", ExistingDevice::refuse).has_value());
        const Model model = fill(work / "whole", kind.killed, 3);
        Random random{17};
        for (const char* file : {"nand.img", "pram.img"}) {
            if (std::string{file} == "pram.img" && std::string{kind.metadata} != "pram") continue;
            int mended = 0;
            for (int i = 0; i < 12; ++i) {
                INFO(kind.scheme << ' ' << kind.metadata << ", " << file << ", flip " << i);
                const auto directory = work / "device";
                REQUIRE(clone_device(work / "whole", directory).has_value());
                const auto before = images_of(directory);
                Image{directory / file}.flip(random, 1);
                const auto repair = repair_device(directory);
                INFO((repair ? "" : repair.error()));
                REQUIRE(repair.has_value());
                CHECK(repair->is_in_place);
                if (repair->lost.empty() && repair->bits_mended != 0) {
                    CHECK(images_of(directory) == before);
                    ++mended;
                }
                check_repaired(directory, model, *repair);
                files::remove_all(directory);
            }
            CHECK(mended >= 4); // the others lie where nothing is kept, or in a wear counter
        }
    }
}

TEST_CASE("a damaged wear counter gets the greatest of the others, and the repair says so", "[tools][damage][repair]") {
    const TemporaryDirectory work;
    REQUIRE(make_device_directory(work / "device", plan_of(kinds[0]), "", ExistingDevice::refuse).has_value());
    const Model model = fill(work / "device", false, 4);
    Image{work / "device" / "pram.img"}.flip(PramImageHeader::wear_offset() + 2, 3);
    const auto refused = DeviceDirectory::open(work / "device", OpenOptions{});
    REQUIRE_FALSE(refused.has_value());
    CHECK_THAT(refused.error(), ContainsSubstring("pram.img wear counter 0"));
    const auto repair = repair_device(work / "device");
    REQUIRE(repair.has_value());
    CHECK(repair->is_in_place);
    REQUIRE(repair->lost.size() == 1);
    CHECK(repair->lost.front().path == "pram.img wear counter 0");
    check_repaired(work / "device", model, *repair);
}

TEST_CASE("a drive that keeps nothing in PRAM is whole again without its pram.img, missing or damaged", "[tools][damage][repair]") {
    for (const Kind& kind : {kinds[2], kinds[3], kinds[7]}) {
        for (const bool is_missing : {true, false}) {
            INFO(kind.scheme << (kind.killed ? " killed" : " closed") << (is_missing ? ", missing" : ", zeros"));
            const TemporaryDirectory work;
            const auto directory = work / "device";
            REQUIRE(make_device_directory(directory, plan_of(kind), "", ExistingDevice::refuse).has_value());
            const Model model = fill(directory, kind.killed, 5);
            const auto whole = images_of(directory);
            files::remove(directory / "pram.img");
            if (!is_missing) std::ofstream{directory / "pram.img"} << std::string(8192, '\0');
            const auto opened = DeviceDirectory::open(directory, OpenOptions{});
            REQUIRE_FALSE(opened.has_value());
            if (is_missing) CHECK_THAT(opened.error(), ContainsSubstring("flashlab fsck --repair"));
            const auto repair = repair_device(directory);
            INFO((repair ? "" : repair.error()));
            REQUIRE(repair.has_value());
            CHECK(repair->is_in_place);
            REQUIRE(repair->lost.size() == 1);
            CHECK(repair->lost.front().path == "pram.img");
            CHECK(images_of(directory).at("nand.img") == whole.at("nand.img"));
            CHECK_FALSE(files::exists(directory / "pram.img.before-repair"));
            check_repaired(directory, model, *repair);
        }
    }
    const TemporaryDirectory work;
    const auto directory = work / "device";
    REQUIRE(make_device_directory(directory, plan_of(kinds[1]), "", ExistingDevice::refuse).has_value());
    files::remove(directory / "pram.img");
    CHECK_FALSE(repair_device(directory).has_value()); // hftl keeps its map there
    CHECK_FALSE(files::exists(directory / "pram.img"));
}

TEST_CASE("a nand.img that was cut short within its data loses what was behind the cut; where PRAM must agree with it, it is refused",
          "[tools][damage][repair]") {
    for (const Kind& kind : {kinds[2], kinds[3], kinds[8]}) {
        INFO(kind.scheme << ' ' << kind.metadata);
        const TemporaryDirectory work;
        const auto directory = work / "device";
        REQUIRE(make_device_directory(directory, plan_of(kind), "", ExistingDevice::refuse).has_value());
        const Model model = fill(directory, kind.killed, 5);
        const DeviceConfig config = *read_device_toml(directory);
        const ImageLayout layout{*Geometry::make(config.ssd.nand.geometry)};
        const bool needs_pram = config.needs_pram();
        const std::uint64_t last = Image{directory / "nand.img"}.written().back();
        files::resize_file(directory / "nand.img", std::max(layout.payload_at, last - 300'000));
        const auto before = images_of(directory);
        const auto repair = repair_device(directory);
        INFO((repair ? "" : repair.error()));
        if (repair) {
            CHECK_FALSE(needs_pram);
            CHECK(std::ranges::any_of(repair->lost, [](const LostPart& lost) { return lost.what.ends_with("they were cut off"); }));
            check_repaired(directory, model, *repair);
        } else {
            CHECK_THAT(repair.error(), ContainsSubstring("nand.img"));
            CHECK(images_of(directory) == before);
        }
        if (needs_pram) CHECK_FALSE(repair.has_value());
    }
}

TEST_CASE("either image of a drive with PRAM, cut short anywhere, is refused with what is wrong and what helps, and left as it is",
          "[tools][damage][repair]") {
    const TemporaryDirectory work;
    const auto directory = work / "device";
    REQUIRE(make_device_directory(directory, plan_of(kinds[0]), "", ExistingDevice::refuse).has_value());
    REQUIRE(read_device_toml(directory)->needs_pram());
    (void)fill(directory, kinds[0].killed, 5);
    for (const char* name : {"nand.img", "pram.img"}) {
        const std::uint64_t whole = files::file_size(directory / name);
        for (const std::uint64_t bytes :
             {whole - 1, whole - 4096, whole / 2, std::uint64_t{4096}, std::uint64_t{100}, std::uint64_t{3}, std::uint64_t{0}}) {
            INFO(name << " of " << bytes << " bytes");
            files::resize_file(directory / name, bytes); // ever shorter
            const auto before = images_of(directory);
            const auto repair = repair_device(directory);
            REQUIRE_FALSE(repair.has_value());
            CHECK_THAT(repair.error(), ContainsSubstring(name) && ContainsSubstring("restore it from a copy"));
            CHECK(images_of(directory) == before);
        }
        REQUIRE(make_device_directory(directory, plan_of(kinds[0]), "", ExistingDevice::replace).has_value());
    }
}

TEST_CASE("a repair of a damaged image leaves a sound device that tells what is lost, or an error and not a byte changed",
          "[tools][damage][repair]") {
    repair_all(1);
}

TEST_CASE("five hundred damaged images are repaired, or refused with an error", "[.][damage-long]") { repair_all(32); }

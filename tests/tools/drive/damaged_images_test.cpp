// Goal: whatever bits flip in the images of a device, nobody is served a wrong byte without an error, and fsck names the damage.
// Method: devices full of files, cleanly closed or killed; 1 to 100 bits of one image flipped, half of the time where something was written; then all
// files are compared with what was written, and fsck has to know better whenever they differ. Seeds are printed.
#include <set>

#include <fmt/format.h>

#include "base/contract.h"
#include "nand/image_layout.h"
#include "nand/image_page_store.h"
#include "pram/image_pram_store.h"
#include "tests/tools/drive/damaged_devices.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

struct Seen {
    bool refused = false;
    std::uint64_t errors = 0; ///< calls that failed with EIO
    std::string wrong;        ///< what was served and is not what was written
};

/// Every name, every byte.
Seen compare(const files::path& directory, const Model& model) {
    Seen seen;
    OpenOptions options;
    options.access = DeviceAccess::look;
    auto opened = DeviceDirectory::open(directory, options);
    if (!opened) {
        CHECK_THAT(opened.error(), ContainsSubstring(directory.string()));
        require_for_users(opened.error());
        seen.refused = true;
        return seen;
    }
    FileSystem& fs = (*opened)->device().fs();
    const FsCall call = call_at((*opened)->device().ready_at());
    std::set<std::string> names;
    const auto listed = fs.read_directory(call, root_ino, 0, [&](std::string_view name, Ino, std::uint32_t, std::uint64_t) {
        if (name != "." && name != "..") names.insert(std::string{name});
        return true;
    });
    if (!listed) ++seen.errors;
    for (const std::string& name : names)
        if (!model.contains(name)) seen.wrong = "a file that was not written: " + name;
    for (const auto& [name, data] : model) {
        const auto found = fs.lookup(call, root_ino, name);
        if (!found) {
            if (found.error().error_number != EIO) seen.wrong = "missing: " + name;
            ++seen.errors;
            continue;
        }
        if (found->value.size != data.size()) seen.wrong = "size of " + name;
        std::vector<std::byte> got(4096);
        for (std::uint64_t at = 0; at < data.size(); at += got.size()) {
            const auto read = fs.read(call, found->value.ino, at, got);
            if (!read)
                ++seen.errors;
            else if (!std::ranges::equal(std::span{got}.first(read->value),
                                         std::span{data}.subspan(at, std::min<std::size_t>(got.size(), data.size() - at))))
                seen.wrong = "bytes of " + name + " at " + std::to_string(at);
        }
    }
    return seen;
}

struct Tally {
    int images = 0, refused = 0, with_errors = 0, harmless = 0, named = 0;
};

/// `images` damaged ones of one kind of device.
void damage_many(const Kind& kind, int images, const char* file, std::uint64_t seed, Tally& tally) {
    const TemporaryDirectory work;
    const auto directory = work / "device";
    const auto made = make_device_directory(directory, plan_of(kind), "", ExistingDevice::refuse);
    INFO((made ? "" : made.error()));
    REQUIRE(made.has_value());
    const Model model = fill(directory, kind.killed, seed);
    const Seen whole = compare(directory, model);
    INFO(kind.scheme << " " << kind.metadata << (kind.killed ? " killed" : " closed") << ", " << file);
    REQUIRE_FALSE(whole.refused);
    REQUIRE(whole.wrong == "");
    REQUIRE(whole.errors == 0);
    REQUIRE(problems_of(directory) == 0);
    Image image{directory / file};
    for (int i = 0; i < images; ++i) {
        Random random{seed * 1000 + static_cast<std::uint64_t>(i)};
        const std::uint64_t bits = 1 + random.below(i % 3 == 0 ? 3 : 100);
        image.flip(random, bits);
        INFO("image " << i << " of seed " << seed << ", " << bits << " bits");
        Seen seen;
        std::size_t problems = 0;
        try {
            seen = compare(directory, model);
        } catch (const ContractViolation& broken) {
            seen.wrong = broken.what();
        }
        problems = problems_of(directory);
        image.put_back();
        CHECK(seen.wrong == "");
        if (seen.refused || seen.errors != 0) CHECK(problems != 0);
        ++tally.images;
        tally.refused += seen.refused ? 1 : 0;
        tally.with_errors += !seen.refused && seen.errors != 0 ? 1 : 0;
        tally.harmless += !seen.refused && seen.errors == 0 ? 1 : 0;
        tally.named += problems != 0 ? 1 : 0;
    }
    REQUIRE(compare(directory, model).errors == 0);
}

void damage_all(int images_of_each) {
    for (const char* file : {"nand.img", "pram.img"}) {
        Tally tally;
        std::uint64_t seed = 1;
        for (const Kind& kind : kinds) {
            const bool has_pram = std::string{kind.metadata} == "pram" || std::string{kind.scheme} == "hftl";
            if (std::string{file} == "nand.img" || has_pram) damage_many(kind, images_of_each, file, seed, tally);
            ++seed;
        }
        fmt::print("{}: {} damaged images: {} refused, {} mounted with EIO where the damage lies, {} served everything right; fsck --data named "
                   "damage in {}\n",
                   file, tally.images, tally.refused, tally.with_errors, tally.harmless, tally.named);
    }
}

} // namespace

TEST_CASE("flipped bits in either image are never served as data: the mount refuses, or the read fails, and fsck names them", "[tools][damage]") {
    damage_all(4);
}

TEST_CASE("after a kill a flipped bit in the record of any page costs that page or a refusal that fsck can name, and never a wrong byte",
          "[tools][damage]") {
    for (const Kind& kind : kinds) {
        if (!kind.killed) continue;
        const TemporaryDirectory work;
        const auto directory = work / "device";
        REQUIRE(make_device_directory(directory, plan_of(kind), "", ExistingDevice::refuse).has_value());
        const Model model = fill(directory, true, 7);
        const auto geometry = Geometry::make(read_device_toml(directory)->ssd.nand.geometry);
        const ImageLayout layout{*geometry};
        Image image{directory / "nand.img"};
        Random random{7};
        for (int tried = 0; tried < 8;) {
            const Ppn page{static_cast<std::uint32_t>(random.below(geometry->pages()))};
            const std::uint64_t at = layout.page_record_at(page);
            if (image.text(at, 1) != "\1") continue; // not programmed
            ++tried;
            INFO(kind.scheme << ' ' << kind.metadata << ", page " << page.value());
            image.flip(at + 8, static_cast<unsigned>(random.below(8)));
            const Seen seen = compare(directory, model);
            const auto named = damaged_page_records(directory);
            image.put_back();
            CHECK(seen.wrong == "");
            REQUIRE(named.size() == 1);
            CHECK_THAT(named.front().where, ContainsSubstring("page " + std::to_string(page.value()) + " "));
        }
    }
}

TEST_CASE("five hundred damaged images of each kind are never served as data", "[.][damage-long]") {
    damage_all(84); // 10 and 6 kinds: 840 of nand.img, 504 of pram.img
}

TEST_CASE(
    "each single flipped bit of the written part of the PRAM cells makes a mount refuse, names its place, and recovery looks at it with a warning",
    "[tools][damage]") {
    const TemporaryDirectory work;
    const auto directory = work / "device";
    make(directory);
    write_something(*open(directory));
    const std::uint64_t cells = [&] {
        const auto store = ImagePramStore::open(directory / "pram.img", PramImageAccess::private_copy);
        REQUIRE(store.has_value());
        return (*store)->header().cells_offset();
    }();
    const DeviceConfig config = *read_device_toml(directory);
    Image image{directory / "pram.img"};
    image.flip(cells + config.layout.fs_at + 520, 1); // the state in the superblock
    OpenOptions options;
    const auto refused = DeviceDirectory::open(directory, options);
    REQUIRE_FALSE(refused.has_value());
    CHECK_THAT(refused.error(), ContainsSubstring("superblock") && ContainsSubstring("fsck") && ContainsSubstring("recovery"));
    image.put_back();
    image.flip(cells + config.layout.ftl_at + config.layout.ftl_bytes - 1, 7);
    const auto also = DeviceDirectory::open(directory, options);
    REQUIRE_FALSE(also.has_value());
    CHECK_THAT(also.error(), ContainsSubstring("translation layer"));
    std::string warned;
    options.tolerate_damage = true;
    options.complain = [&](const std::string& what) { warned += what; };
    {
        const auto looked = DeviceDirectory::open(directory, options);
        REQUIRE(looked.has_value());
        CHECK_THAT(warned, ContainsSubstring("damaged"));
        const FsCall call = call_at((*looked)->device().ready_at());
        const auto changed = (*looked)->device().fs().make_directory(call, root_ino, "no", 0755);
        REQUIRE_FALSE(changed.has_value());
        CHECK(changed.error().error_number == EROFS);
    }
    image.put_back();
    CHECK(DeviceDirectory::open(directory, OpenOptions{}).has_value());
}

TEST_CASE("an image older than its sister is refused, whichever of the two it is, after a clean end and after a kill", "[tools][damage]") {
    for (const bool killed : {false, true}) {
        for (const char* file : {"nand.img", "pram.img"}) {
            CAPTURE(killed, file);
            const TemporaryDirectory work;
            const auto directory = work / "device";
            make(directory);
            files::copy_file(directory / file, work / "older");
            {
                auto opened = open(directory);
                write_something(*opened);
                if (killed)
                    opened->abandon();
                else
                    close(*opened);
            }
            files::copy_file(directory / file, work / "newer");
            files::copy_file(work / "older", directory / file, files::copy_options::overwrite_existing);
            const auto refused = DeviceDirectory::open(directory, OpenOptions{});
            REQUIRE_FALSE(refused.has_value());
            CHECK_THAT(refused.error(), ContainsSubstring("older than the other image") && ContainsSubstring(file));
            CHECK(problems_of(directory) != 0);
            files::copy_file(work / "newer", directory / file, files::copy_options::overwrite_existing);
            close(*open(directory));
        }
    }
}

TEST_CASE("a drive whose metadata in a journal do not read is refused with the image's name and a remedy", "[tools][damage][journal]") {
    const TemporaryDirectory work;
    const auto directory = work / "device";
    REQUIRE(make_device_directory(directory, plan_of({"hftl", "journal", false}), "", ExistingDevice::refuse).has_value());
    (void)fill(directory, false, 1);
    const DeviceConfig config = *read_device_toml(directory);
    const ImageLayout layout{*Geometry::make(config.ssd.nand.geometry)};
    for (const bool keeps_superblock : {false, true}) {
        CAPTURE(keeps_superblock);
        Image image{directory / "nand.img"};
        for (const std::uint64_t page : image.written())
            if (page >= layout.payload_at && page < layout.generation_at && !(keeps_superblock && image.text(page, 8) == "FLATJNL1"))
                image.flip(page + 300, 0);
        const auto refused = DeviceDirectory::open(directory, OpenOptions{});
        image.put_back();
        REQUIRE_FALSE(refused.has_value());
        INFO(refused.error());
        CHECK_THAT(refused.error(),
                   ContainsSubstring("nand.img") && ContainsSubstring("fsck --repair") && ContainsSubstring("put back copies of both images"));
        require_for_users(refused.error());
    }
    close(*open(directory));
}

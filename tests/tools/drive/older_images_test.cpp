// Goal: an image that is partly or wholly from an older copy of the same drive is refused before anything is changed, and told by fsck and by repair.
// Method: drives of every scheme, filled, copied, filled on, and closed or killed; then a part of one image is put back from the copy. Copies of both
// images, and drives whose power was cut in many ways, are not refused.
#include <fmt/format.h>

#include "nand/image_layout.h"
#include "pram/pram_image_header.h"
#include "tests/tools/drive/damaged_devices.h"
#include "tools/drive/device_copy.h"
#include "tools/drive/device_repair.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr std::array layers_tested{"page_map", "block_map", "log_block", "fast", "dftl", "hftl", "coftl", "tpftl", "leaftl"};
constexpr std::array both_images{"nand.img", "pram.img"};

/// [from, end) of one file takes the bytes of another; `end` 0: to the end of the file.
void put_part(const files::path& older, const files::path& image, std::uint64_t from, std::uint64_t end) {
    std::ifstream in{older, std::ios::binary};
    std::fstream out{image, std::ios::binary | std::ios::in | std::ios::out};
    REQUIRE((in.is_open() && out.is_open()));
    std::string bytes((end == 0 ? files::file_size(older) : end) - from, '\0');
    in.seekg(static_cast<std::streamoff>(from));
    REQUIRE(in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())));
    out.seekp(static_cast<std::streamoff>(from));
    REQUIRE(out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())));
}

struct Part {
    const char* what;
    const char* image;
    std::uint64_t from;
    std::uint64_t end;
};

/// Refused by mount, named by fsck, and by a repair that says what is lost; nothing is changed by any of the three.
void check_refused(const files::path& directory) {
    const auto before = images_of(directory);
    const auto refused = DeviceDirectory::open(directory, OpenOptions{});
    REQUIRE_FALSE(refused.has_value());
    INFO(refused.error());
    CHECK_THAT(refused.error(),
               ContainsSubstring("another copy") || ContainsSubstring("older than the other image") || ContainsSubstring("checksum"));
    CHECK_THAT(refused.error(), ContainsSubstring("fsck") && ContainsSubstring("cop"));
    require_for_users(refused.error());
    CHECK(problems_of(directory) != 0);
    const auto repair = repair_device(directory);
    REQUIRE_FALSE(repair.has_value());
    CHECK_THAT(repair.error(), ContainsSubstring("lost") || ContainsSubstring("older than the other image") || ContainsSubstring("checksum"));
    CHECK(images_of(directory) == before);
    CHECK(list_snapshots(directory)->empty());
    CHECK_FALSE(files::exists(directory / "snapshots"));
}

void check_older_parts(const Kind& kind) {
    const TemporaryDirectory work;
    const auto directory = work / "device";
    REQUIRE(make_device_directory(directory, plan_of(kind), "", ExistingDevice::refuse).has_value());
    (void)fill(directory, false, 1);
    for (const char* image : both_images) files::copy_file(directory / image, work / ("older-" + std::string{image}));
    (void)fill(directory, false, 2);
    if (kind.killed) { // what its session erases itself is not told after a kill (docs/crash-model.md)
        auto opened = open(directory);
        write_something(*opened, "last");
        opened->abandon();
    }
    for (const char* image : both_images) files::copy_file(directory / image, work / ("newer-" + std::string{image}));

    const DeviceConfig config = *read_device_toml(directory);
    const ImageLayout layout{*Geometry::make(config.ssd.nand.geometry)};
    const std::uint64_t records = layout.payload_at - layout.pages_at, data = layout.generation_at - layout.payload_at;
    std::vector<Part> parts{{"beginning", "nand.img", 0, layout.payload_at + data / 2},
                            {"first records", "nand.img", 0, layout.pages_at + records / 8},
                            {"middle", "nand.img", layout.pages_at + records / 8, layout.payload_at + data / 2},
                            {"whole", "nand.img", 0, 0},
                            {"whole", "pram.img", 0, 0}};
    if (config.needs_pram()) {
        const PramImageHeader pram{.uuid = {}, .cell_bytes = config.ssd.pram.bytes, .word_bytes = config.ssd.pram.word_bytes};
        parts.push_back({"all but its end", "pram.img", 0, pram.state_offset()});
    }
    for (const Part& part : parts) {
        INFO(kind.scheme << ' ' << kind.metadata << (kind.killed ? " killed" : " closed") << ": " << part.what << " of " << part.image);
        put_part(work / ("older-" + std::string{part.image}), directory / part.image, part.from, part.end);
        check_refused(directory);
        put_part(work / ("newer-" + std::string{part.image}), directory / part.image, 0, 0);
    }
    for (const char* image : both_images) put_part(work / ("older-" + std::string{image}), directory / image, 0, 0); // both together
    close(*open(directory));
}

/// Of the kinds one half, or the other: each scheme once with either store and once after either end, each store after either end.
void check_half_of_the_kinds(std::size_t half) {
    for (std::size_t i = 0; i < layers_tested.size(); ++i) {
        const bool killed = i % 2 == half;
        check_older_parts({layers_tested[i], "pram", killed});
        check_older_parts({layers_tested[i], "journal", !killed});
    }
}

/// A third of the rounds ends each by a kill, by a cut and by a shutdown; every fourth is followed by a snapshot and its clone.
void check_never_older(int rounds) {
    for (const char* scheme : layers_tested)
        for (const char* metadata : {"pram", "journal"}) {
            INFO(scheme << ' ' << metadata);
            const TemporaryDirectory work;
            const auto directory = work / "device";
            REQUIRE(make_device_directory(directory, plan_of({scheme, metadata, false}), "", ExistingDevice::refuse).has_value());
            Random random{7};
            for (int round = 0; round < rounds; ++round) {
                INFO("round " << round);
                auto opened = open(directory);
                Device& device = opened->device();
                SimTime now = device.ready_at();
                for (int step = 0; step < 30; ++step) {
                    const std::string name = "file" + std::to_string(random.below(8));
                    auto found = device.fs().lookup(call_at(now), root_ino, name);
                    if (!found) found = device.fs().make_node(call_at(now), root_ino, name, 0100644, 0);
                    REQUIRE(found.has_value());
                    const std::vector<std::byte> data(1 + random.below(200'000), static_cast<std::byte>(round + 1));
                    REQUIRE(device.fs().write(call_at(now), found->value.ino, random.below(400'000), data).has_value());
                    if (random.chance(1, 3)) now = *sync_all(device.fs(), now);
                }
                if (round % 3 == 0) {
                    opened->abandon();
                } else if (round % 3 == 1) {
                    const auto back = Duration{static_cast<std::int64_t>(random.below(3'000'000))};
                    (void)device.cut(std::max(now, device.last_reserved_end() - back), random.next());
                    REQUIRE(opened->close(device.ready_at(), {}).has_value());
                } else {
                    close(*opened);
                }
                opened.reset();
                if (round % 4 == 0) {
                    const std::string name = fmt::format("s{}", round);
                    REQUIRE(take_snapshot(directory, name).has_value());
                    REQUIRE(clone_device(fmt::format("{}@{}", directory.string(), name), work / "clone").has_value());
                    close(*open(work / "clone"));
                    files::remove_all(work / "clone");
                }
            }
            close(*open(directory));
            CHECK(problems_of(directory) == 0);
        }
}

} // namespace

TEST_CASE("an image that is older, or partly so, is refused untouched by mount and repair, with every scheme", "[tools][damage][older]") {
    check_half_of_the_kinds(0);
}

/// The drive as a mount that is killed finds it, and what it then erased and wrote itself.
void check_killed_mount(const char* scheme, const char* metadata) {
    INFO(scheme << ' ' << metadata);
    const TemporaryDirectory work;
    const auto directory = work / "device";
    const Kind kind{scheme, metadata, true};
    REQUIRE(make_device_directory(directory, plan_of(kind), "", ExistingDevice::refuse).has_value());
    (void)fill(directory, false, 1);
    files::copy_file(directory / "nand.img", work / "older");
    auto opened = open(directory);
    FileSystem& fs = opened->device().fs();
    SimTime now = opened->device().ready_at();
    const auto file = fs.make_node(call_at(now), root_ino, "overwritten", 0100644, 0);
    REQUIRE(file.has_value());
    const auto is_new = [&] { return std::ranges::all_of(opened->device().array().counters().erases, [](std::uint64_t n) { return n == 0; }); };
    for (int round = 0, behind = 0; behind < 3; ++round) {
        REQUIRE(round < 3000);
        REQUIRE(fs.write(call_at(now), file->value.ino, 0, std::vector<std::byte>(100'000, static_cast<std::byte>(round + 1))).has_value());
        now = *sync_all(fs, now);
        behind += is_new() ? 0 : 1;
    }
    opened->abandon();
    files::copy_file(directory / "nand.img", work / "newer");

    const Geometry geometry = *Geometry::make(read_device_toml(directory)->ssd.nand.geometry);
    const ImageLayout layout{geometry};
    const auto records_of = [&](const char* image, BlockId block) {
        std::ifstream in{work / image, std::ios::binary};
        std::string bytes(ImageLayout::block_record_bytes, '\0'), pages(geometry.pages_per_block() * ImageLayout::page_record_bytes, '\0');
        in.seekg(static_cast<std::streamoff>(layout.block_record_at(block))).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        in.seekg(static_cast<std::streamoff>(layout.page_record_at(geometry.page_of(block, 0))))
            .read(pages.data(), static_cast<std::streamsize>(pages.size()));
        return std::pair{bytes, pages};
    };
    std::uint32_t erased = 0, written = 0;
    for (std::uint32_t b = 0; b < geometry.blocks() && (erased == 0 || written == 0); ++b) {
        const auto before = records_of("older", BlockId{b}), after = records_of("newer", BlockId{b});
        if (before == after || ++(before.first == after.first ? written : erased) != 1) continue;
        INFO("block " << b << (before.first == after.first ? ", written to" : ", erased"));
        const std::uint64_t record = layout.block_record_at(BlockId{b}), pages = layout.page_record_at(geometry.page_of(BlockId{b}, 0));
        put_part(work / "older", directory / "nand.img", record, record + ImageLayout::block_record_bytes);
        put_part(work / "older", directory / "nand.img", pages, pages + before.second.size());
        check_refused(directory);
        put_part(work / "newer", directory / "nand.img", 0, 0);
    }
    CHECK((erased != 0 && written != 0));
    close(*open(directory));
}

/// A page record with written ones behind it, gone as if it had never been written: of blocks that the killed mount wrote to no digest tells.
void check_gaps(const char* scheme, const char* metadata) {
    INFO(scheme << ' ' << metadata);
    const TemporaryDirectory work;
    const auto directory = work / "device";
    REQUIRE(make_device_directory(directory, plan_of({scheme, metadata, true}), "", ExistingDevice::refuse).has_value());
    (void)fill(directory, true, 1);
    const Geometry geometry = *Geometry::make(read_device_toml(directory)->ssd.nand.geometry);
    const ImageLayout layout{geometry};
    constexpr std::size_t bytes = ImageLayout::page_record_bytes;
    std::fstream image{directory / "nand.img", std::ios::binary | std::ios::in | std::ios::out};
    const auto record_of = [&](Ppn page) {
        std::string record(bytes, '\0');
        image.seekg(static_cast<std::streamoff>(layout.page_record_at(page))).read(record.data(), bytes);
        return record;
    };
    const auto put = [&](Ppn page, const std::string& record) {
        image.seekp(static_cast<std::streamoff>(layout.page_record_at(page))).write(record.data(), bytes).flush();
    };
    const std::string erased(bytes, '\0');
    std::uint32_t gaps = 0;
    Random random{5};
    for (std::uint32_t b = 0; b < geometry.blocks() && gaps < 8; ++b) {
        const Ppn page = geometry.page_of(BlockId{b}, static_cast<std::uint32_t>(random.below(geometry.pages_per_block() - 1)));
        const std::string was = record_of(page);
        if (was == erased || record_of(Ppn{page.value() + 1}) == erased) continue;
        INFO("block " << b << ", page " << page.value() % geometry.pages_per_block());
        ++gaps;
        put(page, erased);
        check_refused(directory);
        put(page, was);
    }
    CHECK(gaps == 8);
    close(*open(directory));
}

TEST_CASE("a page record that is gone from the midst of a block is told after a kill, too", "[tools][damage][older]") {
    for (const char* scheme : layers_tested) check_gaps(scheme, std::string_view{scheme}.size() % 2 == 0 ? "pram" : "journal");
}

TEST_CASE("a block that a killed mount erased or wrote to is told from what it was when that mount began", "[tools][damage][older]") {
    check_killed_mount("page_map", "pram");
    check_killed_mount("hftl", "pram");
    check_killed_mount("fast", "journal");
    check_killed_mount("coftl", "journal");
}

TEST_CASE("an older image is refused with every scheme, metadata in PRAM and in a journal, closed and killed", "[.][damage-long]") {
    check_half_of_the_kinds(1);
}

TEST_CASE("a device that was killed or cut again and again is never taken for an older one, nor are its clones and snapshots",
          "[tools][damage][older]") {
    check_never_older(6);
}

TEST_CASE("a device that was killed or cut many times is never taken for an older one", "[.][damage-long]") { check_never_older(12); }

TEST_CASE("flipped bits of the evidence are turned back, and flipped records are still damage, not age", "[tools][damage][older]") {
    for (const bool killed : {false, true}) {
        const TemporaryDirectory work;
        const auto directory = work / "device";
        const Kind kind{"page_map", "pram", killed};
        REQUIRE(make_device_directory(directory, plan_of(kind), "", ExistingDevice::refuse).has_value());
        (void)fill(directory, killed, 3);
        const DeviceConfig config = *read_device_toml(directory);
        const ImageLayout layout{*Geometry::make(config.ssd.nand.geometry)};
        const PramImageHeader pram{.uuid = {}, .cell_bytes = config.ssd.pram.bytes, .word_bytes = config.ssd.pram.word_bytes};
        for (const bool second : {false, true}) {
            Image{directory / "nand.img"}.flip(layout.evidence_at(second) + 2, 1);
            Image{directory / "pram.img"}.flip(pram.evidence_offset(second) + 1, 1);
        }
        const auto refused = DeviceDirectory::open(directory, OpenOptions{});
        REQUIRE_FALSE(refused.has_value());
        CHECK_THAT(refused.error(), ContainsSubstring("evidence"));
        const auto repair = repair_device(directory);
        INFO((repair ? "" : repair.error()));
        REQUIRE(repair.has_value());
        CHECK((repair->is_in_place && repair->bits_mended == 4 && repair->lost.empty()));
        CHECK(problems_of(directory) == 0);
        Image{directory / "nand.img"}.flip(layout.pages_at + 5, 1); // a page record
        OpenOptions look;
        look.access = DeviceAccess::look;
        const auto looked = DeviceDirectory::open(directory, look);
        if (!looked) CHECK_THAT(looked.error(), !ContainsSubstring("another copy"));
    }
}

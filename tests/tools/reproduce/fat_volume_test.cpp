/// The FAT-like layout against a model, in either place; what its check finds; what a write costs.
#include "tests/tools/reproduce/fat_world.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "base/crc32c.h"
#include "base/little_endian.h"
#include "base/random.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

using Place = test::FatPlace;
using World = test::FatWorld;
using Content = std::vector<std::byte>;

Content random_bytes(Random& random, std::size_t bytes) {
    Content out(bytes);
    for (std::byte& b : out) b = static_cast<std::byte>(random.next());
    return out;
}

/// Files by directory and name: directory "" is the root, others lie in it.
class FatModel {
public:
    FatModel(World& world, std::uint64_t seed) : world_{world}, random_{seed} {}
    void step();
    void compare();

private:
    using Key = std::pair<std::string, std::string>;
    FatDirectory directory(const std::string& name) {
        if (name.empty()) return {};
        const auto found = world_.volume->lookup(world_.call(), {}, name);
        REQUIRE(found.has_value());
        REQUIRE(found->entry.is_directory);
        return found->as_directory();
    }
    std::string any_directory() {
        return random_.chance(1, 3) || directories_.empty()
                   ? ""
                   : *std::next(directories_.begin(), static_cast<std::ptrdiff_t>(random_.below(directories_.size())));
    }
    void create();
    void write();
    void remove();

    World& world_;
    Random random_;
    std::set<std::string> directories_;
    std::map<Key, Content> files_;
};

void FatModel::create() {
    if (random_.chance(1, 5)) {
        const std::string name = fmt::format("d{}", random_.below(12));
        const auto made = world_.volume->make_directory(world_.call(), {}, name);
        const bool there = directories_.contains(name);
        if (!made && made.error() == FsError{ENOSPC} && !there) return;
        REQUIRE(made.has_value() != there);
        if (there) CHECK(made.error() == FsError{EEXIST});
        directories_.insert(name);
        return;
    }
    const Key key{any_directory(), fmt::format("f{}", random_.below(150))};
    const auto made = world_.volume->create(world_.call(), directory(key.first), key.second);
    if (!made && made.error() == FsError{ENOSPC}) return;
    REQUIRE(made.has_value() != files_.contains(key));
    if (made) files_[key];
}

void FatModel::write() {
    auto at = std::next(files_.begin(), static_cast<std::ptrdiff_t>(random_.below(files_.size())));
    auto& [key, content] = *at;
    auto file = world_.volume->lookup(world_.call(), directory(key.first), key.second);
    REQUIRE(file.has_value());
    for (int times = 0; times < 3; ++times) {
        const auto offset = static_cast<std::uint32_t>(random_.below(content.size() + (random_.chance(1, 4) ? 9000 : 1)));
        const Content bytes = random_bytes(random_, 1 + random_.below(random_.chance(1, 2) ? 700 : 20'000));
        const auto written = world_.volume->write(world_.call(), *file, offset, static_cast<std::uint32_t>(bytes.size()), bytes);
        if (!written) {
            CHECK(written.error() == FsError{ENOSPC});
            return;
        }
        content.resize(std::max(content.size(), offset + bytes.size()));
        std::ranges::copy(bytes, content.begin() + offset);
    }
}

void FatModel::remove() {
    if (random_.chance(1, 12) && !directories_.empty()) {
        const std::string name = *directories_.begin();
        const bool empty = std::ranges::none_of(files_, [&](const auto& f) { return f.first.first == name; });
        const auto removed = world_.volume->remove(world_.call(), {}, name);
        REQUIRE(removed.has_value() == empty);
        if (empty)
            directories_.erase(name);
        else
            CHECK(removed.error() == FsError{ENOTEMPTY});
        return;
    }
    auto at = std::next(files_.begin(), static_cast<std::ptrdiff_t>(random_.below(files_.size())));
    REQUIRE(world_.volume->remove(world_.call(), directory(at->first.first), at->first.second).has_value());
    CHECK(world_.volume->lookup(world_.call(), directory(at->first.first), at->first.second).error() == FsError{ENOENT});
    files_.erase(at);
}

void FatModel::step() {
    const std::uint64_t what = random_.below(100);
    if (files_.empty() || what < 35)
        create();
    else if (what < 75)
        write();
    else if (what < 97)
        remove();
    else {
        REQUIRE(world_.volume->sync(world_.call()).has_value());
        world_.mount();
    }
}

void FatModel::compare() {
    std::size_t listed = 0;
    std::set<std::string> all = directories_;
    all.insert("");
    for (const std::string& name : all) {
        const auto entries = world_.volume->list(world_.call(), directory(name));
        REQUIRE(entries.has_value());
        for (const FatEntry& entry : *entries) {
            if (entry.is_directory) {
                CHECK(directories_.contains(entry.name));
                continue;
            }
            ++listed;
            const auto model = files_.find({name, entry.name});
            REQUIRE(model != files_.end());
            REQUIRE(entry.size == model->second.size());
            auto file = world_.volume->lookup(world_.call(), directory(name), entry.name);
            REQUIRE(file.has_value());
            Content got(entry.size);
            for (std::uint32_t offset = 0; offset < entry.size;) {
                const auto bytes = static_cast<std::uint32_t>(1 + random_.below(30'000));
                Content part(bytes);
                const auto read = world_.volume->read(world_.call(), *file, offset, bytes, part);
                REQUIRE(read.has_value());
                REQUIRE(*read == std::min(bytes, entry.size - offset));
                std::copy_n(part.begin(), *read, got.begin() + offset);
                offset += *read;
            }
            CHECK(got == model->second);
        }
    }
    CHECK(listed == files_.size());
    CHECK(world_.check().empty());
}

std::uint64_t mapped_sectors(const World& world) {
    std::uint64_t sectors = 0;
    const std::uint64_t first = world.layout.metadata_sectors();
    for (const LbaRange& range : world.device.lba_status(Sector{first}, world.device.identify().sectors - first))
        sectors += range.mapped ? range.sectors : 0;
    return sectors;
}

std::uint64_t used_sectors(const World& world) {
    const std::uint64_t clusters = world.layout.clusters - world.layout.directory_clusters;
    return clusters * fat_cluster_sectors - world.volume->bytes_free() / sector_bytes;
}

} // namespace

TEST_CASE("random calls do what a model says, in either place, with and without a data cache, across mounts", "[fs][fat]") {
    const auto place = GENERATE(Place::drive, Place::pram);
    const std::uint64_t cache = GENERATE(0u, 48u << 10);
    const std::uint64_t seed = GENERATE(1u, 2u, 3u);
    CAPTURE(place == Place::pram, cache, seed);
    World world{place, {.cached_sectors = 4, .data_cache_bytes = cache, .deletes_pages = seed != 3}};
    FatModel model{world, seed};
    for (int steps = 0; steps < 600; ++steps) {
        model.step();
        if (steps % 150 == 149) model.compare();
    }
    REQUIRE(world.volume->sync(world.call()).has_value());
    world.mount();
    model.compare();
    if (seed != 3)
        CHECK(mapped_sectors(world) == used_sectors(world)); // HY6: what is free here is unmapped there
    else
        CHECK(mapped_sectors(world) > used_sectors(world));
}

TEST_CASE("the same calls leave the same metadata in either place", "[fs][fat]") {
    World drive{Place::drive};
    World pram{Place::pram};
    for (World* world : {&drive, &pram}) {
        auto in = world->volume->make_directory({.now = sim_start, .wall = {.seconds = 7}}, {}, "music");
        auto file = world->volume->create({.now = sim_start, .wall = {.seconds = 8}}, in->as_directory(), "song");
        Random random{5};
        REQUIRE(world->volume->write({.now = sim_start, .wall = {.seconds = 9}}, *file, 100, 10'000, random_bytes(random, 10'000)).has_value());
        REQUIRE(world->volume->create({.now = sim_start, .wall = {.seconds = 9}}, {}, "gone").has_value());
        REQUIRE(world->volume->remove({.now = sim_start, .wall = {.seconds = 9}}, {}, "gone").has_value());
        REQUIRE(world->volume->sync(world->call()).has_value());
    }
    for (std::uint64_t sector = 0; sector < drive.layout.metadata_sectors(); ++sector) CHECK(drive.sector(sector) == pram.sector(sector));
    CHECK(drive.device.writes > pram.device.writes); // there the metadata went to the drive
}

TEST_CASE("1 GiB takes 5.3 MiB of metadata: two FATs of 2 MiB, and 32 bytes for each 24 KiB", "[fs][fat]") {
    const auto layout = FatLayout::make((std::uint64_t{1} << 30) / sector_bytes);
    REQUIRE(layout.has_value());
    CHECK(layout->fat_sectors == 4100);
    CHECK(static_cast<double>(layout->metadata_bytes()) / (1 << 20) == Approx(5.33).epsilon(0.002));
    CHECK(layout->sector_of(layout->end_cluster()) <= (std::uint64_t{1} << 30) / sector_bytes);
    const auto aligned = FatLayout::make((std::uint64_t{1} << 30) / sector_bytes, 512);
    REQUIRE(aligned.has_value());
    CHECK(aligned->metadata_sectors() % 512 == 0);
    CHECK(aligned->metadata_sectors() >= layout->metadata_sectors());
    CHECK(aligned->metadata_sectors() < layout->metadata_sectors() + 512);
    CHECK(!FatLayout::make(400, 1024).has_value());
    SectorBytes bytes{};
    layout->encode(bytes);
    CHECK(FatLayout::decode(bytes) == *layout);
    bytes[9] ^= std::byte{1};
    CHECK(FatLayout::decode(bytes).error() == "the superblock is damaged");
    CHECK(!FatLayout::make(40).has_value());
}

TEST_CASE("superblock and directory entry are the bytes of fs/FORMAT.md", "[fs][fat]") {
    const auto hex = [](std::span<const std::byte> bytes) {
        std::string text;
        for (const std::byte b : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(b));
        return text;
    };
    SectorBytes sector{};
    FatLayout{.clusters = 0x1234, .directory_clusters = 0x56, .fat_sectors = 0x78}.encode(sector);
    CHECK(hex(std::span{sector}.first(20)) == "464c4b464154310a34120000"
                                              "56000000"
                                              "78000000");
    CHECK(load_le<std::uint32_t>(std::span{sector}.subspan(20)) == crc32c(std::span{sector}.first(20)));
    CHECK(std::ranges::all_of(std::span{sector}.subspan(24), [](std::byte b) { return b == std::byte{0}; }));
    const FatEntry entry{.name = "song",
                         .is_directory = false,
                         .modified = {.seconds = 0x01020304, .nanoseconds = 0x21 * 1'000'000},
                         .first_cluster = 0x0a0b0c0d,
                         .size = 0x99};
    entry.encode(FatEntry::slot(sector, 3));
    const std::string golden = "736f6e6700000000000000000000"
                               "2000"
                               "04030201"
                               "21000000"
                               "0d0c0b0a"
                               "99000000";
    CHECK(hex(std::span{sector}.subspan(96, 32)) == golden);
    const FatEntry back = FatEntry::decode(FatEntry::slot(sector, 3));
    CHECK(back.name == entry.name);
    CHECK(back.modified == entry.modified);
    CHECK(back.first_cluster == entry.first_cluster);
    CHECK(back.size == entry.size);
    CHECK(!back.is_directory);
}

TEST_CASE("an overwrite changes a few words of one sector, an append those of two", "[fs][fat]") {
    World world{Place::pram};
    auto file = world.volume->create(world.call(), {}, "file");
    const Content record(8192, std::byte{1});
    for (std::uint32_t r = 0; r < 8; ++r) REQUIRE(world.volume->write(world.call(), *file, r * 8192, 8192, record).has_value());
    const auto writes_and_words = [&] {
        std::pair<std::uint64_t, std::uint64_t> out;
        const auto& changed = world.filter().changed_words();
        for (std::size_t words = 0; words < changed.size(); ++words) {
            out.first += changed[words];
            out.second += changed[words] * words;
        }
        world.filter().forget_changed_words();
        return out;
    };
    (void)writes_and_words();
    REQUIRE(world.volume->write(world.call(), *file, 8192, 8192, record).has_value());
    const auto overwrite = writes_and_words();
    CHECK(overwrite.first == 1);
    CHECK(overwrite.second >= 1); // the time
    CHECK(overwrite.second <= 4);
    REQUIRE(world.volume->write(world.call(), *file, 8 * 8192, 8192, record).has_value());
    const auto append = writes_and_words();
    CHECK(append.first == 2);
    CHECK(append.second <= 4 + 2 + 9); // time and size; the old end and four links
}

TEST_CASE("what cannot be is refused with its errno and changes nothing", "[fs][fat]") {
    World world{Place::pram, {}, 256};
    CHECK(world.volume->create(world.call(), {}, "a/b").error() == FsError{EINVAL});
    CHECK(world.volume->create(world.call(), {}, "").error() == FsError{EINVAL});
    CHECK(world.volume->create(world.call(), {}, "fifteen letters").error() == FsError{ENAMETOOLONG});
    CHECK(world.volume->lookup(world.call(), {}, "nobody").error() == FsError{ENOENT});
    CHECK(world.volume->remove(world.call(), {}, "nobody").error() == FsError{ENOENT});
    auto file = world.volume->create(world.call(), {}, "file");
    REQUIRE(file.has_value());
    const std::uint64_t free = world.volume->bytes_free();
    const Content much(free + 1);
    CHECK(world.volume->write(world.call(), *file, 0, static_cast<std::uint32_t>(much.size()), much).error() == FsError{ENOSPC});
    CHECK(world.volume->bytes_free() == free);
    CHECK(file->entry.size == 0);
    CHECK(world.volume->write(world.call(), *file, 0xffff'ffff, 8, std::span{much}.first(8)).error() == FsError{EFBIG});
    CHECK(world.check().empty());
}

TEST_CASE("check finds what is broken", "[fs][fat]") {
    World world{Place::drive};
    auto file = world.volume->create(world.call(), {}, "file");
    const Content bytes(6 * fat_cluster_bytes, std::byte{3});
    REQUIRE(world.volume->write(world.call(), *file, 0, static_cast<std::uint32_t>(bytes.size()), bytes).has_value());
    auto other = world.volume->create(world.call(), {}, "other");
    REQUIRE(world.volume->write(world.call(), *other, 0, 100, std::span{bytes}.first(100)).has_value());
    REQUIRE(world.volume->sync(world.call()).has_value());
    REQUIRE(world.check().empty());
    const std::uint32_t cluster = file->entry.first_cluster + 2;
    const std::uint64_t sector = world.layout.fat_sector(0) + cluster / fat_entries_a_sector;
    const auto with_entry = [&](std::uint32_t value) {
        const SectorBytes sound = world.sector(sector);
        SectorBytes broken = sound;
        store_le<std::uint32_t>(std::span{broken}.subspan(cluster % fat_entries_a_sector * 4), value);
        world.poke(sector, broken);
        world.mount();
        const auto problems = world.check();
        world.poke(sector, sound);
        world.mount();
        std::string text;
        for (const CheckProblem& p : problems) text += fmt::format("{} {}\n", p.invariant, p.detail);
        return text;
    };
    CHECK(with_entry(fat_end_of_chain).contains("V1 12288 bytes in 3 clusters, not in 6"));
    CHECK(with_entry(fat_end_of_chain).contains("V1 in use, and in no chain"));
    CHECK(with_entry(fat_end_of_chain).contains("V3 the copy differs"));
    CHECK(with_entry(other->entry.first_cluster).contains("is in two chains"));
    CHECK(with_entry(file->entry.first_cluster).contains("or twice in one"));
    CHECK(with_entry(1u << 30).contains("which is no cluster"));
    CHECK(with_entry(fat_free).contains("of the chain is free"));
    CHECK(world.check().empty());
}

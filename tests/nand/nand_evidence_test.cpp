// Goal: the evidence of nand.img tells every block that comes from an older copy of the image, and no block that only had a power cut or a kill.
// Method: random programs, erases and cuts on an image; what the image is, against what it was when it was opened, and the reverse.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>

#include "base/random.h"
#include "nand/image_page_store.h"
#include "tests/nand/nand_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace flashlab;
using namespace flashlab::testing;
using flashlab::test::TemporaryDirectory;

namespace {

class DrawnOutcomes final : public CutOutcomes {
public:
    explicit DrawnOutcomes(Random& random) : random_{random} {}
    ProgramOutcome of_program(Ppn) override { return static_cast<ProgramOutcome>(random_.below(7)); }
    EraseOutcome of_erase(BlockId) override { return static_cast<EraseOutcome>(random_.below(5)); }
    std::uint64_t random() override { return random_.next(); }

private:
    Random& random_;
};

NandConfig paired_config() {
    NandConfig config = round_config();
    config.geometry.page_bytes = 4096;
    config.geometry.cell = CellType::mlc;
    config.geometry.blocks_per_plane = 8; // the first four of each plane may hold backups
    config.options.paired_pages = true;
    return config;
}

using Age = NandEvidence::Age;

/// One session: programs and erases at random, then a cut, or nothing, as after a kill.
void work_on(const std::filesystem::path& path, const NandConfig& config, Random& random, bool ends_in_cut) {
    const auto geometry = *Geometry::make(config.geometry);
    NullEventSink sink;
    auto store = ImagePageStore::open(path, geometry);
    REQUIRE(store.has_value());
    NandArray array{geometry, config, **store, sink, UndoPolicy::keep};
    REQUIRE(array.open());
    SimTime now = sim_start;
    const std::vector<std::byte> data(geometry.page_bytes(), std::byte{9});
    for (int step = 0; step < 60; ++step) {
        const BlockId block{static_cast<std::uint32_t>(random.below(2) * config.geometry.blocks_per_plane + 4 + random.below(3))};
        const auto at = array.write_pointer(block);
        SimTime issued = now;
        if (at == geometry.pages_per_block() || random.chance(1, 20)) {
            issued = *array.erase(block, {now, {}});
        } else {
            const PageProgram one{geometry.page_of(block, at), data, {Lpn{at}, WriteSequence{at}, PageKind::data, 0}};
            issued = *array.program({&one, 1}, {now, {}});
        }
        if (random.chance(1, 2)) now = issued;
    }
    if (!ends_in_cut) return;
    DrawnOutcomes outcomes{random};
    REQUIRE(array.cut(now, outcomes));
}

std::vector<ImageEvidence> survey(const std::filesystem::path& path, const Geometry& geometry) {
    auto store = ImagePageStore::open(path, geometry);
    REQUIRE(store.has_value());
    return *(*store)->evidence().survey();
}

int version_of(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    file.seekg(8);
    return file.get();
}

} // namespace

TEST_CASE("no power cut, with any outcome, and no kill makes a block look older than when the image was opened; going back does",
          "[nand][evidence]") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        INFO("seed " << seed);
        const TemporaryDirectory directory;
        const auto path = directory / "nand.img", before = directory / "before.img";
        const NandConfig config = paired_config();
        const auto geometry = *Geometry::make(config.geometry);
        REQUIRE(ImagePageStore::create(path, geometry, Uuid{}));
        Random random{seed};
        for (int session = 0; session < 6; ++session) {
            const auto vouched = survey(path, geometry);
            std::filesystem::copy_file(path, before, std::filesystem::copy_options::overwrite_existing);
            work_on(path, config, random, session % 3 != 2);
            const auto now = survey(path, geometry);
            const auto newer = ImagePageStore::open(path, geometry, HostSync::none, ImageAccess::read_only);
            const auto older = ImagePageStore::open(before, geometry, HostSync::none, ImageAccess::read_only);
            REQUIRE((newer.has_value() && older.has_value()));
            for (std::uint32_t i = 0; i < geometry.blocks(); ++i) {
                INFO("session " << session << ", block " << i);
                const auto age = (*newer)->evidence().age_of(BlockId{i}, vouched[i], now[i]);
                REQUIRE(age.has_value());
                CHECK((*age == Age::as_vouched || *age == Age::later));
                if (now[i].count == vouched[i].count && now[i].extent == vouched[i].extent) continue; // at most spoiled
                CHECK((*older)->evidence().age_of(BlockId{i}, now[i], vouched[i]) == Age::older);
            }
        }
    }
}

TEST_CASE("an erase counts before it clears the page records, so that a kill between the two makes no block look older", "[nand][evidence]") {
    const TemporaryDirectory directory;
    NandConfig config = round_config();
    config.geometry.page_bytes = 4096;
    const auto geometry = *Geometry::make(config.geometry);
    NullEventSink sink;
    auto store = ImagePageStore::create(directory / "nand.img", geometry, Uuid{});
    REQUIRE(store);
    NandArray array{geometry, config, **store, sink, UndoPolicy::keep};
    REQUIRE(array.open());
    (*store)->set_write_faults([] { return EIO; }); // asked before the records are cleared
    REQUIRE_FALSE(array.erase(BlockId{1}, {sim_start, {}}));
    CHECK((*store)->evidence().survey(BlockId{1}) == ImageEvidence{1, 0, 0});
}

TEST_CASE("blocks that the host never stored have no evidence, and cost no room in the image", "[nand][evidence]") {
    const TemporaryDirectory directory;
    GeometryConfig large;
    large.blocks_per_plane = 1u << 16; // a tebibyte
    const auto geometry = *Geometry::make(large);
    auto store = ImagePageStore::create(directory / "nand.img", geometry, Uuid{});
    REQUIRE(store);
    REQUIRE((*store)->write_block(BlockId{70'000}, {3, false}));
    auto now = *(*store)->evidence().survey();
    CHECK(std::ranges::count(now, ImageEvidence{}) == static_cast<std::ptrdiff_t>(now.size()) - 1);
    CHECK(now[70'000] == ImageEvidence{3, 0, 0});
    REQUIRE((*store)->evidence().write(true, now));
    CHECK(*(*store)->evidence().read(true) == now);
    CHECK(*(*store)->evidence().read(false) == std::vector<ImageEvidence>(now.size()));
    struct ::stat status {};
    REQUIRE(::stat((directory / "nand.img").c_str(), &status) == 0);
    CHECK(status.st_blocks * 512 <= 64 * 1024);
}

TEST_CASE("an image of the version without evidence is read as it is, and upgraded when it is told to", "[nand]") {
    const TemporaryDirectory directory;
    const auto path = directory / "nand.img";
    const auto geometry = *Geometry::make(paired_config().geometry);
    REQUIRE(ImagePageStore::create(path, geometry, Uuid{}));
    std::array<std::byte, ImageHeader::encoded_size> raw{};
    ImageHeader{.uuid = Uuid{}, .geometry = paired_config().geometry, .version = 2}.encode(raw);
    std::fstream{path, std::ios::binary | std::ios::in | std::ios::out}.write(reinterpret_cast<const char*>(raw.data()), raw.size());
    const ImageLayout layout{geometry};
    std::filesystem::resize_file(path, layout.generation_at + 4096);
    {
        const auto store = ImagePageStore::open(path, geometry);
        REQUIRE(store);
        CHECK_FALSE((*store)->keeps_evidence());
        CHECK(version_of(path) == 2);
        REQUIRE((*store)->upgrade());
        CHECK((*store)->keeps_evidence());
    }
    CHECK(std::filesystem::file_size(path) == layout.total_bytes);
    CHECK(version_of(path) == ImageHeader::current_version);
    CHECK(ImagePageStore::open(path, geometry));
}

TEST_CASE("an image of the version without streams is read, and becomes a newer one with the first page that has a stream", "[nand]") {
    const TemporaryDirectory directory;
    const auto path = directory / "nand.img";
    const auto geometry = *Geometry::make(paired_config().geometry);
    REQUIRE(ImagePageStore::create(path, geometry, Uuid{}));
    std::array<std::byte, ImageHeader::encoded_size> raw{};
    ImageHeader{.uuid = Uuid{}, .geometry = paired_config().geometry, .version = 4}.encode(raw);
    std::fstream{path, std::ios::binary | std::ios::in | std::ios::out}.write(reinterpret_cast<const char*>(raw.data()), raw.size());
    const PageOob without{Lpn{1}, WriteSequence{2}, PageKind::data, 3}, with{Lpn{1}, WriteSequence{3}, PageKind::data, 3, StreamId{7}};
    {
        const auto store = ImagePageStore::open(path, geometry);
        REQUIRE(store);
        REQUIRE((*store)->write_programmed(Ppn{0}, without, 0));
        CHECK(version_of(path) == 4);
        REQUIRE((*store)->write_programmed(Ppn{1}, with, 0));
        CHECK(version_of(path) == ImageHeader::current_version);
    }
    const auto store = ImagePageStore::open(path, geometry);
    REQUIRE(store);
    CHECK((*store)->read_oob(Ppn{0})->oob == without);
    CHECK((*store)->read_oob(Ppn{1})->oob == with);
}

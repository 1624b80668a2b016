// Goal: where the cache keeps its pages, and in which order write-back takes them. What is written in a row has to lie in a row, or each page is
// copied once more on its way to the device; what is committed has to be a prefix, whatever the order of writing.
#include "tests/support/catch.h"

#include <map>

#include "base/random.h"
#include "fs/page_cache.h"
#include "tests/fs/fs_world.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {
constexpr std::size_t page_bytes = 512;
constexpr std::size_t capacity = 1000; ///< no multiple of anything
} // namespace

TEST_CASE("pages written one after another lie one after another in memory, again after the cache has gone round", "[fs]") {
    PageCache cache{page_bytes, capacity};
    Inode inode{Ino{7}};
    std::uint64_t neighbours = 0;
    const std::byte* before = nullptr;
    constexpr std::uint64_t pages = 50 * capacity;
    for (std::uint64_t index = 0; index < pages; ++index) {
        const CachePage& page = cache.insert(inode, FilePage{index});
        neighbours += page.data == before + page_bytes ? 1 : 0;
        before = page.data;
        if (cache.pages() < capacity * 3 / 4) continue;
        for (std::uint64_t gone = index + 1 - cache.pages(), end = gone + capacity / 4; gone < end; ++gone)
            cache.drop(*cache.find(inode, FilePage{gone}));
    }
    CHECK(neighbours >= pages - 2 - pages / (capacity / 2)); // all but where it began again at the front
}

TEST_CASE("no two pages of the cache share a byte, and each keeps its own, below the capacity and beyond it", "[fs]") {
    const std::uint64_t seed = GENERATE(1u, 2u);
    CAPTURE(seed);
    Random random{seed};
    PageCache cache{page_bytes, capacity};
    Inode inode{Ino{7}};
    std::map<std::uint64_t, std::byte> model;
    std::size_t most = 0;
    for (int step = 0; step < 60'000; ++step) {
        const std::uint64_t index = random.next() % (4 * capacity);
        const bool fills = (step / 10'000) % 2 == 0;
        if (CachePage* page = cache.find(inode, FilePage{index})) {
            REQUIRE(std::ranges::all_of(std::span{page->data, page_bytes}, [&](std::byte b) { return b == model.at(index); }));
            if (fills && random.next() % 4 != 0) continue;
            cache.drop(*page);
            model.erase(index);
        } else if (fills || random.next() % 4 == 0) {
            const auto value = static_cast<std::byte>(random.next());
            std::ranges::fill(std::span{cache.insert(inode, FilePage{index}).data, page_bytes}, value);
            model[index] = value;
        }
        REQUIRE(cache.pages() == model.size());
        most = std::max(most, model.size());
    }
    CHECK(most > 2 * capacity); // the path beyond the capacity was taken
}

TEST_CASE("a large file written in any order is written back from its front, and a power cut between two jobs leaves a prefix of it", "[fs]") {
    constexpr std::uint64_t pages = 5000, job = 2048, piece = 500;
    FsWorld world{8192};
    const Ino ino = world.create("large");
    std::vector<std::uint64_t> order(pages / piece);
    for (std::uint64_t i = 0; i < order.size(); ++i) order[i] = i;
    const std::uint64_t seed = GENERATE(0u, 1u, 2u);
    CAPTURE(seed);
    Random random{seed};
    if (seed == 0) std::ranges::rotate(order, order.begin() + 7); // as a program that begins again at the front of its file
    for (std::size_t i = order.size() - 1; seed != 0 && i > 0; --i) std::swap(order[i], order[random.next() % (i + 1)]);
    const auto byte_of = [](std::uint64_t page) { return static_cast<char>('a' + page % 23); };
    for (const std::uint64_t at : order) {
        std::string text;
        for (std::uint64_t page = at * piece; page < (at + 1) * piece; ++page) text.append(4096, byte_of(page));
        REQUIRE(world.write(ino, at * piece * 4096, text) == 0);
    }
    REQUIRE(world.device.flushes == 0);
    while (world.device.flushes < 2)
        world.now = std::max(world.now + Duration{1}, world.fs->tick(world.now)); // the first job is committed, the second all but
    world.crash(seed);
    const Ino again = world.find("large");
    const std::uint64_t size = world.stat(again).size;
    REQUIRE((size == job * 4096 || size == 2 * job * 4096));
    const std::string text = world.contents(again);
    for (std::uint64_t at = 0; at < size; ++at) {
        if (text[at] != byte_of(at / 4096)) FAIL(fmt::format("byte {} of {}", at, size));
    }
    world.check();
}

// Goal: memory that one metadata store leaves is as good as new for the next one.
#include "fs/journal_memory.h"

#include <algorithm>

#include "base/contract.h"
#include "fs/file_system.h"
#include "tests/fs/fs_world.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

bool is_blank(MemoryPramStore& cells) {
    return std::ranges::all_of(cells.cells(), [](std::byte b) { return b == std::byte{0}; }) &&
           std::ranges::all_of(cells.wear(), [](std::uint64_t writes) { return writes == 0; });
}

} // namespace

TEST_CASE("cells that are lent again are blank, whoever wrote them, and are lent once at a time", "[fs][journal]") {
    constexpr std::uint64_t bytes = 20 * pram_wear_region_bytes + 4096;
    JournalMemory memory;
    for (int round = 0; round < 3; ++round) {
        MemoryPramStore& cells = memory.take(bytes);
        REQUIRE(cells.cells().size() == bytes);
        REQUIRE(is_blank(cells));
        CHECK_THROWS_AS((void)memory.take(bytes), ContractViolation);
        NullEventSink none;
        Pram pram{{.bytes = bytes, .word_bytes = 8, .word_read = Duration{1}, .word_write = Duration{1}}, cells, none, PramUndo::none};
        const std::vector<std::byte> text(16, std::byte{7});
        (void)pram.write(PramUser::fs, PramAddress{bytes - 16}, text, sim_start);
        std::ranges::fill(cells.cells().subspan(3 * pram_wear_region_bytes - 8, 16), std::byte{9}); // in two regions
        memory.note_written(3 * pram_wear_region_bytes - 8, 16);
        memory.note_written(0, 0);
        memory.give_back();
    }
    CHECK(memory.take(bytes / 2).cells().size() == bytes / 2);
    CHECK(memory.ring(8192).size() == 8192);
    CHECK(memory.ring(4096).size() == 4096);
}

TEST_CASE("file systems that are opened in the same memory, one after the other, show their own files", "[fs][journal]") {
    JournalMemory memory;
    FsWorld full{4096, FsWorld::in_journal}, empty{4096, FsWorld::in_journal};
    for (int i = 0; i < 2000; ++i) (void)full.create("name-" + std::to_string(i));
    for (FsWorld* world : {&full, &empty}) {
        REQUIRE(world->run(world->fs->begin_sync_all(world->call())) == 0);
        world->fs.reset();
    }
    for (int round = 0; round < 2; ++round)
        for (FsWorld* world : {&full, &empty}) {
            auto opened = open_journal_in(memory, world->device, world->events, FsOptions{}, world->now);
            REQUIRE(opened.has_value());
            CHECK((*opened)->usage().inodes == (world == &full ? 2001 : 1));
            CHECK((*opened)->check().empty());
            opened->reset();
            CHECK(is_blank(memory.take(2u << 20))); // the home of so small a device; what came from home and records is gone, too
            memory.give_back();
        }
}

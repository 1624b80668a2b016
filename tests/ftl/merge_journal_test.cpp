/// The bytes that block-mapping schemes put into their records, and what is made of damaged ones.
#include "ftl/recovery/merge_journal.h"
#include "tests/support/bytes.h"
#include "tests/support/catch.h"
#include "tests/support/cut_rig.h"

using namespace flashlab;
using flashlab::test::bytes;

namespace {

const Geometry geometry = *Geometry::make(test::tiny_config().nand.geometry); // 20 blocks of 8 pages
constexpr MergeLimits limits{20, 12, 8};

struct Sample {
    BlockMap map{geometry, 12};
    LogBlocks logs{map};
    Sample() {
        map.set_data_block(LogicalBlock{2}, BlockId{9});
        for (const std::uint32_t page : {16u, 17u, 23u}) map.map(Lpn{page});
        const LogSlot slot = logs.open(BlockId{5}, LogicalBlock{2});
        logs.at(slot).next = 2;
        logs.at(slot).sealed = true;
        logs.put(Lpn{17}, slot, 1);
        map.set_logged(Lpn{17});
    }
};

} // namespace

TEST_CASE("a merge record's bytes are those of ftl/FORMAT.md", "[ftl][format]") {
    const Sample sample;
    std::vector<std::byte> record;
    encode_mounted(record);
    encode_log_opened(record, BlockId{5}, LogicalBlock{2});
    encode_log_opened(record, BlockId{6}, std::nullopt);
    encode_log_closed(record, BlockId{5});
    encode_moved(record, LogicalBlock{2}, BlockId{9}, WriteSequence{0x0102030405}, sample.map);
    encode_trimmed(record, Lpn{16}, 3, WriteSequence{7});
    CHECK(record == bytes({1, 0, 0, 0,                                                         //
                           2, 0, 0, 0, 6,  0, 0, 0, 3,  0, 0, 0,                               //
                           2, 0, 0, 0, 7,  0, 0, 0, 0,  0, 0, 0,                               //
                           3, 0, 0, 0, 6,  0, 0, 0,                                            //
                           4, 0, 0, 0, 3,  0, 0, 0, 10, 0, 0, 0, 5, 4, 3, 2, 1, 0, 0, 0, 0x83, //
                           5, 0, 0, 0, 16, 0, 0, 0, 3,  0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0}));
    const auto changes = decode_merge_record(record, limits);
    REQUIRE(changes);
    REQUIRE(changes->size() == 6);
    CHECK((*changes)[0].type == MergeChangeType::mounted);
    CHECK((*changes)[1].home == LogicalBlock{2});
    CHECK_FALSE((*changes)[2].home.has_value());
    CHECK((*changes)[3].block == BlockId{5});
    CHECK((*changes)[4].sequence == WriteSequence{0x0102030405});
    CHECK((*changes)[4].row[0] == std::byte{0x83});
    CHECK((*changes)[5].pages == 3);
}

TEST_CASE("a merge record that is cut short, or names what is not there, is refused", "[ftl][format]") {
    const Sample sample;
    std::vector<std::byte> record;
    encode_moved(record, LogicalBlock{2}, BlockId{9}, WriteSequence{1}, sample.map);
    for (std::size_t length = 1; length < record.size(); ++length) CHECK_FALSE(decode_merge_record(std::span{record}.first(length), limits));
    CHECK(decode_merge_record(record, limits));
    for (const auto& damaged : {bytes({6, 0, 0, 0}), bytes({3, 0, 0, 0, 0, 0, 0, 0}), bytes({3, 0, 0, 0, 21, 0, 0, 0}),
                                bytes({2, 0, 0, 0, 1, 0, 0, 0, 13, 0, 0, 0}), bytes({5, 0, 0, 0, 95, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})})
        CHECK_FALSE(decode_merge_record(damaged, limits));
}

TEST_CASE("a merge checkpoint's bytes are those of ftl/FORMAT.md, and damaged ones are refused", "[ftl][format]") {
    const Sample sample;
    std::vector<std::byte> checkpoint;
    const std::vector<BlockId> erased{BlockId{0}, BlockId{11}};
    encode_merge_checkpoint(checkpoint, limits, true, 0x99, sample.map, sample.logs, erased);
    auto expected =
        bytes({'B', 'M', 'F', 'L', 2, 0, 0, 0, 0x99, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 20, 0, 0, 0, 12, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0});
    std::vector<std::byte> data_blocks(12 * 4);
    data_blocks[2 * 4] = std::byte{10};
    std::vector<std::byte> rows(12);
    rows[2] = std::byte{0x83};
    expected.insert(expected.end(), data_blocks.begin(), data_blocks.end());
    expected.insert(expected.end(), rows.begin(), rows.end());
    const auto tail = bytes({1, 8, 0,                                         // erased: blocks 0 and 11
                             6, 0, 0, 0, 3,  0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, // block 5 of logical block 2: 2 pages, in place, sealed
                             0, 0, 0, 0, 18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    expected.insert(expected.end(), tail.begin(), tail.end());
    CHECK(checkpoint == expected);
    CHECK(checkpoint.size() == merge_checkpoint_bytes(limits, 1));
    const auto read = decode_merge_checkpoint(checkpoint, limits);
    REQUIRE(read);
    CHECK(read->is_clean);
    CHECK(read->next_sequence == 0x99);
    CHECK(read->data_blocks[2] == BlockId{9});
    REQUIRE(read->logs.size() == 1);
    CHECK(read->logs[0].sealed);
    CHECK(read->logs[0].live[1] == Lpn{17});
    for (std::size_t length = 0; length < checkpoint.size(); ++length)
        CHECK_FALSE(decode_merge_checkpoint(std::span{checkpoint}.first(length), limits));
    CHECK_FALSE(decode_merge_checkpoint(checkpoint, MergeLimits{20, 11, 8}));
    checkpoint[40] = std::byte{21}; // logical block 0 in a block that is not there
    CHECK_FALSE(decode_merge_checkpoint(checkpoint, limits));
}

TEST_CASE("the table of log pages finds what was put and not what was removed, at any fill", "[ftl]") {
    const std::uint64_t seed = 4;
    CAPTURE(seed);
    Random random{seed};
    LogPages pages;
    std::vector<std::optional<std::uint32_t>> model(3000);
    for (std::uint32_t i = 0; i < 60'000; ++i) {
        const auto lpn = static_cast<std::uint32_t>(random.below(model.size()));
        if (model[lpn])
            pages.remove(Lpn{lpn});
        else
            pages.put(Lpn{lpn}, i);
        model[lpn] = model[lpn] ? std::nullopt : std::optional{i};
        const auto other = static_cast<std::uint32_t>(random.below(model.size()));
        REQUIRE(pages.find(Lpn{other}) == model[other]);
    }
    for (std::uint32_t l = 0; l < model.size(); ++l) REQUIRE(pages.find(Lpn{l}) == model[l]);
}

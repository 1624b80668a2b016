/// The board of the hybrid paper's experiments: four systems that do the same to files and differ in time, and a drive that is sound afterwards.
#include "tests/support/catch.h"
#include "tools/reproduce/hybrid_churn.h"

using namespace flashlab;

namespace {

constexpr HybridChoice sixteenth{.blocks = 256};
constexpr std::uint64_t level = std::uint64_t{40} << 20;

struct Ended {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::uint64_t written = 0;
    SimTime at;
};

std::uint64_t mapped_file_bytes(HybridVolume& board) {
    const FatLayout& layout = board.volume().layout();
    const std::uint64_t first = layout.metadata_sectors();
    std::uint64_t sectors = 0;
    for (const LbaRange& range : board.device().device().ssd().lba_status(Sector{first}, layout.sector_of(layout.end_cluster()) - first))
        sectors += range.mapped ? range.sectors : 0;
    return sectors * sector_bytes;
}

Ended churn(const HybridScheme& scheme, bool deletes_pages) {
    auto board = HybridVolume::make(scheme, sixteenth, {.cached_sectors = 16, .data_cache_bytes = 1u << 20, .deletes_pages = deletes_pages});
    REQUIRE(board.has_value());
    FileChurn files{*board, level, 7};
    REQUIRE(files.fill().has_value());
    REQUIRE(files.run(std::uint64_t{48} << 20).has_value());
    REQUIRE(board->remount().has_value());
    Ended ended{.at = board->now()};
    const auto problems = board->volume().check(board->call());
    REQUIRE(problems.has_value());
    CHECK(problems->empty());
    CHECK(board->device().device().ssd().check().empty());
    const auto directories = board->volume().list(board->call(), {});
    REQUIRE(directories.has_value());
    for (const FatEntry& directory : *directories) {
        const auto files_in = board->volume().list(board->call(), {directory.first_cluster});
        REQUIRE(files_in.has_value());
        for (const FatEntry& file : *files_in) {
            ++ended.files;
            ended.bytes += file.size;
        }
    }
    ended.written = files.written();
    const FatLayout& layout = board->volume().layout();
    const std::uint64_t in_use = std::uint64_t{layout.clusters - layout.directory_clusters} * fat_cluster_bytes - board->volume().bytes_free();
    CAPTURE(scheme.name, deletes_pages);
    if (deletes_pages)
        CHECK(mapped_file_bytes(*board) == in_use);
    else
        CHECK(mapped_file_bytes(*board) > in_use);
    return ended;
}

} // namespace

TEST_CASE("the four systems do the same to files, leave all sound, and are the faster the more of the paper is in them", "[tools][reproduce]") {
    const Ended logs = churn(hybrid_schemes[0], false);
    const Ended logs_fsms = churn(hybrid_schemes[1], false);
    const Ended hftl = churn(hybrid_schemes[2], true);
    const Ended hftl_fsms = churn(hybrid_schemes[3], true);
    CHECK(logs.files > 50);
    for (const Ended& other : {logs_fsms, hftl, hftl_fsms}) {
        CHECK(other.files == logs.files);
        CHECK(other.bytes == logs.bytes);
        CHECK(other.written == logs.written);
    }
    CHECK(logs_fsms.at < logs.at);
    CHECK(hftl.at < logs.at);
    CHECK(hftl_fsms.at < hftl.at);
}

TEST_CASE("with FSMS no metadata reach the drive, without it no words reach the PRAM's file system part", "[tools][reproduce]") {
    for (const HybridScheme& scheme : hybrid_schemes) {
        CAPTURE(scheme.name);
        auto board = HybridVolume::make(scheme, sixteenth, {});
        REQUIRE(board.has_value());
        const std::uint64_t before = board->device().device().ssd().counters().host_writes;
        REQUIRE(board->volume().make_directory(board->call(), {}, "empty").has_value());
        REQUIRE(board->volume().create(board->call(), {}, "file").has_value());
        CHECK((board->device().device().ssd().counters().host_writes > before) == !scheme.has_fsms);
        CHECK((board->device().device().pram().counters().words_written[1] > 0) == scheme.has_fsms);
    }
}

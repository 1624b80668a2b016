/// A FAT-like volume on a drive in memory, its metadata there or on PRAM, and a clock.
#pragma once

#include "pram/memory_pram_store.h"
#include "tests/support/catch.h"
#include "tests/support/memory_block_device.h"
#include "tools/reproduce/fat/fat_volume.h"

namespace flashlab::test {

enum class FatPlace : std::uint8_t { drive, pram };

class FatWorld {
public:
    explicit FatWorld(FatPlace place, FatOptions options = {}, std::uint64_t clusters = 2048)
        : options_{options}, device{clusters, fat_cluster_bytes}, layout{*FatLayout::make(device.identify().sectors)} {
        if (place == FatPlace::pram)
            sectors_ = std::make_unique<PramMetadataSectors>(pram_, PramRange{PramAddress{4096}, config_.bytes - 4096});
        else
            sectors_ = std::make_unique<DeviceMetadataSectors>(device);
        const auto done = FatVolume::format(layout, *sectors_, sim_start);
        REQUIRE(done.has_value());
        now_ = *done;
        mount();
    }
    void mount() {
        auto opened = FatVolume::open(*sectors_, device, options_, now_);
        REQUIRE(opened.has_value());
        volume = std::move(*opened);
    }
    FsCall call() {
        now_ = std::max(now_, volume->now()) + Duration{1'000'000};
        const auto since = static_cast<std::uint64_t>((now_ - sim_start).count());
        return FsCall{
            .now = now_,
            .wall = {.seconds = static_cast<std::int64_t>(since / 1'000'000'000), .nanoseconds = static_cast<std::uint32_t>(since % 1'000'000'000)}};
    }
    [[nodiscard]] std::vector<CheckProblem> check() {
        const auto problems = volume->check(call());
        REQUIRE(problems.has_value());
        return *problems;
    }
    [[nodiscard]] SectorBytes sector(std::uint64_t number) {
        SectorBytes bytes;
        REQUIRE(sectors_->read(number, bytes, now_).has_value());
        return bytes;
    }
    void poke(std::uint64_t number, const SectorBytes& bytes) { REQUIRE(sectors_->write(number, bytes, now_).has_value()); }
    [[nodiscard]] PramMetadataSectors& filter() { return dynamic_cast<PramMetadataSectors&>(*sectors_); }

private:
    FatOptions options_;
    PramConfig config_{.bytes = 1u << 20, .word_bytes = 2, .word_read = Duration{80}, .word_write = Duration{10'000}};
    MemoryPramStore store_{config_.bytes};
    NullEventSink events_;
    Pram pram_{config_, store_, events_, PramUndo::none};
    std::unique_ptr<MetadataSectors> sectors_;
    SimTime now_ = sim_start;

public:
    MemoryBlockDevice device;
    FatLayout layout;
    std::unique_ptr<FatVolume> volume;
};

} // namespace flashlab::test

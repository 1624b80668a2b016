// How long the way back takes (C6): each scheme on the default preset, filled, overwritten at random, killed, and opened again. The host writes
// zeros, and pages of zeros take no memory: so the records that schemes keep on flash are there to be read, at any size.
#pragma once

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "crash/crash_device.h"
#include "tests/bench/cpu_clock.h"

namespace flashlab::bench {

/// Records of all pages, data of those that are not all zeros.
class ZeroPageStore final : public PageStore {
public:
    explicit ZeroPageStore(const Geometry& geometry) : geometry_{geometry}, records_(geometry.pages()), blocks_(geometry.blocks()) {}
    bool keeps_payload() const override { return true; }
    std::expected<void, HostIoError> read_data(Ppn page, std::uint32_t offset, std::span<std::byte> to) override {
        const auto kept = data_.find(page.value());
        if (kept == data_.end())
            std::ranges::fill(to, std::byte{0});
        else
            std::copy_n(kept->second.begin() + offset, to.size(), to.begin());
        return {};
    }
    std::expected<void, HostIoError> write_data(Ppn page, std::span<const std::byte> data) override {
        const bool zeros = data.front() == std::byte{0} && std::memcmp(data.data(), data.data() + 1, data.size() - 1) == 0;
        if (zeros)
            data_.erase(page.value());
        else
            data_[page.value()].assign(data.begin(), data.end());
        return {};
    }
    void discard_data(Ppn first, std::uint32_t pages) override {
        if (data_.empty()) return;
        for (std::uint32_t i = 0; i < pages; ++i) data_.erase(first.value() + i);
    }
    std::expected<PageRecord, HostIoError> read_record(Ppn page) override { return records_[page.value()]; }
    std::expected<void, HostIoError> write_record(Ppn page, const PageRecord& record) override {
        records_[page.value()] = record;
        return {};
    }
    std::expected<void, HostIoError> read_block_records(BlockId block, std::span<PageRecord> to) override {
        std::copy_n(records_.begin() + geometry_.page_of(block, 0).value(), to.size(), to.begin());
        return {};
    }
    std::expected<void, HostIoError> erase_records(BlockId block) override {
        std::fill_n(records_.begin() + geometry_.page_of(block, 0).value(), geometry_.pages_per_block(), PageRecord{});
        return {};
    }
    std::expected<void, HostIoError> read_blocks(BlockId first, std::span<BlockRecord> to) override {
        std::copy_n(blocks_.begin() + first.value(), to.size(), to.begin());
        return {};
    }
    std::expected<void, HostIoError> write_block(BlockId block, const BlockRecord& record) override {
        blocks_[block.value()] = record;
        return {};
    }

private:
    Geometry geometry_;
    std::vector<PageRecord> records_;
    std::vector<BlockRecord> blocks_;
    std::unordered_map<std::uint32_t, std::vector<std::byte>> data_; ///< looked up, never walked
};

/// A drive over such a store; power_on() builds it anew.
class BigDrive {
public:
    explicit BigDrive(const SsdConfig& config, const FtlPlan& plan)
        : config_{config}, geometry_{*Geometry::make(config.nand.geometry)}, pages_{geometry_},
          cells_{std::max<std::uint64_t>(4096, pram_bytes_of(plan))} {
        config_.pram.bytes = pram_bytes_of(plan);
    }
    [[nodiscard]] std::expected<FtlRecovery, std::string> power_on(SimTime now) {
        drive_.reset();
        auto drive = Drive::assemble(config_, {.pages = pages_, .cells = config_.pram.bytes != 0 ? &cells_ : nullptr, .events = events_});
        if (!drive) return std::unexpected(drive.error().why);
        drive_ = std::move(*drive);
        const auto recovered = ssd().recover(now);
        if (!recovered) return std::unexpected("recovery failed: " + describe(recovered.error()));
        return *recovered;
    }
    [[nodiscard]] NandArray& array() { return drive_->array(); }
    [[nodiscard]] Ssd& ssd() { return drive_->ssd(); }

private:
    SsdConfig config_;
    Geometry geometry_;
    ZeroPageStore pages_;
    MemoryPramStore cells_;
    NullEventSink events_;
    std::unique_ptr<Drive> drive_;
};

struct RecoveryPoint {
    std::uint64_t pages_read = 0; ///< OOBs and pages, by recovery
    double simulated_ms = 0;
    double cpu_ms = 0;
};

/// `overwrites` random pages of the first sixteenth of the drive, a flush after every 64, then kill -9.
inline std::expected<RecoveryPoint, std::string> measure_recovery(const std::string& scheme, std::uint32_t gib, std::uint64_t overwrites) {
    SsdConfig config;
    config.nand.factory_bad_per_million = 0;
    config.nand.geometry.blocks_per_plane = 64 * gib;
    config.ftl.scheme = scheme;
    const auto plan = plan_ftl(config, *Geometry::make(config.nand.geometry));
    if (!plan) return std::unexpected(plan.error());
    BigDrive drive{config, *plan};
    const auto on = drive.power_on(sim_start);
    if (!on) return std::unexpected(on.error());
    SimTime now = on->done;
    const std::uint64_t per_page = plan->logical_page_bytes / sector_bytes;
    const std::uint64_t at_once = 256;
    const std::vector<std::byte> zeros(at_once * plan->logical_page_bytes);
    const auto write = [&](std::uint64_t page, std::uint64_t pages) {
        const auto done = drive.ssd().write(Sector{page * per_page}, static_cast<std::uint32_t>(pages * per_page),
                                            std::span{zeros}.first(pages * plan->logical_page_bytes), WriteDurability::volatile_ok, now);
        if (done) now = *done;
        (void)drive.ssd().tick(now);
        drive.ssd().settle(now);
        return done.has_value();
    };
    for (std::uint64_t page = 0; page < plan->logical_pages; page += at_once)
        if (!write(page, std::min<std::uint64_t>(at_once, plan->logical_pages - page))) return std::unexpected("the fill failed");
    Random random{gib};
    for (std::uint64_t i = 0; i < overwrites; ++i) {
        if (!write(random.below(plan->logical_pages / 16), 1)) return std::unexpected("an overwrite failed");
        if (i % 64 == 63) now = drive.ssd().flush(now).value_or(now);
    }
    const double before = cpu_ns();
    const auto again = drive.power_on(now);
    const double took = cpu_ns() - before;
    if (!again) return std::unexpected(again.error());
    RecoveryPoint point;
    for (const std::uint64_t n : drive.array().counters().reads) point.pages_read += n;
    point.simulated_ms = static_cast<double>((again->done - now).count()) / 1e6;
    point.cpu_ms = took / 1e6;
    return point;
}

} // namespace flashlab::bench

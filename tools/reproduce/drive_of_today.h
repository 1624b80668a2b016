/// A drive of today's kind in memory, by the name of its preset, for the experiments dev-*.
///
/// Idea       Space is scaled, rates are not: blocks of fewer pages, whose erase takes as much less time. The clock lets the drive work between
///            requests.
/// Cost       No payload. Power cut: is not cut.
#pragma once

#include <memory>
#include <set>

#include "base/contract.h"
#include "ftl/memory_drive.h"
#include "tools/drive/device.h"
#include "tools/drive/device_presets.h"
#include "tools/reproduce/claim.h"

namespace flashlab {

class DriveOfToday {
public:
    static constexpr std::uint32_t sectors_a_page = 8;

    static std::expected<DriveOfToday, std::string> make(std::string_view preset_name, std::uint32_t scale) {
        const auto preset = find_device_preset(preset_name);
        ensure(preset.has_value(), "the drive has a preset of its name");
        SsdConfig config = preset->config;
        config.nand.geometry.pages_per_block /= scale; // as many blocks, each smaller
        config.nand.timing.block_erase /= scale;
        config.nand.factory_bad_per_million = 0;
        DriveOfToday made;
        auto drive = MemoryDrive::make(config, Payload::none, *made.nobody_);
        if (!drive) return std::unexpected(drive.error());
        made.drive_ = std::move(*drive);
        const auto recovered = made.ssd().recover(sim_start);
        if (!recovered) return std::unexpected(to_text(recovered.error()));
        made.wake_ = recovered->done;
        made.now = recovered->done;
        return made;
    }
    [[nodiscard]] Ssd& ssd() { return drive_->ssd(); }
    [[nodiscard]] std::uint64_t pages() { return ssd().identify().sectors / sectors_a_page; }
    [[nodiscard]] std::uint64_t programmed_pages() const {
        std::uint64_t all = 0;
        for (const std::uint64_t n : drive_->array().counters().programs) all += n;
        return all;
    }
    /// When the request is answered. Requests are issued in the order of their times.
    std::expected<SimTime, std::string> write(std::uint64_t page, std::uint32_t pages, SimTime at) {
        pass(at);
        return told(ssd().write(Sector{page * sectors_a_page}, pages * sectors_a_page, {}, WriteDurability::volatile_ok, at));
    }
    std::expected<SimTime, std::string> trim(std::uint64_t page, std::uint64_t pages, SimTime at) {
        pass(at);
        return told(ssd().trim(Sector{page * sectors_a_page}, pages * sectors_a_page, at));
    }
    std::expected<SimTime, std::string> read(std::uint64_t page, SimTime at) {
        pass(at);
        return told(ssd().read(Sector{page * sectors_a_page}, sectors_a_page, {}, at));
    }

    SimTime now; ///< the last request was issued then

private:
    std::expected<SimTime, std::string> told(const DeviceResult<SimTime>& done) {
        if (!done) return std::unexpected(to_text(done.error()));
        wake_ = std::min(wake_, *done); // what it left to do
        return *done;
    }
    void pass(SimTime to) {
        now = std::max(now, to);
        while (wake_ <= to) {
            const SimTime at = wake_;
            wake_ = std::max(ssd().tick(at), at + Duration{1});
        }
        ssd().settle(to);
    }

    std::unique_ptr<NullEventSink> nobody_ = std::make_unique<NullEventSink>();
    std::unique_ptr<MemoryDrive> drive_;
    SimTime wake_;
};

/// What the data file asks of a drive: the values of x of a series.
inline std::vector<double> asked_of(std::string_view id, std::string_view series) {
    std::set<double> xs;
    for (const QuotedValue& value : quoted_values())
        if (value.id == id && value.series.starts_with(series)) xs.insert(value.x);
    return {xs.begin(), xs.end()};
}

} // namespace flashlab

/// The board of Kim et al. 2008: 1 GB of MLC flash and 64 MB of PRAM behind one CPU, one request at a time.
///
/// Idea       The preset with a choice of translation layer. The caller waits for each request before the next, as the paper's firmware does.
/// Invariant  The clock is the end of the last request. Payload is not kept.
/// Cost       A device of the preset takes about 10 MB of the host's RAM. Its 64 MB of PRAM take RAM only where they are used.
/// Source     Kim et al. 2008, section 5.1 and Table 1; HY8.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "tools/run/virtual_device.h"

namespace flashlab {

/// CPU time of the translation layers: for each page that it moves, a layer looks at so many entries of its maps. The paper gives no time, and says
/// that hFTL "requires less CPU computation power in run time" (5.4). An entry is fetched from DRAM, compared and branched on: 20 cycles of the
/// board's 200 MHz.
inline constexpr Duration hybrid_look_up{100};
/// log_block looks whether one of its four log blocks belongs to the page's block, then at the block's entry; that a log block's own pages have to be
/// searched, too, is not charged. hftl looks at one entry, in PRAM, whose words take their own time besides.
[[nodiscard]] std::uint32_t hybrid_look_ups(std::string_view scheme);

struct HybridChoice {
    std::string_view scheme = "hftl";
    std::uint32_t blocks = 4096;          ///< a quick run takes fewer
    std::uint32_t reserved_permille = 50; ///< section 4.1: "we set the reserved block percentage to 5% for our all experiments"
    std::uint32_t mapping_unit_pages = 1;
    Duration look_up = hybrid_look_up;    ///< CPU time of one
    std::string_view separation = "none"; ///< HY4: which pages go to the same buffer block
    std::string_view victim = "greedy";   ///< which full block is collected
};

class HybridDevice {
public:
    [[nodiscard]] static std::expected<DevicePlan, std::string> plan(const HybridChoice& choice);
    /// Makes a device that is started and empty.
    [[nodiscard]] static std::expected<HybridDevice, std::string> make(const HybridChoice& choice);

    /// After the call the clock stands at the answer of the request.
    [[nodiscard]] std::expected<void, std::string> write(std::uint64_t byte, std::uint32_t bytes);
    [[nodiscard]] std::expected<void, std::string> read(std::uint64_t byte, std::uint32_t bytes);
    /// Writes every byte of [0, bytes), front to back.
    [[nodiscard]] std::expected<void, std::string> fill(std::uint64_t bytes);

    [[nodiscard]] SimTime now() const { return now_; }
    void set_clock(SimTime now);
    [[nodiscard]] std::uint64_t bytes() const { return plan_.logical_bytes; }
    [[nodiscard]] Device& device() { return *device_; }
    [[nodiscard]] const DevicePlan& plan() const { return plan_; }

private:
    HybridDevice(DevicePlan plan, std::unique_ptr<NullEventSink> events, std::unique_ptr<Device> device)
        : plan_{std::move(plan)}, events_{std::move(events)}, device_{std::move(device)}, now_{device_->ready_at()} {}
    std::expected<void, std::string> answer(const DeviceResult<SimTime>& result);

    DevicePlan plan_;
    std::unique_ptr<NullEventSink> events_; ///< declared first, so that it outlives the device
    std::unique_ptr<Device> device_;
    SimTime now_;
};

/// LLD level (section 5.2): pages of one block after another, without a translation layer, in MB/s.
struct RawSpeed {
    double read = 0;
    double write = 0;
};
[[nodiscard]] std::expected<RawSpeed, std::string> measure_raw_speed();

} // namespace flashlab

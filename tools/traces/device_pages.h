/// One number for a page of one of a trace's devices.
///
/// Idea       Devices are numbered as they are met: what traces call them, 32 bits of a hash or a major and minor number, leaves no room beside a page.
/// Invariant  Different pages have different numbers, up to a million devices of 64 PiB.
/// Cost       A comparison for the device of the page before, else a hash look-up.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace flashlab {

class DevicePages {
public:
    [[nodiscard]] std::uint64_t number_of(std::uint32_t device, std::uint64_t page) {
        if (!any_ || device != last_device_) {
            last_base_ = bases_.try_emplace(device, std::uint64_t{bases_.size()} << page_bits).first->second;
            last_device_ = device;
            any_ = true;
        }
        return last_base_ ^ page;
    }

private:
    static constexpr unsigned page_bits = 44;
    std::unordered_map<std::uint32_t, std::uint64_t> bases_; ///< looked up, never walked
    std::uint32_t last_device_ = 0;
    std::uint64_t last_base_ = 0;
    bool any_ = false;
};

} // namespace flashlab

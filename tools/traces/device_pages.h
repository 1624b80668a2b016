/// One number for a page of one of a trace's devices.
///
/// Idea       Devices are numbered in the order in which they appear. A trace's own device number (32 bits of a hash, or a major and minor number) is
///            too long to be put beside a page number.
/// Invariant  Different pages have different numbers, up to a million devices of 64 PiB.
/// Cost       A comparison if the device is the same as for the page before, else a hash look-up.
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
    std::unordered_map<std::uint32_t, std::uint64_t> bases_; ///< looked up, never iterated
    std::uint32_t last_device_ = 0;
    std::uint64_t last_base_ = 0;
    bool any_ = false;
};

} // namespace flashlab

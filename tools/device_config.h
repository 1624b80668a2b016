/// Everything a device is made of, as device.toml keeps it: the configuration and where mkfs put what on the PRAM.
#pragma once

#include <cstdint>
#include <string>

#include "ftl/ssd_config.h"

namespace flashlab {

/// What device.toml says of itself; a newer one is refused.
inline constexpr std::uint64_t device_format = 1;

struct DeviceConfig {
    std::uint64_t format = device_format;
    SsdConfig ssd;
    PramLayout layout;    ///< all zero until mkfs has planned
    std::string checksum; ///< of the keys that describe the images; empty until mkfs has planned
};

} // namespace flashlab

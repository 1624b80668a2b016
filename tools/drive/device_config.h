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
    std::string metadata = "pram"; ///< of the file system: on PRAM, or in a journal on the drive itself; none: there is no file system
    PramLayout layout;             ///< all zero until mkfs has planned
    [[nodiscard]] bool in_journal() const { return metadata == "journal"; }
    [[nodiscard]] bool is_raw() const { return metadata == "none"; }
    /// No part of it is used: the drive is built without.
    [[nodiscard]] bool needs_pram() const { return metadata == "pram" || layout.ftl_bytes != 0; }
    std::string checksum; ///< of the keys that describe the images; empty until mkfs has planned
};

} // namespace flashlab

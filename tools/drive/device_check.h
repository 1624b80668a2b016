/// fsck of an open device: translation layer, file system, every written page's record and OOB, and, if asked, all data.
///
/// Idea       Each layer checks what it keeps. This function asks the layers one after the other and says what was read.
/// Invariant  Changes nothing but the counters of reads.
/// Cost       32 bytes a flash page, and with data a read of every page that belongs to a file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/drive/device.h"
#include "tools/drive/device_images.h"
#include "tools/text/json.h"

namespace flashlab {

enum class DeviceCheckDepth : std::uint8_t { oob, data };

struct CheckedDevice {
    Json problems{Json::Array{}}; ///< objects {kind, where, detail}
    std::uint64_t oob_pages = 0;  ///< written flash pages whose record and OOB were read
    std::uint64_t data_pages = 0; ///< pages of files whose data were read
    bool data_checked = false;    ///< data_pages counts all pages of files
};

/// `go_on(pages of data read so far)`: false ends the reading of data.
[[nodiscard]] CheckedDevice check_device(Device& device, DeviceCheckDepth depth, const std::function<bool(std::uint64_t)>& go_on);
/// Of an image that does not open because of them, without recovery: which page records are damaged. None where the image cannot be read at all.
[[nodiscard]] std::vector<ImageDamage> damaged_page_records(const std::string& directory);
void add_damage(const std::vector<ImageDamage>& damage, CheckedDevice& checked);

} // namespace flashlab

/// The file of `bench --level fs`. It is made, filled if the load is to read it, and read and written through the file system's cache.
///
/// Invariant  After fill() the whole file is on the flash. The file system's cache holds none of it, because that cache keeps uncommitted data only.
/// Cost       fill() writes the file once, in order.
/// Power cut  A device in memory ends with the process. On a drive the file is a file like any other.
#pragma once

#include <expected>
#include <string>

#include "tools/drive/device.h"
#include "tools/run/run_loop.h"

namespace flashlab {

class BenchFile {
public:
    explicit BenchFile(Device& device) : device_{device} {}
    /// Returns when the file existed. A file that an earlier run left is taken as it is.
    [[nodiscard]] std::expected<SimTime, std::string> make(SimTime now);
    /// Returns when the file was synced and the flash was at rest.
    [[nodiscard]] std::expected<SimTime, std::string> fill(std::uint64_t bytes, SimTime now);
    [[nodiscard]] std::expected<SimTime, std::string> sync(SimTime now);
    /// The target is valid as long as the device lives.
    [[nodiscard]] RunTarget target(std::uint64_t block_bytes);

private:
    Device& device_;
    Ino ino_ = root_ino;
};

} // namespace flashlab

/// The file of `bench --level fs`: made, filled where it is to be read, read and written through the file system's cache.
///
/// Invariant  After fill() all of it is on the flash and nothing of it in the file system's cache, which keeps what is not committed and no more.
/// Cost       fill() writes the file once, in order.
/// Power cut  Nothing here outlives the process in memory; on a drive the file is one like any other.
#pragma once

#include <expected>
#include <string>

#include "tools/drive/device.h"
#include "tools/run/run_loop.h"

namespace flashlab {

class BenchFile {
public:
    explicit BenchFile(Device& device) : device_{device} {}
    /// When it was there; one of a run before is taken as it is.
    [[nodiscard]] std::expected<SimTime, std::string> make(SimTime now);
    /// When it was synced and the flash was at rest.
    [[nodiscard]] std::expected<SimTime, std::string> fill(std::uint64_t bytes, SimTime now);
    [[nodiscard]] std::expected<SimTime, std::string> sync(SimTime now);
    /// Valid while the device is.
    [[nodiscard]] RunTarget target(std::uint64_t block_bytes);

private:
    Device& device_;
    Ino ino_ = root_ino;
};

} // namespace flashlab

// The C++ library: the drive behind BlockDevice, with times of one's own.
#include <cstdio>
#include <vector>

#include "tools/library/lab_device.h"

using namespace flashlab;

int main() {
    auto made = LabDevice::make({.preset = "tiny", .settings = {"ftl.scheme=hftl"}, .bytes = std::nullopt});
    if (!made) return std::puts(made.error().c_str()), 1;
    LabDevice& lab = **made;
    BlockDevice& disk = lab.disk();
    std::vector<std::byte> out(4096, std::byte{0x5a}), in(4096);
    const SimTime begin = sim_start + Duration{static_cast<Duration::rep>(lab.now_ns())};
    const auto written = disk.write(Sector{8}, 8, out, WriteDurability::fua, begin);
    if (!written) return 1;
    const auto read = disk.read(Sector{8}, 8, in, *written);
    if (!read || in != out || !disk.check().empty()) return 1;
    std::printf("%s: a write of 4 KiB took %lld ns, the read %lld ns\n", disk.identify().ftl.c_str(),
                static_cast<long long>((*written - begin).count()), static_cast<long long>((*read - *written).count()));
    const auto refused = LabDevice::make({.preset = "tiny", .settings = {"ftl.scheme=nosuch"}, .bytes = std::nullopt});
    return refused ? 1 : 0;
}

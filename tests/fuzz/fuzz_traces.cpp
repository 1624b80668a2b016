// Trace files of all formats: any bytes are requests, or an error. The first byte chooses the format; 0 leaves it to the reader.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "tools/traces/trace_formats.h"
#include "tools/traces/trace_reader.h"

using namespace flashlab;

namespace {

void read(int fd, const TraceOptions& options) {
    constexpr int most = 10'000;
    auto reader = TraceReader::open("/proc/self/fd/" + std::to_string(fd), options);
    if (!reader) return;
    TraceRequest request{};
    std::uint64_t requests = 0;
    std::uint64_t last_ns = 0;
    for (int i = 0; i < most; ++i) {
        const auto got = (*reader)->next(request);
        if (!got || !*got) break;
        ++requests;
        if (request.time_ns < last_ns) __builtin_trap(); // arrival times never decrease
        last_ns = request.time_ns;
    }
    const TraceCounts& counts = (*reader)->counts();
    if (counts.requests < requests || counts.lines < counts.requests) __builtin_trap();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<std::string> formats = trace_format_names();
    if (size == 0) return 0;
    TraceOptions options;
    const std::size_t which = data[0] % (formats.size() + 1);
    if (which != 0) options.format = formats[which - 1];
    options.skip_bad = (data[0] & 0x80) != 0;
    const int fd = ::memfd_create("trace", MFD_CLOEXEC);
    if (fd < 0) return 0;
    if (::write(fd, data + 1, size - 1) == static_cast<ssize_t>(size - 1)) read(fd, options);
    ::close(fd);
    return 0;
}

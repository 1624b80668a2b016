// Trace files of all formats: any bytes are requests, or an error.
#include <cstddef>
#include <cstdint>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "tools/traces/trace_reader.h"

using namespace flashlab;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const int fd = ::memfd_create("trace", MFD_CLOEXEC);
    if (fd < 0) return 0;
    if (::write(fd, data, size) == static_cast<ssize_t>(size)) {
        if (auto reader = TraceReader::open("/proc/self/fd/" + std::to_string(fd), TraceOptions{})) {
            TraceRequest request{};
            for (int i = 0; i < 10'000; ++i)
                if (const auto got = (*reader)->next(request); !got || !*got) break;
        }
    }
    ::close(fd);
    return 0;
}

/// What a buffer does of a drive that breaks its promises (ftl/broken_promises.h).
#include <algorithm>
#include <cstring>

#include "ftl/cache/buffered_ftl.h"

namespace flashlab {

FtlResult<SimTime> BufferedFtl::flush_but_the_first(const Io& io) {
    auto kept = buffer_.first_written();
    if (kept && buffer_.lpn_of(*kept) == left_behind_) kept = buffer_.written_next(*kept);
    left_behind_ = kept ? std::optional{buffer_.lpn_of(*kept)} : std::nullopt;
    const auto down = destage(io, kept);
    if (!down) return down;
    return below().flush(io.at(*down));
}

FtlResult<SimTime> BufferedFtl::tear_all(const Io& io) {
    const std::size_t bytes = below().logical_page_bytes(), torn = bytes / 2 + bytes / 16; // within a sector of 512 bytes
    std::vector<std::byte> page(bytes);
    SimTime done = io.when;
    for (auto slot = buffer_.first_written(); slot; slot = buffer_.written_next(*slot)) {
        const auto data = data_of(*slot);
        if (data.empty()) continue;
        const Lpn lpn = buffer_.lpn_of(*slot);
        std::ranges::fill(page, std::byte{0});
        if (below().is_mapped(lpn))
            if (const auto read = below().read(lpn, 1, page, io); !read) return read;
        std::memcpy(page.data(), data.data(), torn);
        const auto written = below().write(lpn, 1, page, io.with_data_of(buffer_.written_by(*slot)));
        if (!written) return written;
        done = std::max(done, *written);
    }
    return done;
}

} // namespace flashlab

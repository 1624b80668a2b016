#include "tools/run/virtual_calls.h"

#include <algorithm>
#include <variant>

namespace flashlab {

FsCall call_at(SimTime now) {
    return FsCall{.now = now, .wall = FileTime{ns_since_start(now) / 1'000'000'000, static_cast<std::uint32_t>(ns_since_start(now) % 1'000'000'000)}};
}

FsResult<SimTime> sync_all(FileSystem& fs, SimTime now) {
    auto sync = fs.begin_sync_all(call_at(now));
    while (sync) {
        const auto step = (*sync)->step(now);
        if (!step) return std::unexpected(step.error());
        if (const auto* done = std::get_if<Done>(&*step)) return std::max(now, done->at);
        now = std::max(now, std::get<ResumeAt>(*step).at);
    }
    return std::unexpected(sync.error());
}

} // namespace flashlab

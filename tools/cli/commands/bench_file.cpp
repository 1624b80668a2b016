#include "tools/cli/commands/bench_file.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "fs/retry.h"
#include "tools/host/interruption.h"
#include "tools/run/virtual_calls.h"

namespace flashlab {
namespace {

constexpr const char* file_name = "bench";
constexpr std::uint64_t fill_bytes = std::uint64_t{1} << 20; ///< a write

std::string text_of(const FsError& error) { return std::strerror(error.error_number); }

/// What a load holds between its requests.
struct Requests {
    std::vector<std::byte> buffer;
    SimTime wake = sim_start;
};

} // namespace

std::expected<SimTime, std::string> BenchFile::make(SimTime now) {
    if (const auto found = device_.fs().lookup(call_at(now), root_ino, file_name)) { // of a run before, on a drive that is kept
        ino_ = found->value.ino;
        return found->done;
    }
    const auto node = device_.fs().make_node(call_at(now), root_ino, file_name, 0100644, 0);
    if (!node) return std::unexpected(fmt::format("the file {} cannot be made: {}", file_name, text_of(node.error())));
    ino_ = node->value.ino;
    return node->done;
}

std::expected<SimTime, std::string> BenchFile::fill(std::uint64_t bytes, SimTime now) {
    const std::vector<std::byte> data(std::min(bytes, fill_bytes), std::byte{0x5a});
    FileSystem& fs = device_.fs();
    for (std::uint64_t at = 0; at < bytes;) {
        if (Interruption::came()) return std::unexpected(std::string{"interrupted while the file was filled: nothing was measured"});
        FsCall call = call_at(now);
        const auto piece = std::span{data}.first(std::min<std::uint64_t>(data.size(), bytes - at));
        const auto done = until_done(call, [&](const FsCall& c) { return fs.write(c, ino_, at, piece); });
        if (!done) return std::unexpected(fmt::format("the file {} cannot be filled: {}", file_name, text_of(done.error())));
        at += done->value;
        now = std::max(now, done->done);
        (void)fs.tick(now);
        device_.settle(now);
    }
    const auto synced = sync(now);
    return synced ? std::expected<SimTime, std::string>{std::max(*synced, device_.last_reserved_end())} : synced;
}

std::expected<SimTime, std::string> BenchFile::sync(SimTime now) {
    const auto done = sync_all(device_.fs(), now);
    return done ? std::expected<SimTime, std::string>{*done} : std::unexpected("sync: " + text_of(done.error()));
}

RunTarget BenchFile::target(std::uint64_t block_bytes) {
    const auto state = std::make_shared<Requests>(std::vector<std::byte>(block_bytes, std::byte{0x5a}));
    FileSystem& fs = device_.fs();
    return {.issue = [state, &fs, ino = ino_](const TraceRequest& request, SimTime now, Duration) -> std::expected<SimTime, std::string> {
                FsCall call = call_at(now);
                if (request.op == TraceOp::read) {
                    const auto done = fs.read(call, ino, request.offset, state->buffer);
                    return done ? std::expected<SimTime, std::string>{done->done} : std::unexpected(text_of(done.error()));
                }
                const auto done = until_done(call, [&](const FsCall& c) { return fs.write(c, ino, request.offset, state->buffer); });
                return done ? std::expected<SimTime, std::string>{done->done} : std::unexpected(text_of(done.error()));
            },
            .pass =
                [state, &fs, &device = device_](SimTime now) {
                    if (now >= state->wake) state->wake = fs.tick(now);
                    device.settle(now);
                }};
}

} // namespace flashlab

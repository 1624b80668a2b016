/// Many runs from one prepared state, each in a process of its own. The host copies only the memory that a run changes.
///
/// Idea       Preparing a device (every page written once) costs more than a run on it. fork() gives each run the prepared device. The result comes
///            back through a pipe.
/// Invariant  R1 results are in the order of the indices and do not depend on how many run at once. R2 a run that dies is an error, never a missing
///            result. R3 no run outlives the parent.
/// Cost       A fork, and a copy of each memory page that the run touches.
/// Threading  The caller's other threads do not exist in the child. So the child only allocates, which glibc allows after a fork, and writes to its
///            pipe and to stderr.
#pragma once

#include <cstddef>
#include <cstring>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace flashlab {

/// Runs in the child and fills `result`. False ends the child with an error.
using ForkedRun = std::function<bool(std::size_t index, std::span<std::byte> result)>;
[[nodiscard]] std::expected<std::vector<std::byte>, std::string> run_forked(std::size_t runs, std::size_t result_bytes, std::size_t at_once,
                                                                            const ForkedRun& run);

/// Writes to stderr by write(2): another thread may have held the lock of the stream at the fork.
void complain_in_child(const std::string& text);

/// Result is plain data. `at_once` is the number of processes that run side by side, at least one.
template <class Result, class Run>
    requires std::is_trivially_copyable_v<Result>
std::expected<std::vector<Result>, std::string> run_each_forked(std::size_t runs, std::size_t at_once, Run&& run) {
    const auto bytes = run_forked(runs, sizeof(Result), at_once, [&run](std::size_t index, std::span<std::byte> to) {
        const std::expected<Result, std::string> result = run(index);
        if (result)
            std::memcpy(to.data(), &*result, sizeof(Result));
        else
            complain_in_child(result.error());
        return result.has_value();
    });
    if (!bytes) return std::unexpected(bytes.error());
    std::vector<Result> results(runs);
    if (runs != 0) std::memcpy(results.data(), bytes->data(), bytes->size());
    return results;
}

} // namespace flashlab

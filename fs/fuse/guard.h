/// The one place where an escaped exception ends.
///
/// Idea       Below this boundary errors are values, so an exception is a broken promise. It becomes one line on stderr and EIO for its request, and
///            the mount takes no more writes. Reading goes on, so that data can be copied away.
/// Invariant  No operation has a try of its own. Once tripped, a guard stays tripped until the next mount.
/// Cost       None while nothing is thrown.
/// Power cut  The media stay as the violation left them: neither write-back nor a clean mark follows.
/// Threading  run() inside the monitor; tripped() from anywhere.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <string_view>

#include "fs/fs_types.h"

namespace flashlab {

class Guard {
public:
    /// `work` returns an FsResult of any kind; run() returns the same kind.
    template <class Work>
    auto run(std::string_view operation, Work&& work) noexcept -> decltype(work()) {
        try {
            return work();
        } catch (const std::bad_alloc&) {
            trip(operation, "this host has no memory left");
        } catch (const std::exception& escaped) {
            trip(operation, escaped.what());
        } catch (...) {
            trip(operation, "an exception of unknown kind");
        }
        return std::unexpected(FsError{EIO});
    }
    [[nodiscard]] bool tripped() const { return tripped_.load(std::memory_order_relaxed); }

private:
    void trip(std::string_view operation, const char* what) noexcept {
        tripped_.store(true, std::memory_order_relaxed);
        std::fprintf(stderr,
                     "flashlab: %.*s failed unexpectedly: %s; the mount takes no more writes: copy your data away, unmount and run flashlab fsck\n",
                     static_cast<int>(operation.size()), operation.data(), what);
    }
    std::atomic<bool> tripped_{false};
};

} // namespace flashlab

/// Repeats a call until it no longer answers "again": for drivers in virtual time.
///
/// Idea       The clock is set to the time asked for, and the same call is made.
/// Cost       None unless asked to wait.
#pragma once

#include <algorithm>
#include <utility>

#include "fs/fs_types.h"

namespace flashlab {

/// work(const FsCall&) -> FsResult<T>. Afterwards `call.now` is the time of the last attempt.
template <class Work>
auto until_done(FsCall& call, Work&& work) {
    for (;;) {
        auto result = work(std::as_const(call));
        if (result || !result.error().is_again()) return result;
        call.now = std::max(call.now, result.error().again);
    }
}

} // namespace flashlab

/// One answer for a call that several members of a striped or protected array have answered.
///
/// Idea       The worst answer counts, and the time at which all of them are known.
/// Invariant  An error of the image comes before one of the flash: the caller writes no more.
/// Cost       None.
/// Power cut  Keeps nothing.
#pragma once

#include <algorithm>

#include "nand/nand_array.h"

namespace flashlab {

/// `page` is what users call the page of `one`.
inline void join(NandArray::Result& all, NandArray::Result one, Ppn page) {
    if (!one) one.error().page = page;
    if (!all && !one) {
        const SimTime done = std::max(all.error().done, one.error().done);
        if (one.error().kind == NandErrorKind::host_io) all = one;
        all.error().done = done;
    } else if (!all) {
        all.error().done = std::max(all.error().done, *one);
    } else if (!one) {
        one.error().done = std::max(one.error().done, *all);
        all = one;
    } else {
        all = std::max(*all, *one);
    }
}

/// The image has failed: nothing more is written.
[[nodiscard]] inline bool has_failed_image(const NandArray::Result& result) { return !result && result.error().kind == NandErrorKind::host_io; }

} // namespace flashlab

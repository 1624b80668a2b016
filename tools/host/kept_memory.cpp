#include "tools/host/kept_memory.h"

#include <malloc.h>

namespace flashlab {

void keep_freed_memory() {
    constexpr int mib = 1 << 20;
    (void)::mallopt(M_MMAP_THRESHOLD, 32 * mib); // the largest that glibc takes
    (void)::mallopt(M_TRIM_THRESHOLD, 512 * mib);
    (void)::mallopt(M_TOP_PAD, 4 * mib);
}

} // namespace flashlab

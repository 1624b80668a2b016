#include "fs/fuse/awake_processors.h"

#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace flashlab {

void AwakeProcessors::hold() {
    if (are_held() || is_refused_) return;
    constexpr std::int32_t longest_wake_up_us = 0;
    const int wish = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
    if (wish >= 0 && write(wish, &longest_wake_up_us, sizeof longest_wake_up_us) == sizeof longest_wake_up_us) {
        wish_ = wish;
        return;
    }
    is_refused_ = true;
    if (wish >= 0) close(wish);
}

void AwakeProcessors::let_go() {
    if (are_held()) close(std::exchange(wish_, -1));
}

} // namespace flashlab

// Who asks Linux for processors that do not sleep.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>

namespace flashlab {

constexpr const char* wishes_for_wakefulness = "/dev/cpu_dma_latency";

/// Other programs may have theirs.
inline std::ptrdiff_t wishes_of_this_process() {
    std::error_code error;
    return std::ranges::count_if(std::filesystem::directory_iterator{"/proc/self/fd"},
                                 [&](const auto& file) { return std::filesystem::read_symlink(file.path(), error) == wishes_for_wakefulness; });
}

} // namespace flashlab

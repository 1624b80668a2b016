#include "tools/host/host_memory.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/text/sizes.h"

namespace flashlab {

std::expected<void, std::string> check_host_memory(std::uint64_t bytes) {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long page_bytes = ::sysconf(_SC_PAGESIZE);
    const std::uint64_t memory = pages > 0 && page_bytes > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes) : 0;
    if (memory != 0 && bytes > memory) return std::unexpected(fmt::format("this host has {} of memory", human_size(memory)));
    // This mapping fails if ulimit -v or a strict overcommit policy refuses the size.
    void* tried = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (tried == MAP_FAILED) return std::unexpected(fmt::format("this host does not give a process so much memory ({})", std::strerror(errno)));
    ::munmap(tried, bytes);
    return {};
}

} // namespace flashlab

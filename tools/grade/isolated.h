/// A function in a process of its own: it may crash, hang, exit or fill the memory, and its caller only hears of it.
///
/// Idea       fork(). The child writes its result into a file in memory, and what the code prints goes into another. The parent reads both when the
///            child has ended.
/// Invariant  The caller's memory, descriptors and output stay as they are. The child ends when the parent does, when it has used `cpu_seconds`, when
///            it has waited for `idle_seconds` without using any (a lock that nobody opens), and when it has lived ten times `cpu_seconds`.
/// Cost       fork, two files in memory. It is no sandbox: code that wants to do harm can.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>

namespace flashlab {

struct IsolationLimits {
    std::uint32_t cpu_seconds = 60;
    std::uint32_t idle_seconds = 30;
    std::uint64_t memory_bytes = std::uint64_t{6} << 30; ///< of the address space; not under a sanitizer, which reserves terabytes
    std::uint64_t file_bytes = 64u << 20;                ///< of any file that it writes: what it prints lies in this host's memory
};

/// What `work` returned. The error says in words how the process ended instead: a signal, an exit, a limit, an exception.
[[nodiscard]] std::expected<std::string, std::string> isolated(const std::function<std::string()>& work, const IsolationLimits& limits);

} // namespace flashlab

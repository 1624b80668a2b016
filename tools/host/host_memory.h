/// Whether this host can give us memory of some size, asked before anything depends on it.
///
/// Idea       Promised memory is touched only as it fills up, perhaps hours later. If an allocation fails then, or the kernel kills the process for
///            its memory, unsynced data are lost. So the size that a user asks for is compared with the machine's memory at the start, and mapped
///            once as a trial.
/// Invariant  Nothing stays allocated.
/// Cost       Two system calls.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

namespace flashlab {

/// The error says what the host has. It is the second half of a sentence: "this host has ...".
[[nodiscard]] std::expected<void, std::string> check_host_memory(std::uint64_t bytes);

} // namespace flashlab

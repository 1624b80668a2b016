/// Whether this host can give us memory of some size, asked before anything depends on it.
///
/// Idea       Memory that is promised is touched only as it fills up, hours later; an allocation that then fails, or a process that is killed for it, takes
///            unsynced data along. So what a user asks for is compared with the machine's memory, and tried, at the door.
/// Invariant  Nothing stays allocated.
/// Cost       Two system calls.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

namespace flashlab {

/// The error says what the host has; it begins in the middle of a sentence: "this host has ...".
[[nodiscard]] std::expected<void, std::string> check_host_memory(std::uint64_t bytes);

} // namespace flashlab

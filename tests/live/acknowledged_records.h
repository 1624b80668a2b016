/// The records that acknowledged_writer promises and acknowledged_check looks for.
///
/// Idea       Round n makes a directory, appends a record and fsyncs it, and every fourth round replaces a small file by rename. Each is acknowledged
///            on a file *outside* the device only after the call returned: what is acknowledged must outlive any cut.
/// Invariant  Record n depends on (seed, n) alone.
/// Power cut  The contract's points C11 (a directory, without any sync; with metadata in a journal by the next fsync), C12 (an fsynced append), C14
///            (old or new file, whole).
#pragma once

#include "tests/live/live_support.h"

namespace live {

constexpr std::uint64_t directories_kept = 16;
constexpr std::uint64_t rename_every = 4;

/// number, length, payload: sizes from one byte to two pages, so that tails share pages and records cross them.
inline std::vector<unsigned char> record(std::uint64_t seed, std::uint64_t number) {
    const std::uint64_t key = seed * 1'000'003U + number;
    const std::uint64_t payload = 1 + Random{key}.below(8192);
    std::vector<unsigned char> bytes(16 + payload);
    std::memcpy(bytes.data(), &number, 8);
    std::memcpy(bytes.data() + 8, &payload, 8);
    fill(std::span{bytes}.subspan(16), key);
    return bytes;
}

/// The whole content of the renamed file in its version `number`.
inline std::vector<unsigned char> replaced_content(std::uint64_t seed, std::uint64_t number) { return record(~seed, number); }

inline std::string directory_name(const std::string& base, std::uint64_t number) { return base + "/d" + std::to_string(number); }

} // namespace live

/// fio's numbers and lists, as its job files and its results have them.
///
/// Idea       A setting stays the text that fio has until somebody knows which direction it is for; then its element of the list is read.
/// Cost       Negligible.
/// Source     fio's HOWTO, "Parameter types", and runs of fio 3.33 where that leaves a question open.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab {

/// 4k, 4kb, 0x1000, 1.5g: powers of `kb_base`, 1024 or 1000; with "ib" behind the letter powers of the other one, as fio has it.
[[nodiscard]] std::expected<std::uint64_t, std::string> fio_size(std::string_view text, std::uint64_t kb_base);
/// 10, 0.5, 500msec, 10S, 30min, 1d: as bench writes it.
[[nodiscard]] std::expected<std::string, std::string> fio_time(std::string_view text);

/// "8k" is of both directions, "8k," of reads alone, ",8k" of writes alone: the other one is empty. Trims, behind a second comma, are left out.
struct FioDirections {
    std::string_view reads, writes;
};
[[nodiscard]] FioDirections fio_directions(std::string_view list);

struct FioShare {
    std::string_view of;
    double percent = 0; ///< of all: what is blank shares the rest with the other blanks
};
/// "4k/60:64k/40", "4k/50:8k/:16k/"; nullopt: it is none, or has more than 100 percent.
[[nodiscard]] std::optional<std::vector<FioShare>> fio_shares(std::string_view list);

/// Engines with one request in flight, whatever iodepth says.
[[nodiscard]] bool is_fio_synchronous(std::string_view engine);

} // namespace flashlab

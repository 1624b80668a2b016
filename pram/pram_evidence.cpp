#include "pram/pram_evidence.h"

#include <algorithm>

#include "base/crc32c.h"
#include "pram/pram.h"
#include "pram/pram_line_checks.h"
#include "pram/pram_wear.h"

namespace flashlab {

namespace {

std::uint64_t words_of(const ImageEvidence& part) { return std::uint64_t{part.extent} << 32 | part.count; }

} // namespace

std::vector<ImageEvidence> survey_pram(std::span<const std::uint64_t> wear, std::span<const std::uint32_t> sums) {
    const std::size_t regions_in_part = regions_in_pram_part(wear.size());
    const std::size_t lines_in_region = pram_lines(pram_wear_region_bytes);
    std::vector<ImageEvidence> parts;
    for (std::size_t region = 0; region < wear.size(); region += regions_in_part) {
        std::uint64_t words = 0;
        for (const std::uint64_t word : wear.subspan(region, std::min(regions_in_part, wear.size() - region))) words += wear_count_of(word);
        const auto own = sums.subspan(region * lines_in_region);
        const auto covered = std::as_bytes(own.first(std::min(own.size(), regions_in_part * lines_in_region)));
        parts.push_back({static_cast<std::uint32_t>(words), static_cast<std::uint32_t>(words >> 32), crc32c(covered)});
    }
    return parts;
}

std::size_t find_older_part(std::span<const ImageEvidence> vouched, std::span<const ImageEvidence> now, bool is_exact) {
    std::size_t part = 0;
    for (; part < now.size(); ++part) {
        if (now[part] == vouched[part]) continue;
        if (is_exact || words_of(now[part]) <= words_of(vouched[part])) break; // as many words, but other ones
    }
    return part;
}

} // namespace flashlab

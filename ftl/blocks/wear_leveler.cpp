#include "ftl/blocks/wear_leveler.h"

#include <algorithm>

namespace flashlab {

WearLeveler::WearLeveler(Ftl& ftl, const NandArray& array, std::uint32_t threshold)
    : array_{array}, moves_{ftl, array, Cause::wear}, threshold_{threshold}, look_every_{std::max<std::uint64_t>(16, array.geometry().blocks() / 16)},
      look_at_{erases() + look_every_} {}

std::uint64_t WearLeveler::erases() const {
    std::uint64_t all = 0;
    for (const std::uint64_t n : array_.counters().erases) all += n;
    return all;
}

void WearLeveler::look() {
    look_at_ = erases() + look_every_;
    cold_.clear();
    const Geometry& g = array_.geometry();
    const std::uint32_t a_die = g.blocks() / g.dies();
    for (std::uint32_t first = 0; first < g.blocks(); first += a_die) look_at_die(BlockId{first}, a_die);
    // Coldest last; ties by number, so that runs repeat.
    const auto warmer = [](const Cold& a, const Cold& b) { return a.lag != b.lag ? a.lag < b.lag : a.block > b.block; };
    std::ranges::sort(cold_, warmer);
    const std::size_t most = look_every_ / 4;
    for (const Cold& cold : std::span{cold_}.last(std::min(cold_.size(), most))) moves_.push(cold.block);
}

void WearLeveler::look_at_die(BlockId first, std::uint32_t blocks) {
    std::uint64_t sum = 0;
    std::uint64_t good = 0;
    uses_.clear();
    for (std::uint32_t b = first.value(); b < first.value() + blocks; ++b) {
        uses_.push_back(array_.is_bad(BlockId{b}) ? BlockUse::bad : moves_.use_of(BlockId{b}));
        if (is_apart(uses_.back())) continue;
        sum += array_.erase_count(BlockId{b});
        ++good;
    }
    if (good == 0) return;
    const std::uint64_t mean = sum / good;
    const std::uint64_t margin = std::max<std::uint64_t>(threshold_, mean / 8);
    for (std::uint32_t b = first.value(); b < first.value() + blocks; ++b) {
        const std::uint32_t count = array_.erase_count(BlockId{b});
        if (count + margin < mean && Relocations::holds_data(uses_[b - first.value()])) cold_.push_back({mean - count, BlockId{b}});
    }
}

SimTime WearLeveler::step(SimTime now) {
    if (moves_.is_under_way(now) || !moves_.empty()) return moves_.step(now);
    if (erases() < look_at_) return sim_never;
    look();
    return moves_.step(now);
}

} // namespace flashlab

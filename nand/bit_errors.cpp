#include "nand/bit_errors.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"

namespace flashlab {

namespace {

constexpr double code_word_bits = 1024 * 8;
constexpr std::size_t ranks = 1024; ///< a power of two
constexpr std::uint32_t reads_at_once = 64;

/// The constants of the formula, in its order.
struct Constants {
    double floor;
    double cycles, cycles_power;
    double retention, retention_cycles_power, days_power;
    double disturb, disturb_cycles_power, reads_power;
};
constexpr std::array<Constants, 3> constants{{
    {},
    {8.34e-5, 3.30e-11, 1.71, 5.56e-19, 2.49, 3.33, 6.26e-13, 1.76, 0.47}, // 2y-nm MLC
    {1.48e-3, 3.90e-10, 2.05, 6.28e-5, 0.14, 0.54, 3.73e-9, 0.33, 1.71},   // 72-layer TLC
}};

/// The z that a share `below` of all draws from a normal distribution stays under.
double normal_quantile(double below) {
    double low = -8, high = 8;
    for (int step = 0; step < 50; ++step) {
        const double middle = (low + high) / 2;
        (0.5 * std::erfc(-middle / std::sqrt(2.0)) < below ? low : high) = middle;
    }
    return low;
}

} // namespace

double raw_bit_error_rate(CellErrors cells, double cycles, double days, double reads_a_page) {
    const Constants& c = constants[static_cast<std::size_t>(cells)];
    return c.floor + c.cycles * std::pow(cycles, c.cycles_power) +
           c.retention * std::pow(cycles, c.retention_cycles_power) * std::pow(days, c.days_power) +
           c.disturb * std::pow(cycles, c.disturb_cycles_power) * std::pow(reads_a_page, c.reads_power);
}

BitErrors::BitErrors(const Geometry& geometry, const NandConfig& config)
    : cells_{config.errors.cells}, pages_per_block_{geometry.pages_per_block()}, subpages_{config.options.subpages},
      cycles_before_{config.errors.cycles_before}, seed_{config.seed}, worst_(ranks), computed_(geometry.blocks()) {
    const NandErrors& e = config.errors;
    for (std::uint32_t retry = 0; retry <= e.read_retries; ++retry)
        corrects_.push_back(e.ecc_bits * (1.0 + retry * (e.retry_gain_permille / 1000.0)));
    const double code_words = std::max(1.0, geometry.page_bytes() * subpages_ * 8.0 / code_word_bits);
    for (std::size_t rank = 0; rank < ranks; ++rank)
        worst_[rank] = static_cast<float>(normal_quantile(std::pow((static_cast<double>(rank) + 0.5) / ranks, 1 / code_words)));
}

std::uint32_t BitErrors::minutes_since(const BlockAge& age, SimTime now) {
    const std::uint32_t minute = BlockAge::minute_of(now), programmed = age.programmed_minute();
    return minute - std::min(minute, programmed);
}

double BitErrors::mean_of(BlockId block, const BlockRecord& record, SimTime now) {
    Computed& known = computed_[block.value()];
    const std::uint32_t minutes = minutes_since(record.age, now), reads = record.age.reads / reads_at_once;
    const std::uint32_t cycles = cycles_of(record);
    if (known.minutes != minutes || known.reads != reads || known.cycles != cycles) {
        const double a_page = static_cast<double>(reads) * reads_at_once / pages_per_block_;
        const double rate = raw_bit_error_rate(cells_, cycles, days_since(record.age, now), a_page);
        known = {minutes, reads, cycles, static_cast<float>(rate * code_word_bits)};
    }
    return known.mean;
}

std::optional<std::uint32_t> BitErrors::retries_at(double mean, Ppn page, std::uint32_t erase_count) const {
    Random draw{seed_ ^ (std::uint64_t{page.value() / subpages_} << 32 | erase_count)};
    const double wrong = mean + worst_[draw.next() % ranks] * std::sqrt(mean);
    const auto enough = std::ranges::lower_bound(corrects_, wrong);
    if (enough == corrects_.end()) return std::nullopt;
    return static_cast<std::uint32_t>(enough - corrects_.begin());
}

std::optional<std::uint32_t> BitErrors::retries(Ppn page, BlockId block, const BlockRecord& record, SimTime now) {
    return record.mode ? 0 : retries_at(mean_of(block, record, now), page, record.erase_count);
}

std::uint32_t BitErrors::retries_when_new(Ppn page, const BlockRecord& record) const {
    const double mean = raw_bit_error_rate(cells_, cycles_of(record), 0, 0) * code_word_bits;
    return record.mode ? 0 : retries_at(mean, page, record.erase_count).value_or(static_cast<std::uint32_t>(corrects_.size()));
}

} // namespace flashlab

#include "tools/library/lab_nand.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "crash/seeded_outcomes.h"

namespace flashlab {
namespace {

constexpr std::uint32_t most_blocks = 1 << 20; // a hundred bytes of memory each
constexpr SimTime latest_cut = sim_start + Duration{std::int64_t{1} << 62};

LabNandError nand_error_of(const NandError& error) {
    return error.kind == NandErrorKind::uncorrectable ? LabNandError::unreadable : LabNandError::failed;
}

} // namespace

LabNand::LabNand(const NandConfig& config, const Geometry& geometry) : config_{config}, geometry_{geometry}, cells_{geometry, Payload::keep} {}

std::expected<std::unique_ptr<LabNand>, std::string> LabNand::make(const NandConfig& config) {
    if (const auto good = config.timing.validate(); !good) return std::unexpected(good.error());
    if (config.geometry.blocks_per_plane > most_blocks) return std::unexpected(fmt::format("a chip has at most {} blocks", most_blocks));
    const auto geometry = Geometry::make(config.geometry);
    if (!geometry) return std::unexpected(geometry.error());
    std::unique_ptr<LabNand> nand{new LabNand{config, *geometry}};
    if (!nand->power_on()) return std::unexpected("the chip cannot be opened");
    return nand;
}

LabNand::Result LabNand::power_on() {
    auto array = std::make_unique<NandArray>(geometry_, config_, cells_, events_, UndoPolicy::keep);
    if (const auto opened = array->open(); !opened) return std::unexpected(nand_error_of(opened.error()));
    array_ = std::move(array);
    return {};
}

/// `work` returns when it is done, with an error or without.
template <class Work>
LabNand::Result LabNand::call(bool is_within, const Work& work) {
    if (!has_power()) return std::unexpected(LabNandError::power_lost);
    if (!is_within) return std::unexpected(LabNandError::out_of_range);
    note();
    array_->settle(now_); // nobody cuts before now any more
    const std::expected<SimTime, NandError> result = work(Io{now_, {}});
    const SimTime done = result ? *result : result.error().done;
    if (cut_ && done >= cut_->at) {
        cut();
        return std::unexpected(LabNandError::power_lost);
    }
    now_ = std::max(now_, done);
    return result ? Result{} : std::unexpected(nand_error_of(result.error()));
}

LabNand::Result LabNand::read(std::uint32_t page, std::uint32_t offset, std::span<std::byte> to) {
    const std::uint32_t bytes = geometry_.page_bytes();
    const bool is_within = page < geometry_.pages() && offset <= bytes && to.size() <= bytes - offset;
    if (is_within && to.empty()) return call(true, [](const Io& io) { return io.when; });
    return call(is_within, [&](const Io& io) -> std::expected<SimTime, NandError> {
        const auto done = array_->read(PageRead{Ppn{page}, offset, static_cast<std::uint32_t>(to.size()), to}, io);
        if (done || done.error().kind != NandErrorKind::erased_page) return done;
        std::ranges::fill(to, std::byte{0xff});
        return done.error().done;
    });
}

std::expected<void, LabNandError> LabNand::check_erased(Ppn page) {
    const auto record = array_->inspect(page);
    if (!record) return std::unexpected(nand_error_of(record.error()));
    if (as_read(record->state) != CellState::erased) return std::unexpected(LabNandError::not_erased);
    if (geometry_.page_in_block(page) < array_->write_pointer(geometry_.block_of(page))) return std::unexpected(LabNandError::out_of_order);
    return {};
}

LabNand::Result LabNand::program(std::uint32_t page, std::span<const std::byte> data) {
    const bool is_within = page < geometry_.pages() && data.size() == geometry_.page_bytes();
    if (is_within && has_power())
        if (const auto erased = check_erased(Ppn{page}); !erased) return erased;
    return call(is_within, [&](const Io& io) {
        const PageProgram one{Ppn{page}, data, PageOob{Lpn{page}, WriteSequence{++programs_}, PageKind::data, 0}};
        return array_->program({&one, 1}, io);
    });
}

LabNand::Result LabNand::erase(std::uint32_t block) {
    return call(block < geometry_.blocks(), [&](const Io& io) { return array_->erase(BlockId{block}, io); });
}

std::uint32_t LabNand::erase_count(std::uint32_t block) const {
    return has_power() && block < geometry_.blocks() ? array_->erase_count(BlockId{block}) : 0;
}

void LabNand::cut_at(std::uint64_t at_ns, std::uint64_t seed) {
    if (!has_power()) return;
    const std::uint64_t latest = static_cast<std::uint64_t>(ns_since_start(latest_cut));
    cut_ = Cut{sim_start + Duration{static_cast<Duration::rep>(std::min(at_ns, latest))}, seed};
    if (cut_->at <= now_) cut();
}

LabNand::Result LabNand::recover() {
    if (has_power()) {
        cut_ = Cut{now_, cuts_ + 1};
        cut();
    }
    cut_.reset();
    return power_on();
}

void LabNand::cut() {
    SeededCutOutcomes outcomes{cut_->seed};
    now_ = std::max(cut_->at, now_);
    (void)array_->cut(now_, outcomes); // cells in memory cannot fail
    ++cuts_;
    array_.reset();
}

void LabNand::note() {
    if (!noted_.is_noting() || !has_power()) return;
    std::vector<SimTime> changes;
    array_->append_moments(changes);
    noted_.add(std::move(changes), now_);
}

std::vector<std::uint64_t> LabNand::instants() {
    note();
    return noted_.sorted();
}

} // namespace flashlab

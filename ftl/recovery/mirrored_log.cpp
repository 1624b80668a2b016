#include "ftl/recovery/mirrored_log.h"

#include <algorithm>
#include <array>

#include "base/contract.h"
#include "nand/seen_blocks.h"

namespace flashlab {

namespace {

/// Number of the newest record; 0: the log is empty.
std::uint64_t newest_of(const MetaLog::Recovered& found) {
    if (!found.records.empty()) return found.records.back().number;
    return found.checkpoint ? found.checkpoint->number : 0;
}

bool says_the_same(const MetaLog::Recovered& one, const MetaLog::Recovered& other) {
    const auto number_of = [](const MetaLog::Recovered& found) { return found.checkpoint ? found.checkpoint->number : 0; };
    return number_of(one) == number_of(other) && std::ranges::equal(one.records, other.records, {}, &MetaRecord::number, &MetaRecord::number);
}

} // namespace

MetaArea plan_mirror_area(const NandConfig& nand, const Geometry& geometry, const MetaArea& log) {
    MetaArea mirror = log;
    const SeenBlocks seen{nand};
    for (std::uint32_t column = 0; column < log.width; ++column) {
        const PlaneId plane{geometry.planes() - 1 - column};
        std::uint32_t row = 0;
        for (std::uint32_t index = 0; index < geometry.blocks_per_plane() && row < log.rows; ++index) {
            const BlockId block = geometry.block_at(plane, index);
            if (seen.is_set_aside(block) || log.contains(block)) continue;
            mirror.blocks[std::size_t{row++} * log.width + column] = block;
        }
        if (row < log.rows) return {};
    }
    return mirror;
}

MirroredLog::MirroredLog(MetaArea area, std::optional<MetaArea> mirror, NandArray& array)
    : log_{std::move(area), array}, mirror_{mirror ? std::make_unique<MetaLog>(std::move(*mirror), array) : nullptr} {}

std::expected<MetaLog::Recovered, NandError> MirroredLog::recover(SimTime now) {
    auto found = log_.recover(now);
    if (!mirror_) return found;
    if (!found && found.error().kind == NandErrorKind::host_io) return found;
    auto copy = mirror_->recover(now);
    if (!copy && copy.error().kind == NandErrorKind::host_io) return copy;
    if (!found && !copy) return found;
    const SimTime done = std::max(found ? found->done : found.error().done, copy ? copy->done : copy.error().done);
    const std::uint64_t pages_read = (found ? found->pages_read : 0) + (copy ? copy->pages_read : 0);
    is_even_ = found && copy && says_the_same(*found, *copy);
    const bool takes_copy = !found || (copy && newest_of(*copy) > newest_of(*found));
    auto& taken = takes_copy ? copy : found;
    // A log that does not read may have held everything: an empty one beside it proves nothing.
    if ((!found || !copy) && newest_of(*taken) == 0) return takes_copy ? found : copy;
    if (!found) log_.start_over(done);
    if (!copy) mirror_->start_over(done);
    const std::uint64_t next = std::max(log_.next_number(), mirror_->next_number());
    log_.number_from(next);
    mirror_->number_from(next);
    taken->done = done;
    taken->pages_read = pages_read;
    return std::move(taken);
}

FtlResult<SimTime> MirroredLog::append(std::uint32_t kind, std::span<const std::byte> payload, const Io& io) {
    ensure(is_even_, "M6: logs that differ are made equal by a checkpoint");
    const auto done = log_.append(kind, payload, io);
    if (!mirror_ || !done) return done;
    const auto copied = mirror_->append(kind, payload, io);
    return copied ? FtlResult<SimTime>{std::max(*done, *copied)} : copied;
}

FtlResult<SimTime> MirroredLog::checkpoint(std::span<const std::byte> payload, const Io& io) {
    const auto done = log_.checkpoint(payload, io);
    if (!mirror_ || !done) return done;
    const auto copied = mirror_->checkpoint(payload, io);
    if (!copied) return copied;
    is_even_ = true;
    return std::max(*done, *copied);
}

bool MirroredLog::needs_checkpoint(std::size_t payload_bytes) const {
    return !is_even_ || log_.needs_checkpoint(payload_bytes) || (mirror_ && mirror_->needs_checkpoint(payload_bytes));
}

std::vector<CheckProblem> MirroredLog::check() const {
    std::vector<CheckProblem> out = log_.check();
    if (mirror_) std::ranges::move(mirror_->check(), std::back_inserter(out));
    return out;
}

} // namespace flashlab

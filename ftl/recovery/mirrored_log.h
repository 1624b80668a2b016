/// A log on flash, and, where it is asked for, a second one on other planes that says the same.
///
/// Idea       Every record and checkpoint goes to both logs, at the same time and under the same number. What one cannot read, the other says.
/// Invariant  M5 what append() and checkpoint() promise is in both. M6 after recover() what it returned is what the log with the newest record says;
///            where is_even() is false, the other says less, or nothing that reads: the next write must be a checkpoint, which makes them equal.
///            So nothing that was ever promised, or seen, is lost as long as one log can be read as a whole.
/// Cost       Without a mirror: that of MetaLog. With one: each page twice, side by side; recover() reads both.
/// Power cut  A record may be whole in one log only. It had not ended, so it was promised to nobody: it counts all the same, as in a log alone.
/// Source     Chang et al., III C 2: "the dual buffer in the flash memory could be mirrored to strengthen the resistance to burst errors" (CO9).
#pragma once

#include <memory>
#include <optional>

#include "ftl/recovery/meta_log.h"

namespace flashlab {

/// Blocks for a mirror of a log with these: none of them shared, its columns on the last planes, where the log's are on the first ones.
/// Empty when there are too few good blocks.
[[nodiscard]] MetaArea plan_mirror_area(const NandConfig& nand, const Geometry& geometry, const MetaArea& log);

class MirroredLog {
public:
    /// Without a mirror: the log alone.
    MirroredLog(MetaArea area, std::optional<MetaArea> mirror, NandArray& array);

    /// As MetaLog::recover(). It fails when neither log reads, and when one does not read and the other is empty.
    [[nodiscard]] std::expected<MetaLog::Recovered, NandError> recover(SimTime now);
    /// False: the logs differ (M6). True without a mirror.
    [[nodiscard]] bool is_even() const { return is_even_; }
    /// As those of MetaLog; durable once it is in both.
    [[nodiscard]] FtlResult<SimTime> append(std::uint32_t kind, std::span<const std::byte> payload, const Io& io);
    [[nodiscard]] FtlResult<SimTime> checkpoint(std::span<const std::byte> payload, const Io& io);
    [[nodiscard]] bool needs_checkpoint(std::size_t payload_bytes) const;
    [[nodiscard]] bool can_write() const { return log_.can_write() && (!mirror_ || mirror_->can_write()); }
    [[nodiscard]] bool contains(BlockId block) const { return log_.area().contains(block) || (mirror_ && mirror_->area().contains(block)); }
    [[nodiscard]] std::vector<CheckProblem> check() const;

private:
    MetaLog log_;
    std::unique_ptr<MetaLog> mirror_; ///< null: none
    bool is_even_ = true;
};

} // namespace flashlab

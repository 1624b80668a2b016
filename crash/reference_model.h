/// What each logical page may show after a power cut: every version that the host wrote, and the time from which it is durable.
///
/// Idea       A page's history is a list of versions in order of issue. A version becomes durable by a completed flush, by FUA, or, where the device
///            promises it, by the answer itself. After a cut at T a page shows the newest version durable by T,
///            or any later one that had arrived by T.
/// Invariant  R1 a version is one page of stamped sectors. A page with sectors of two versions,
///            with another page's sectors or with garbage matches no
///               version (C2, C3).
///            R2 a trim is a version like any other, of zeros: data that were trimmed and flushed never come back (C4).
///            R3 a flush covers the requests that had been answered when it arrived (C1), and no others.
/// Cost       32 bytes a version, and 8 bytes for each of its sectors. settle() forgets the versions that no cut can show any more. match() compares
///            at most the allowed versions.
/// Power cut  adopt() makes the version seen after the cut the only past.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/sim_time.h"
#include "ftl/block_device.h"

namespace flashlab {

class ReferenceModel {
public:
    /// When a write or trim becomes durable without a flush.
    enum class Promise : std::uint8_t { when_flushed, when_answered };

    ReferenceModel(std::uint64_t sectors, std::uint32_t unit_bytes, Promise promise);
    [[nodiscard]] static ReferenceModel of(const BlockDevice& device);

    [[nodiscard]] std::uint32_t units() const { return static_cast<std::uint32_t>(histories_.size()); }
    [[nodiscard]] std::uint32_t unit_bytes() const { return sectors_per_unit_ * sector_bytes; }
    [[nodiscard]] Sector sector_of(std::uint32_t unit) const { return Sector{std::uint64_t{unit} * sectors_per_unit_}; }

    /// The payload of the next write. Call wrote() with the same range afterwards. Valid until the next call.
    [[nodiscard]] std::span<const std::byte> stamp(Sector first, std::uint32_t sectors);
    /// `answered` is sim_never for a request that failed: any part of it may have happened.
    void wrote(Sector first, std::uint32_t sectors, SimTime arrived, SimTime answered, WriteDurability durability);
    void trimmed(Sector first, std::uint64_t sectors, SimTime arrived, SimTime answered);
    void flushed(SimTime arrived, SimTime answered);

    /// Tells the model that no cut will lie before `now`.
    void settle(SimTime now);
    /// The version that `page` shows, if a cut at `at` allows it.
    [[nodiscard]] std::optional<std::size_t> match(std::uint32_t unit, std::span<const std::byte> page, SimTime at) const;
    [[nodiscard]] bool shows_newest(std::uint32_t unit, std::span<const std::byte> page) const;
    /// Its newest version is zeros: nothing was written, or all of it was trimmed.
    [[nodiscard]] bool is_trimmed(std::uint32_t unit) const;
    /// Says in words what the page shows and what was allowed.
    [[nodiscard]] std::string explain(std::uint32_t unit, std::span<const std::byte> page, SimTime at) const;
    /// The same where only the newest version was allowed.
    [[nodiscard]] std::string explain_newest(std::uint32_t unit, std::span<const std::byte> page) const;
    /// Makes version `index` (from match()) the only past of the page.
    void adopt(std::uint32_t unit, std::size_t index);
    /// Every moment at which what is allowed changes: arrivals and the times from which versions are durable.
    void append_moments(std::vector<SimTime>& to) const;

private:
    struct Version {
        std::uint64_t content; ///< index of its stamps, in sectors_per_unit_ words
        SimTime arrived;
        SimTime answered;
        SimTime durable = sim_never;
    };
    using History = std::vector<Version>;

    [[nodiscard]] std::span<const std::uint64_t> stamps_of(const Version& version) const;
    [[nodiscard]] std::string seen_on(std::uint32_t unit, std::span<const std::byte> page) const;
    [[nodiscard]] std::string text_of(const Version& version) const;
    [[nodiscard]] bool shows(std::uint32_t unit, std::span<const std::byte> page, const Version& version) const;
    [[nodiscard]] static std::size_t newest_durable(const History& history, SimTime at);
    void change(Sector first, std::uint64_t sectors, const Version& times, bool zeros);
    void collect_contents();

    std::uint32_t sectors_per_unit_;
    Promise promise_;
    std::vector<History> histories_;    ///< by unit; never empty
    std::vector<std::uint64_t> stamps_; ///< of contents; 0 = zeros
    std::uint64_t next_stamp_ = 1;      ///< of the write that comes next
    std::vector<std::byte> payload_;
};

} // namespace flashlab

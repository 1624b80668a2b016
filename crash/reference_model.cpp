#include "crash/reference_model.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/contract.h"

namespace flashlab {

namespace {

constexpr std::size_t words_per_sector = sector_bytes / sizeof(std::uint64_t);

/// A stamped sector repeats two words: the number of the write, and the sector's own address + 1. So a misplaced sector is noticed.
struct SectorStamp {
    std::uint64_t words[2];
};

SectorStamp stamp_of(std::uint64_t write, std::uint64_t sector) { return {{write, write == 0 ? 0 : sector + 1}}; }

bool is_stamped(std::span<const std::byte> sector, const SectorStamp& stamp) {
    // The first two words are right, and each pair of words equals the one before it.
    return std::memcmp(sector.data(), stamp.words, sizeof stamp) == 0 &&
           std::memcmp(sector.data(), sector.data() + sizeof stamp, sector.size() - sizeof stamp) == 0;
}

std::string written(std::uint64_t write) { return write == 0 ? "zeros" : fmt::format("write {}", write); }

/// What all sectors of a unit show, once where it is the same.
std::string joined(std::vector<std::string> sectors) {
    if (std::ranges::all_of(sectors, [&](const std::string& one) { return one == sectors.front(); })) sectors.resize(1);
    return fmt::format("{}", fmt::join(sectors, ", "));
}

} // namespace

ReferenceModel::ReferenceModel(std::uint64_t sectors, std::uint32_t unit_bytes, Promise promise)
    : sectors_per_unit_{unit_bytes / sector_bytes}, promise_{promise},
      histories_(sectors / sectors_per_unit_, History{{0, sim_start, sim_start, sim_start}}), stamps_(sectors_per_unit_) {
    ensure(unit_bytes % sector_bytes == 0 && sectors % sectors_per_unit_ == 0, "a device of whole units of whole sectors");
}

ReferenceModel ReferenceModel::of(const BlockDevice& device) {
    const DeviceIdentity id = device.identify();
    return {id.sectors, id.atomic_unit_bytes, id.volatile_write_cache ? Promise::when_flushed : Promise::when_answered};
}

std::span<const std::byte> ReferenceModel::stamp(Sector first, std::uint32_t sectors) {
    payload_.resize(std::size_t{sectors} * sector_bytes);
    for (std::uint32_t s = 0; s < sectors; ++s) {
        const SectorStamp stamp = stamp_of(next_stamp_, first.value() + s);
        std::byte* at = payload_.data() + std::size_t{s} * sector_bytes;
        for (std::size_t word = 0; word < words_per_sector; word += 2) std::memcpy(at + word * sizeof(std::uint64_t), stamp.words, sizeof stamp);
    }
    return payload_;
}

void ReferenceModel::wrote(Sector first, std::uint32_t sectors, SimTime arrived, SimTime answered, WriteDurability durability) {
    const bool durable = promise_ == Promise::when_answered || durability == WriteDurability::fua;
    change(first, sectors, {0, arrived, answered, durable ? answered : sim_never}, false);
    ++next_stamp_;
}

void ReferenceModel::trimmed(Sector first, std::uint64_t sectors, SimTime arrived, SimTime answered) {
    change(first, sectors, {0, arrived, answered, promise_ == Promise::when_answered ? answered : sim_never}, true);
}

void ReferenceModel::change(Sector first, std::uint64_t sectors, const Version& times, bool zeros) {
    const std::uint64_t end = first.value() + sectors;
    for (std::uint64_t at = first.value(); at < end;) {
        const std::uint64_t unit = at / sectors_per_unit_;
        const std::uint64_t begins = unit * sectors_per_unit_;
        const std::uint64_t stop = std::min(end, begins + sectors_per_unit_);
        History& history = histories_[unit];
        Version version = times;
        if (zeros && stop - at == sectors_per_unit_) {
            version.content = 0;
        } else {
            // Sectors that the request leaves alone stay as the version before had them.
            version.content = stamps_.size();
            const std::uint64_t before = history.back().content;
            for (std::uint64_t s = 0; s < sectors_per_unit_; ++s) {
                const bool changed = begins + s >= at && begins + s < stop;
                stamps_.push_back(changed ? (zeros ? 0 : next_stamp_) : stamps_[before + s]);
            }
        }
        history.push_back(version);
        at = stop;
    }
}

void ReferenceModel::flushed(SimTime arrived, SimTime answered) {
    for (History& history : histories_) {
        for (Version& version : history) {
            if (version.answered <= arrived) version.durable = std::min(version.durable, answered);
        }
    }
}

std::size_t ReferenceModel::newest_durable(const History& history, SimTime at) {
    for (std::size_t i = history.size(); i-- > 1;) {
        if (history[i].durable <= at) return i;
    }
    return 0; // what was adopted, or the zeros of a new device
}

void ReferenceModel::settle(SimTime now) {
    for (History& history : histories_) history.erase(history.begin(), history.begin() + static_cast<std::ptrdiff_t>(newest_durable(history, now)));
    collect_contents();
}

/// Drops the contents that no version names any more. Called seldom enough to cost O(1) a version.
void ReferenceModel::collect_contents() {
    std::size_t versions = 0;
    for (const History& history : histories_) versions += history.size();
    if (stamps_.size() < 4 * (versions + 1) * sectors_per_unit_) return;
    std::vector<std::uint64_t> kept(sectors_per_unit_);
    for (History& history : histories_) {
        for (Version& version : history) {
            if (version.content == 0) continue;
            const auto stamps = stamps_of(version);
            version.content = kept.size();
            kept.insert(kept.end(), stamps.begin(), stamps.end());
        }
    }
    stamps_ = std::move(kept);
}

std::span<const std::uint64_t> ReferenceModel::stamps_of(const Version& version) const {
    return std::span{stamps_}.subspan(version.content, sectors_per_unit_);
}

bool ReferenceModel::shows(std::uint32_t unit, std::span<const std::byte> page, const Version& version) const {
    const auto stamps = stamps_of(version);
    for (std::uint32_t s = 0; s < sectors_per_unit_; ++s) {
        if (!is_stamped(page.subspan(std::size_t{s} * sector_bytes, sector_bytes), stamp_of(stamps[s], std::uint64_t{unit} * sectors_per_unit_ + s)))
            return false;
    }
    return true;
}

std::optional<std::size_t> ReferenceModel::match(std::uint32_t unit, std::span<const std::byte> page, SimTime at) const {
    const History& history = histories_[unit];
    const std::size_t from = newest_durable(history, at);
    for (std::size_t i = history.size(); i-- > from;) {
        // Version 0 is the adopted past: no cut can come before its arrival.
        if ((i == 0 || history[i].arrived <= at) && shows(unit, page, history[i])) return i;
    }
    return std::nullopt;
}

bool ReferenceModel::shows_newest(std::uint32_t unit, std::span<const std::byte> page) const { return shows(unit, page, histories_[unit].back()); }

bool ReferenceModel::is_trimmed(std::uint32_t unit) const {
    return std::ranges::all_of(stamps_of(histories_[unit].back()), [](std::uint64_t stamp) { return stamp == 0; });
}

std::string ReferenceModel::explain(std::uint32_t unit, std::span<const std::byte> page, SimTime at) const {
    std::string allowed;
    const History& history = histories_[unit];
    for (std::size_t i = newest_durable(history, at); i < history.size(); ++i) {
        if (i != 0 && history[i].arrived > at) continue;
        allowed += (allowed.empty() ? "" : " or ") + text_of(history[i]);
    }
    return fmt::format("unit {} shows {}; allowed: {}", unit, seen_on(unit, page), allowed);
}

std::string ReferenceModel::explain_newest(std::uint32_t unit, std::span<const std::byte> page) const {
    return fmt::format("unit {} shows {}; allowed: {}", unit, seen_on(unit, page), text_of(histories_[unit].back()));
}

std::string ReferenceModel::seen_on(std::uint32_t unit, std::span<const std::byte> page) const {
    std::vector<std::string> seen;
    for (std::uint32_t s = 0; s < sectors_per_unit_; ++s) {
        const auto sector = page.subspan(std::size_t{s} * sector_bytes, sector_bytes);
        SectorStamp found;
        std::memcpy(found.words, sector.data(), sizeof found);
        const std::uint64_t own = std::uint64_t{unit} * sectors_per_unit_ + s;
        const bool whole = is_stamped(sector, found) && found.words[0] < next_stamp_;
        if (!whole || (found.words[0] == 0 && found.words[1] != 0))
            seen.emplace_back("garbage");
        else
            seen.push_back(written(found.words[0]) +
                           (found.words[0] == 0 || found.words[1] == own + 1 ? "" : fmt::format(" of sector {}", found.words[1] - 1)));
    }
    return joined(seen);
}

std::string ReferenceModel::text_of(const Version& version) const {
    std::vector<std::string> sectors;
    for (const std::uint64_t write : stamps_of(version)) sectors.push_back(written(write));
    return joined(sectors);
}

void ReferenceModel::adopt(std::uint32_t unit, std::size_t index) {
    History& history = histories_[unit];
    ensure(index < history.size(), "a version of the page's history");
    history = {{history[index].content, sim_start, sim_start, sim_start}};
}

void ReferenceModel::append_moments(std::vector<SimTime>& to) const {
    for (const History& history : histories_) {
        for (std::size_t i = 1; i < history.size(); ++i) {
            to.push_back(history[i].arrived);
            if (history[i].durable != sim_never) to.push_back(history[i].durable);
        }
    }
}

} // namespace flashlab

/// The tracks of a timeline: where a slice goes so that none overlaps another by halves.
///
/// Idea       A resource has a first track. A slice that would begin within another and outlast it goes to the next one.
/// Invariant  Slices come in the order of their beginnings. Those of one track lie apart or nested.
/// Cost       A short stack a track; the tracks are tried in turn.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace flashlab {

class TimelineTracks {
public:
    static constexpr std::uint32_t most = 4096;
    /// The track of a slice, 0 being the first; none where it would overlap what is on each of the most.
    std::optional<std::uint32_t> place(std::int64_t from, std::int64_t to) {
        for (std::uint32_t track = 0; track < open_.size(); ++track)
            if (fits(open_[track], from, to)) return track;
        if (open_.size() == most) return std::nullopt;
        open_.push_back({to});
        return static_cast<std::uint32_t>(open_.size() - 1);
    }
    [[nodiscard]] std::size_t count() const { return open_.size(); }

private:
    static bool fits(std::vector<std::int64_t>& ends, std::int64_t from, std::int64_t to) {
        while (!ends.empty() && ends.back() <= from) ends.pop_back();
        if (!ends.empty() && ends.back() < to) return false;
        ends.push_back(to);
        return true;
    }
    std::vector<std::vector<std::int64_t>> open_; ///< ends of what is open on a track, the innermost last
};

} // namespace flashlab

/// Times by turn that only grow, as far as they are known: which turn comes first whose time may lie before some instant?
///
/// Idea       A tournament tree: each node holds the least time of the turns below it. A known time is a lower bound; who looks at a turn finds the
///            true one, and raises what is known.
/// Invariant  No known time is later than the true one, so a turn that is passed over could not have been chosen.
/// Cost       O(log turns) a question and a raise; 16 bytes a turn. Looking at every turn is linear in the dies.
/// Power cut  RAM only: after a mount nothing is known.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/contract.h"
#include "base/sim_time.h"

namespace flashlab {

class EarliestTurn {
public:
    explicit EarliestTurn(std::size_t turns) : leaves_{std::bit_ceil(turns)}, least_(2 * leaves_, sim_never) {
        for (std::size_t turn = 0; turn < turns; ++turn) raise(static_cast<std::uint32_t>(turn), sim_start);
    }
    /// The first turn from `from` on, before `end`, whose known time lies before `instant`; `end` when there is none.
    [[nodiscard]] std::uint32_t first_before(SimTime instant, std::uint32_t from, std::uint32_t end) const {
        if (from >= end) return end;
        std::size_t node = leaves_ + from;
        while (least_[node] >= instant) { // up, and to the right, past what is not before it
            while (node % 2 != 0) node /= 2;
            if (node == 0) return end; // `from` was on the right edge all the way up
            ++node;
        }
        while (node < leaves_) node = 2 * node + (least_[2 * node] < instant ? 0 : 1);
        return std::min(static_cast<std::uint32_t>(node - leaves_), end);
    }
    /// The turn's time is at least this.
    void raise(std::uint32_t turn, SimTime time) {
        std::size_t node = leaves_ + turn;
        ensure(node < least_.size(), "a turn that there is");
        for (least_[node] = time; node > 1;) {
            node /= 2;
            const SimTime least = std::min(least_[2 * node], least_[2 * node + 1]);
            if (least_[node] == least) return;
            least_[node] = least;
        }
    }

private:
    std::size_t leaves_;
    std::vector<SimTime> least_; ///< of node n: of 2n and 2n + 1; turn t is node leaves_ + t
};

} // namespace flashlab

/// Scrubbing: data that bit errors would reach are written anew in time, and those of a die that is dead.
///
/// Idea       Three signs: a read of a block took ftl.scrub_retries retries; its data are ftl.scrub_days old, which a controller knows; with
///            nand.rain a die of the block is dead. Such blocks are relocated one at a time, beside the host.
/// Invariant  S1 of a block without new signs nothing moves. S2 what would take as many retries if it were new is no sign.
/// Cost       A question a request; a pass over the blocks an hour of simulated time, and after grow_older(); a relocation copies a block.
/// Power cut  Keeps nothing: ages are in the block records, and reads show their retries again.
/// Source     Common practice; Cai et al., DSN 2015, for read disturb.
#pragma once

#include "ftl/blocks/relocations.h"

namespace flashlab {

struct ScrubConfig {
    std::uint32_t retries = 0; ///< 0: no sign
    std::uint32_t days = 0;    ///< 0: no sign
    [[nodiscard]] bool is_on() const { return retries != 0 || days != 0; }
    friend bool operator==(const ScrubConfig&, const ScrubConfig&) = default;
};

class Scrubber {
public:
    Scrubber(const ScrubConfig& config, Ftl& ftl, NandArray& array) : config_{config}, array_{array}, moves_{ftl, array, Cause::scrub} {}
    /// One relocation at most; the next wake-up time, sim_never when nothing is known to be in need.
    SimTime step(SimTime now);
    /// The data have become older than the clock tells: the next step looks at all.
    void look_soon() { look_at_ = sim_start; }
    [[nodiscard]] std::uint64_t scrubbed_blocks() const { return moves_.relocated_blocks(); }

private:
    /// Nothing waits to be moved.
    void look(SimTime now);

    ScrubConfig config_;
    NandArray& array_;
    Relocations moves_;
    SimTime look_at_ = sim_start;
};

} // namespace flashlab

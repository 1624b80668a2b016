#include "ftl/blocks/scrubber.h"

#include "base/id.h"

namespace flashlab {

namespace {
constexpr Duration look_every = std::chrono::hours{1};
}

void Scrubber::look(SimTime now) {
    look_at_ = now + look_every;
    for (const BlockId block : ids<BlockId>(array_.geometry().blocks()))
        if (array_.days_since_program(block, now) >= config_.days && array_.write_pointer(block) != 0) moves_.push(block);
}

SimTime Scrubber::step(SimTime now) {
    if (moves_.empty() && !moves_.is_under_way(now)) {
        while (const auto tired = array_.take_tired())
            if (config_.retries != 0 && tired->retries >= config_.retries) moves_.push(tired->block);
        while (const auto degraded = array_.take_degraded()) moves_.push(*degraded, true);
        if (config_.days != 0 && moves_.empty() && now >= look_at_) look(now);
    }
    return moves_.step(now);
}

} // namespace flashlab

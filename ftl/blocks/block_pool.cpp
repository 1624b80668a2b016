#include "ftl/blocks/block_pool.h"

#include <algorithm>

#include "base/contract.h"
#include "ftl/blocks/less_worn.h"

namespace flashlab {

BlockPool::BlockPool(NandArray& array, std::uint32_t planes)
    : array_{array}, planes_{planes}, free_{array.geometry()}, ready_(array.geometry().blocks(), sim_start), failing_(array.geometry().blocks()) {}

void BlockPool::add(BlockId block, bool is_erased) {
    ++good_;
    if (is_erased)
        free_.add_erased(block);
    else
        free_.add_garbage(block);
}

std::optional<PlaneId> BlockPool::choose(PlaneId plane, SimTime now) const {
    const auto ready_at = [this](PlaneId p) {
        const auto block = free_.next_of(p);
        return block ? ready_[block->value()] : sim_never;
    };
    if (ready_at(plane) <= now) return plane;
    std::optional<PlaneId> best;
    SimTime best_at = sim_never;
    for (std::uint32_t i = 0; i < planes_; ++i) {
        const PlaneId p{(plane.value() + i) % planes_};
        if (free_.count(p) == 0 || (best && ready_at(p) >= best_at)) continue;
        best = p;
        best_at = ready_at(p);
    }
    return best;
}

/// Among the blocks whose erase has ended; the others would be waited for.
void BlockPool::bring_forward(PlaneId plane, SimTime now) {
    if (order_ == TakeOrder::in_turn) return;
    free_.bring_forward(plane, [&](BlockId a, BlockId b) {
        const bool ready = ready_[a.value()] <= now;
        if (ready != (ready_[b.value()] <= now)) return ready;
        const LessWorn less_worn{array_};
        return order_ == TakeOrder::least_worn ? less_worn(a, b) : less_worn(b, a);
    });
}

FtlResult<BlockPool::Taken> BlockPool::take(PlaneId plane, const Io& io) {
    for (;;) {
        const auto from = choose(plane, io.when);
        if (!from) return std::unexpected(FtlError{FtlErrorKind::no_free_block, Lpn{0}, io.when});
        bring_forward(*from, io.when);
        const FreeBlock taken = *free_.take(*from);
        if (taken.erased) return Taken{taken.block, std::max(io.when, ready_[taken.block.value()])};
        // What a ring has given back is not touched before the ring's table leaves it out.
        const auto erased = array_.erase(taken.block, io.at(std::max(io.when, ready_[taken.block.value()])));
        if (erased) return Taken{taken.block, *erased};
        if (erased.error().kind == NandErrorKind::host_io) {
            free_.add_garbage(taken.block);
            return std::unexpected(FtlError{FtlErrorKind::host_io, Lpn{0}, erased.error().done, erased.error().host_errno});
        }
        if (auto lost = lose(taken.block, erased.error().done); !lost) return std::unexpected(lost.error());
    }
}

std::optional<BlockExchange::Lent> BlockPool::offer(PlaneId plane) {
    if (plane.value() >= planes_ || free_.count(plane) == 0) return std::nullopt;
    free_.bring_forward(plane, LessWorn{array_});
    const BlockId block = *free_.next_of(plane);
    return Lent{block, ready_[block.value()]};
}

void BlockPool::lend(BlockId offered) {
    ensure(free_.take(array_.geometry().plane_of(offered))->block == offered, "what was offered is lent");
    --good_;
}

void BlockPool::give(BlockId block, SimTime ready) {
    ready_[block.value()] = ready;
    last_end_ = std::max(last_end_, ready);
    add(block, false);
}

FtlResult<SimTime> BlockPool::give_back(BlockId block, const Io& io) {
    if (is_failing(block) || array_.is_bad(block)) {
        if (auto lost = lose(block, io.when); !lost) return std::unexpected(lost.error());
        return io.when;
    }
    const auto erased = array_.erase(block, io);
    if (erased) {
        ready_[block.value()] = *erased;
        last_end_ = std::max(last_end_, *erased);
        free_.add_erased(block);
        return *erased;
    }
    if (erased.error().kind == NandErrorKind::host_io) {
        free_.add_garbage(block);
        return std::unexpected(FtlError{FtlErrorKind::host_io, Lpn{0}, erased.error().done, erased.error().host_errno});
    }
    if (auto lost = lose(block, erased.error().done); !lost) return std::unexpected(lost.error());
    return erased.error().done;
}

FtlResult<void> BlockPool::lose(BlockId block, SimTime now) {
    --good_;
    ++lost_;
    ++retired_;
    failing_[block.value()] = 1;
    if (auto marked = array_.mark_bad(block, now); !marked)
        return std::unexpected(FtlError{FtlErrorKind::host_io, Lpn{0}, std::max(now, marked.error().done), marked.error().host_errno});
    return {};
}

std::vector<BlockId> BlockPool::erased_blocks() const {
    std::vector<BlockId> out;
    for (std::uint32_t p = 0; p < planes_; ++p) {
        const auto of_plane = free_.erased_of(PlaneId{p});
        out.insert(out.end(), of_plane.begin(), of_plane.end());
    }
    return out;
}

std::vector<BlockId> BlockPool::garbage_blocks() const {
    std::vector<BlockId> out;
    for (std::uint32_t p = 0; p < planes_; ++p) {
        const auto of_plane = free_.garbage_of(PlaneId{p});
        out.insert(out.end(), of_plane.begin(), of_plane.end());
    }
    return out;
}

} // namespace flashlab

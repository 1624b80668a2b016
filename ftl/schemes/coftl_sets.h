/// Who uses which physical block set, and the queue of those that nobody uses.
///
/// Idea       One record a set; chains are linked backwards through it. Free sets wait in a ring, first in, first out; the first `listed` of them
///            stand in the log's newest version and are the only ones that may be taken (CO10: a set erased since is not reused before the next one).
/// Invariant  S1 a set is free and in the ring once, or used by one virtual block, or lost to a bad block. S2 births grow in the order of taking; the
///            i-th listed set has birth first + i, so that whoever finds a page knows from which life of its set it comes.
/// Cost       O(1); 24 bytes a set.
/// Power cut  RAM only, rebuilt from the log's version and the listed sets' first pages.
#pragma once

#include <vector>

#include "base/contract.h"
#include "ftl/schemes/coftl_ids.h"

namespace flashlab {

class CoftlSets {
public:
    enum class Use : std::uint8_t { unknown, free, used, lost };
    struct Info {
        std::uint64_t birth = 0;
        VirtualBlockId vb = no_virtual_block;
        SetId previous = no_set; ///< the set before it in its chain
        ChainIndex index = primary_index;
        Use use = Use::unknown;
        bool erased = true; ///< false: erased again before it is used
    };
    static_assert(sizeof(Info) == 24, "the bytes a set that Cost tells of");

    explicit CoftlSets(std::uint32_t sets) : infos_(sets), ring_(sets, no_set) {}
    [[nodiscard]] const Info& of(SetId set) const { return infos_[set.value()]; }
    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(infos_.size()); }
    [[nodiscard]] std::uint32_t free() const { return free_; }
    [[nodiscard]] std::uint32_t listed() const { return listed_; }
    [[nodiscard]] std::uint32_t lost() const { return lost_; }
    [[nodiscard]] std::uint64_t next_birth() const { return next_birth_; }
    /// The i-th free set from the front.
    [[nodiscard]] SetId free_at(std::uint32_t i) const { return ring_[(front_ + i) % ring_.size()]; }

    void restart(std::uint64_t next_birth) { next_birth_ = next_birth; }
    /// The first `listed` free sets now stand in the log.
    void list(std::uint32_t listed) {
        ensure(listed <= free_, "listed sets are free");
        listed_ = listed;
    }
    void add_free(SetId set, bool erased) {
        infos_[set.value()] = Info{.use = Use::free, .erased = erased};
        ring_[(front_ + free_) % ring_.size()] = set;
        ++free_;
    }
    /// The oldest free set; it is used, or lost, by what the caller does next.
    SetId take() {
        ensure(listed_ > 0, "only a listed set is taken");
        const SetId set = ring_[front_];
        front_ = (front_ + 1) % static_cast<std::uint32_t>(ring_.size());
        --free_;
        --listed_;
        infos_[set.value()].use = Use::unknown;
        infos_[set.value()].birth = next_birth_++;
        return set;
    }
    void use(SetId set, VirtualBlockId vb, ChainIndex index, SetId previous) {
        Info& i = infos_[set.value()];
        i.use = Use::used;
        i.vb = vb;
        i.index = index;
        i.previous = previous;
        i.erased = false;
    }
    void use_again(SetId set, VirtualBlockId vb, ChainIndex index, SetId previous, std::uint64_t birth) {
        use(set, vb, index, previous);
        infos_[set.value()].birth = birth;
    }
    /// Out of its chain; free or lost next.
    void leave(SetId set) { infos_[set.value()].use = Use::unknown; }
    void lose(SetId set) {
        infos_[set.value()] = Info{.use = Use::lost, .erased = false};
        ++lost_;
    }

private:
    std::vector<Info> infos_;
    std::vector<SetId> ring_;
    std::uint32_t front_ = 0;
    std::uint32_t free_ = 0;
    std::uint32_t listed_ = 0;
    std::uint32_t lost_ = 0;
    std::uint64_t next_birth_ = 1;
};

} // namespace flashlab

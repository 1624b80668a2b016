#include "ftl/cache/reuse_curve.h"

#include <algorithm>
#include <cmath>

#include "base/contract.h"

namespace flashlab {

ReuseCurve::ReuseCurve(std::span<const std::uint64_t> sizes, std::uint64_t records)
    : ReuseCurve{sizes, records, {.least = 1, .keys = ~std::uint64_t{0}}} {
    is_weighed_ = false;
}

ReuseCurve::ReuseCurve(std::span<const std::uint64_t> sizes, std::uint64_t records, const Weighed& weighed)
    : least_{weighed.least}, is_weighed_{true} {
    ensure(!sizes.empty() && std::ranges::is_sorted(sizes), "a curve has sizes that rise");
    const std::uint64_t fit = std::max<std::uint64_t>(sizes.back() / least_, 1);
    const double rate =
        records >= weighed.keys ? 1 : std::min(1.0, static_cast<double>(std::max<std::uint64_t>(records, 1)) / static_cast<double>(fit));
    most_hash_ = rate < 1 ? static_cast<std::uint64_t>(rate * 0x1p64) : ~std::uint64_t{0};
    each_stands_for_ = 1 / rate;
    for (const std::uint64_t size : sizes)
        parts_.push_back({.size = static_cast<std::uint64_t>(std::floor(static_cast<double>(size) * rate)), .found = {}});
    nodes_.resize(std::min(parts_.back().size / least_, weighed.keys) + 1); // one is on its way from one end to the other
    for (std::size_t n = nodes_.size(); n-- != 0;) unused_.push_back(static_cast<std::uint32_t>(n));
    index_.reserve(nodes_.size());
}

void ReuseCurve::unlink(std::uint32_t node) {
    Node& n = nodes_[node];
    Part& part = parts_[n.part];
    part.weighs -= n.weighs;
    if (part.oldest == node) part.oldest = part.weighs == 0 ? none : n.newer;
    if (n.newer != none)
        nodes_[n.newer].older = n.older;
    else
        newest_ = n.older;
    if (n.older != none) nodes_[n.older].newer = n.newer;
}

/// What is too much up to a cut goes over it; the last one drops it. Of keys of one size one goes over each cut down to where the key was.
void ReuseCurve::push_newest(std::uint32_t node) {
    nodes_[node].newer = none;
    nodes_[node].older = newest_;
    nodes_[node].part = 0;
    if (newest_ != none) nodes_[newest_].newer = node;
    newest_ = node;
    parts_[0].weighs += nodes_[node].weighs;
    if (parts_[0].oldest == none) parts_[0].oldest = node;
    std::uint64_t up_to = 0;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        Part& part = parts_[p];
        up_to += part.weighs;
        if (up_to <= part.size && !is_weighed_) return;
        while (up_to > part.size && part.oldest != none) {
            const std::uint32_t moved = part.oldest;
            up_to -= nodes_[moved].weighs;
            if (p + 1 == parts_.size()) {
                unlink(moved);
                index_.erase(nodes_[moved].key);
                unused_.push_back(moved);
                continue;
            }
            part.weighs -= nodes_[moved].weighs;
            part.oldest = part.weighs == 0 ? none : nodes_[moved].newer;
            nodes_[moved].part = static_cast<std::uint32_t>(p + 1);
            parts_[p + 1].weighs += nodes_[moved].weighs;
            if (parts_[p + 1].oldest == none) parts_[p + 1].oldest = moved;
        }
    }
}

/// The part in which the key was; none where it was nowhere.
std::uint32_t ReuseCurve::touch(std::uint32_t key, bool takes_in, std::uint32_t weighs) {
    if (const auto at = index_.find(key); at != index_.end()) {
        const std::uint32_t node = at->second, part = nodes_[node].part;
        unlink(node);
        if (weighs != 0) nodes_[node].weighs = std::max(weighs, least_);
        push_newest(node);
        return part;
    }
    if (takes_in) {
        const std::uint32_t node = unused_.back();
        unused_.pop_back();
        nodes_[node].key = key;
        nodes_[node].weighs = std::max(weighs, least_);
        index_.emplace(key, node);
        push_newest(node);
    }
    return none;
}

void ReuseCurve::read(std::uint32_t key, double weight, bool takes_in, std::uint32_t weighs) {
    if (!is_sampled(key)) return;
    const std::uint32_t part = touch(key, takes_in, weighs);
    (part == none ? nowhere_ : parts_[part].found).reads += weight * each_stands_for_;
}

void ReuseCurve::write(std::uint32_t key, bool takes_in, std::uint32_t weighs) {
    if (!is_sampled(key)) return;
    const std::uint32_t part = touch(key, takes_in, weighs);
    (part == none ? nowhere_ : parts_[part].found).writes += each_stands_for_;
}

double ReuseCurve::take(std::span<MissCount> counts) {
    ensure(counts.size() == parts_.size(), "a count for each size");
    MissCount missed = nowhere_;
    nowhere_ = {};
    for (std::size_t p = parts_.size(); p-- != 0;) {
        counts[p].reads += missed.reads;
        counts[p].writes += missed.writes;
        missed.reads += parts_[p].found.reads;
        missed.writes += parts_[p].found.writes;
        parts_[p].found = {};
    }
    return each_stands_for_;
}

int ReuseCurve::broken_invariant() const {
    std::size_t part = 0, all = 0;
    std::uint64_t in_part = 0, up_to = 0;
    for (std::uint32_t n = newest_; n != none; n = nodes_[n].older, ++all) {
        for (; nodes_[n].part != part; ++part, in_part = 0)
            if (part + 1 >= parts_.size() || parts_[part].weighs != in_part) return 1;
        in_part += nodes_[n].weighs;
        up_to += nodes_[n].weighs;
        if (up_to > parts_[part].size) return 1;
        const auto at = index_.find(nodes_[n].key);
        if (at == index_.end() || at->second != n || !is_sampled(nodes_[n].key)) return 2;
    }
    return parts_[part].weighs == in_part && all == index_.size() ? 0 : 2;
}

} // namespace flashlab

#include "fs/node_space.h"

#include <cstring>

namespace flashlab {

namespace {

constexpr std::uint32_t node_words = node_bytes / 8;

/// Calls f(first word, words) for each run of words in which the two nodes differ.
template <class F>
void for_changed_runs(const std::byte* now, const std::byte* before, F&& f) {
    const auto differs = [&](std::uint32_t word) { return std::memcmp(now + word * 8, before + word * 8, 8) != 0; };
    std::uint32_t word = 0;
    while (word < node_words) {
        if (word % 8 == 0 && std::memcmp(now + word * 8, before + word * 8, 64) == 0) {
            word += 8;
            continue;
        }
        if (!differs(word)) {
            ++word;
            continue;
        }
        const std::uint32_t first = word;
        while (word < node_words && differs(word)) ++word;
        f(first, word - first);
    }
}

} // namespace

NodeSpace::NodeSpace(std::span<const std::byte> node_cells, PramAddress nodes_home, std::span<const std::byte> bitmap_cells, PramAddress bitmap_home,
                     std::uint32_t nodes)
    : cells_{node_cells.data()}, home_{nodes_home}, nodes_{nodes}, bitmap_{bitmap_cells, bitmap_home, nodes}, copy_of_(nodes) {
    ensure(node_cells.size() >= std::size_t{nodes} * node_bytes, "NodeSpace: the cells hold all nodes");
    touched_.reserve(64);
}

NodeEditor NodeSpace::edit(std::uint32_t node) {
    ensure(in_use(node), "a node that changes is in use");
    std::uint16_t& copy = copy_of_[node - 1];
    if (copy == 0) {
        ensure(touched_.size() < 0xffff, "one transaction touches fewer than 65535 nodes");
        if (touched_.size() == copies_.size()) copies_.push_back(std::make_unique<Copy>());
        std::memcpy(copies_[touched_.size()]->data(), cells_ + std::size_t{node - 1} * node_bytes, node_bytes);
        touched_.push_back(node);
        copy = static_cast<std::uint16_t>(touched_.size());
    }
    return NodeEditor{copies_[copy - 1u]->data()};
}

std::uint32_t NodeSpace::allocate(std::uint32_t level) {
    const PramBitmap::Run run = bitmap_.find_clear(next_free_hint_, 1);
    ensure(run.bits == 1, "NodeSpace: a free node, when one is taken");
    bitmap_.set(run, true);
    const auto node = static_cast<std::uint32_t>(run.first + 1);
    next_free_hint_ = node;
    edit(node).format(node, level);
    return node;
}

void NodeSpace::release(std::uint32_t node) {
    ensure(in_use(node), "a node that is freed is in use");
    bitmap_.set({node - 1, 1}, false);
    if (node - 1 < next_free_hint_) next_free_hint_ = node - 1;
}

void NodeSpace::append_changes(PramTransaction& to) const {
    for (std::size_t i = 0; i < touched_.size(); ++i) {
        const std::uint32_t node = touched_[i];
        if (!in_use(node)) continue; // freed: its bytes mean nothing any more
        const std::uint64_t offset = std::uint64_t{node - 1} * node_bytes;
        const std::byte* now = copies_[i]->data();
        for_changed_runs(now, cells_ + offset, [&](std::uint32_t first, std::uint32_t words) {
            to.write(PramAddress{home_.value() + offset + first * 8}, {now + first * 8, words * 8});
        });
    }
    bitmap_.append_changes(to);
}

std::uint64_t NodeSpace::changed_bytes_bound() const {
    std::uint64_t bytes = bitmap_.changed_bytes_bound();
    for (std::size_t i = 0; i < touched_.size(); ++i) {
        if (!in_use(touched_[i])) continue;
        for_changed_runs(copies_[i]->data(), cells_ + std::size_t{touched_[i] - 1} * node_bytes,
                         [&](std::uint32_t, std::uint32_t words) { bytes += words * 8 + RedoLog::write_overhead; });
    }
    return bytes;
}

void NodeSpace::drop_copies() {
    for (const std::uint32_t node : touched_) copy_of_[node - 1] = 0;
    touched_.clear();
}

void NodeSpace::forget_changes() {
    bitmap_.forget_changes();
    drop_copies();
}

void NodeSpace::undo_changes() {
    bitmap_.undo_changes();
    drop_copies();
    next_free_hint_ = 0;
}

} // namespace flashlab

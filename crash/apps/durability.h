/// What is durable at a point of a history: what a power cut there cannot take, whatever it chooses.
///
/// Idea       The syncs before the cut are followed in order. Each model of Persistence says what a sync reaches: of what stood there when it began.
///            What another thread did while it was under way may have come too late for it.
/// Invariant  Durable stays durable: for a later cut every part of this is at least as much.
/// Cost       One pass over the lines before the cut.
/// Source     crash/apps/persistence.h
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "crash/apps/past.h"
#include "crash/apps/persistence.h"

namespace flashlab {

class Durability {
public:
    /// `cut`: so many lines were answered.
    Durability(const Past& past, const Persistence& model, std::uint32_t cut);

    /// Of names and of what the journal orders like names: every such line before this one is durable.
    [[nodiscard]] std::uint32_t names_until() const { return names_until_; }
    [[nodiscard]] bool name_is_durable(std::uint32_t line) const { return line < names_until_ || (!forced_.empty() && forced_[line]); }
    /// Of the content and the size of a file.
    [[nodiscard]] std::uint32_t data_until(std::uint64_t ino) const;
    /// Of a line about content, size or attributes; a sync of data alone need not reach attributes.
    [[nodiscard]] bool data_is_durable(std::uint32_t line) const;

private:
    [[nodiscard]] std::span<const std::uint32_t> names_between(std::uint32_t from, std::uint32_t to) const;
    [[nodiscard]] std::uint32_t reach_of(std::uint32_t sync) const;
    void sync_file(std::uint32_t end, std::uint64_t ino, bool data_only);
    void sync_directory(std::uint32_t end, std::uint64_t ino);
    void force(std::uint32_t line);
    void force_ancestors(std::uint64_t directory, std::uint32_t before);
    void age(std::uint32_t cut);

    const Past& past_;
    const Persistence& model_;
    std::uint32_t names_until_ = 0, all_data_until_ = 0;
    std::vector<bool> forced_;
    std::unordered_map<std::uint64_t, std::uint32_t> data_until_, attributes_until_;
};

} // namespace flashlab

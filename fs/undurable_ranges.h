/// Ranges that write-back has committed and that a kill would still lose: their commit waits for its record in the journal.
///
/// Idea       The ranges are in the order of their commits. A range whose commit is in a record leaves at the front.
/// Cost       One range for each run of pages of a job, until the next record. Nothing where a commit is durable by itself (PRAM).
#pragma once

#include <deque>

#include "fs/file_system.h"
#include "fs/metadata_store.h"

namespace flashlab {

class UndurableRanges {
public:
    explicit UndurableRanges(const MetadataStore& store) : store_{store} {}
    /// Adds a range that belongs to the store's last commit. Ranges of one file that follow one another become one.
    void add(Ino ino, std::uint64_t offset, std::uint64_t bytes);
    /// Appends the ranges that a kill would lose now.
    void append_to(std::vector<UnsyncedRange>& ranges) const;
    [[nodiscard]] std::size_t size() const { return ranges_.size(); }

private:
    struct Committed {
        CommitMark mark;
        UnsyncedRange range;
    };
    [[nodiscard]] bool is_kept(const CommitMark& mark) const { return store_.durable_at(mark) != sim_never; }

    const MetadataStore& store_;
    std::deque<Committed> ranges_;
};

} // namespace flashlab

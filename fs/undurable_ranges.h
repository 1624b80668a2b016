/// What write-backs have committed and a kill still takes: the commit lies in a journal whose record is not written yet.
///
/// Idea       Ranges in the order of their commits; those whose commit has its record leave at the front.
/// Cost       A range a run of pages of a job, until the next record. Nothing where a commit is durable by itself (PRAM).
/// Power cut  Keeps nothing.
#pragma once

#include <deque>

#include "fs/file_system.h"
#include "fs/metadata_store.h"

namespace flashlab {

class UndurableRanges {
public:
    explicit UndurableRanges(const MetadataStore& store) : store_{store} {}
    /// Named by the store's last commit. Ranges of one file that follow one another are one.
    void add(Ino ino, std::uint64_t offset, std::uint64_t bytes);
    /// Appends what a kill would take now.
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

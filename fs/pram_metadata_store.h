/// The metadata store on PRAM: a B+tree of 4 KiB nodes and a bitmap of data pages, changed word by word through one redo log.
///
/// Idea       A transaction edits private copies of nodes. Commit logs only the words that differ from the cells.
/// Invariant  S1 records lie in the order of their keys, in a leaf's slots and over the leaves. S2 an interior entry's key is the lower bound of its
///            child; the first one's is (0, 0, 0) and stands for the node's own bound.
///            S3 every node in use is reached once from the root, and its bit is set; no other bit is.
///            S4 no node in use is empty, its records lie inside it and do not overlap, its header counts are right.
///            S5 all leaves have the same depth.
///            S6 the free counts in RAM equal the bitmaps in PRAM. S7 the reserve is touched only after use_reserve().
/// Cost       get: one binary search a level, straight in the cells. put, erase: a handful of words beside the record; a split copies half a node.
///            RAM: the two bitmaps (1 bit a data page), two bytes a node, the copies of one transaction.
/// Power cut  Committed transactions survive in order (redo log); open() finishes the words at home.
/// Source     Bayer, McCreight, "Organization and Maintenance of Large Ordered Indices", 1972; unsorted leaves with a slot array against PCM wear:
///            Chen, Gibbons, Nath, "Rethinking Database Algorithms for Phase Change Memory", CIDR 2011. We keep the slots sorted and reuse holes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "fs/metadata_store.h"
#include "pram/pram.h"
#include "pram/redo_log.h"

namespace flashlab {

/// What mkfs decides.
struct MetadataFormat {
    std::uint64_t data_pages = 0;
    std::uint32_t data_page_bytes = 4096;
    std::string label; ///< at most max_label_bytes
    FileTime created;
    std::uint64_t uuid_seed = 0; ///< the identity of this file system follows from it
};

class PramMetadataStore final : public MetadataStore {
public:
    static constexpr std::size_t max_label_bytes = 63;

    /// How much of a device's PRAM the metadata should get: 1/32 of the data, but 64 MiB to 2 GiB.
    [[nodiscard]] static std::uint64_t suggested_bytes(std::uint64_t data_bytes);
    /// Makes an empty store by writing a superblock. `range` must be all zero and aligned to 4 KiB.
    [[nodiscard]] static std::expected<void, std::string> format(Pram& pram, PramRange range, const MetadataFormat& wanted);
    /// Recovers by the redo log and opens. An empty, foreign, newer, truncated or damaged image is left untouched,
    /// and the error says what is wrong with it.
    [[nodiscard]] static std::expected<std::unique_ptr<PramMetadataStore>, std::string> open(Pram& pram, PramRange range, SimTime now);
    ~PramMetadataStore() override;

    // --- the superblock ---------------------------------------------------------------------------------------------------------
    [[nodiscard]] std::string label() const;
    /// ENAMETOOLONG for more than max_label_bytes. Like the two marks below, it must not be called inside a transaction.
    [[nodiscard]] FsResult<SimTime> set_label(std::string_view label, SimTime now);
    [[nodiscard]] std::array<std::byte, 16> uuid() const;
    [[nodiscard]] FileTime created() const;
    [[nodiscard]] std::uint32_t data_page_bytes() const;
    [[nodiscard]] bool was_clean() const;       ///< as open() found it; a fresh store is clean
    [[nodiscard]] std::uint64_t mounts() const; ///< number of mark_dirty() calls ever: an epoch
    [[nodiscard]] FsResult<SimTime> mark_dirty(SimTime now);
    [[nodiscard]] FsResult<SimTime> mark_clean(SimTime now);
    [[nodiscard]] const LogRecovery& recovery() const;

    // --- MetadataStore ------------------------------------------------------------------------------------------------------------
    void begin() override;
    [[nodiscard]] FsResult<void> put(const RecordKey& key, std::span<const std::byte> value) override;
    [[nodiscard]] FsResult<bool> erase(const RecordKey& key) override;
    void roll_back() override;
    [[nodiscard]] FsResult<SimTime> commit(SimTime now, EventId parent) override;
    [[nodiscard]] CommitMark last_commit() const override;
    [[nodiscard]] SimTime durable_at(const CommitMark& mark) const override { return mark.at; }
    [[nodiscard]] FsResult<SimTime> make_durable(const CommitMark& mark, SimTime now) override { return std::max(now, mark.at); }
    [[nodiscard]] SimTime tick(SimTime) override { return sim_never; }
    /// Called with the words of every commit, when they are in the cells: for a store that keeps these cells as a mirror.
    using ChangeObserver = std::function<void(const PramTransaction&)>;
    void observe(ChangeObserver observer);
    void use_reserve() override;
    [[nodiscard]] bool get(const RecordKey& key, std::span<const std::byte>& value) const override;
    void scan(const RecordKey& from, const RecordKey& to, const Visitor& visit) const override;
    [[nodiscard]] bool find_at_or_before(const RecordKey& key, const RecordKey& floor, RecordKey& found,
                                         std::span<const std::byte>& value) const override;
    [[nodiscard]] std::uint64_t data_pages() const override;
    [[nodiscard]] std::uint64_t data_pages_in_use() const override;
    [[nodiscard]] bool data_page_in_use(LogicalPage page) const override;
    [[nodiscard]] PageRun find_free_run(LogicalPage hint, std::uint64_t wanted) const override;
    /// ContractViolation when a page of the run already has the wanted state.
    void set_data_pages(PageRun run, bool in_use) override;
    void promise(std::uint64_t bytes) override;
    [[nodiscard]] std::uint64_t bytes_total() const override;
    [[nodiscard]] std::uint64_t bytes_free() const override;
    [[nodiscard]] std::vector<CheckProblem> check() const override;

    /// True: half of a log record is used. One log record holds one transaction. A caller with much to do (thousands of records to erase, runs of
    /// hundreds of thousands of pages) asks after each step, and commits when the answer is true. put() and erase() answer E2BIG when the record is
    /// full; so does commit(), after rolling back.
    [[nodiscard]] bool transaction_is_large() const;
    /// Longest run that set_data_pages() may change in a transaction that is not large before the call.
    [[nodiscard]] std::uint64_t max_run_in_transaction() const;

private:
    class Impl;
    explicit PramMetadataStore(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace flashlab

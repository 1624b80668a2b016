/// The metadata store without PRAM: the tree is in memory, and changed blocks go through a journal on the device itself.
///
/// Idea       The tree and the bitmaps are the same as on PRAM, but their cells are a mirror in memory. A commit changes the mirror. make_durable()
///            flushes the device, then writes all blocks changed since the last record as one record with FUA. When the ring is full, its blocks are
///            written to their fixed place on the device (home).
/// Invariant  J1 the durable state is the state after some commit: a record holds all changes up to one moment.
///            J2 a block is written home only as its record has it, and the ring is reused only when home is flushed.
///            J3 one record or checkpoint at a time.
/// Cost       A commit: memory only. A record: a flush and the changed blocks. Memory: the used part of the mirror, and the ring's blocks.
/// Power cut  Some prefix of the commits survives, at least what the last finished make_durable() covers (C11, journal).
/// Source     Hagmann, "Reimplementing the Cedar File System Using Logging and Group Commit", SOSP 1987; block journals as in Linux' jbd2.
#pragma once

#include <memory>

#include "fs/pram_metadata_store.h"

namespace flashlab {

class JournalMemory;

class JournalMetadataStore final : public MetadataStore {
public:
    [[nodiscard]] static std::expected<void, std::string> format(BlockDevice& device, std::uint32_t page_bytes, const MetadataFormat& wanted,
                                                                 SimTime now);
    /// Reads the home and replays the ring; `now` becomes the time at which that is done. tick() makes commits durable that are older than `age`.
    /// `lent`: memory that outlives the store, instead of its own.
    [[nodiscard]] static std::expected<std::unique_ptr<JournalMetadataStore>, std::string> open(BlockDevice& device, Duration age, SimTime& now,
                                                                                                JournalMemory* lent = nullptr);
    ~JournalMetadataStore() override;

    /// The store of the file system's superblock and of the tree. Changes through it are commits, too.
    [[nodiscard]] PramMetadataStore& tree();
    /// The first sector of the data pages.
    [[nodiscard]] std::uint64_t data_sector() const;
    [[nodiscard]] std::uint64_t records_written() const;
    [[nodiscard]] std::uint64_t checkpoints() const;

    void begin() override;
    [[nodiscard]] FsResult<void> put(const RecordKey& key, std::span<const std::byte> value) override;
    [[nodiscard]] FsResult<bool> erase(const RecordKey& key) override;
    void roll_back() override;
    /// Answers `now`, although the commit is not durable yet: see make_durable().
    [[nodiscard]] FsResult<SimTime> commit(SimTime now, EventId parent) override;
    [[nodiscard]] CommitMark last_commit() const override;
    [[nodiscard]] SimTime durable_at(const CommitMark& mark) const override;
    [[nodiscard]] FsResult<SimTime> make_durable(const CommitMark& mark, SimTime now) override;
    [[nodiscard]] SimTime tick(SimTime now) override;
    void use_reserve() override;
    [[nodiscard]] bool get(const RecordKey& key, std::span<const std::byte>& value) const override;
    void scan(const RecordKey& from, const RecordKey& to, const Visitor& visit) const override;
    [[nodiscard]] bool find_at_or_before(const RecordKey& key, const RecordKey& floor, RecordKey& found,
                                         std::span<const std::byte>& value) const override;
    [[nodiscard]] std::uint64_t data_pages() const override;
    [[nodiscard]] std::uint64_t data_pages_in_use() const override;
    [[nodiscard]] bool data_page_in_use(LogicalPage page) const override;
    [[nodiscard]] PageRun find_free_run(LogicalPage hint, std::uint64_t wanted) const override;
    void set_data_pages(PageRun run, bool in_use) override;
    void promise(std::uint64_t bytes) override;
    [[nodiscard]] std::uint64_t bytes_total() const override;
    [[nodiscard]] std::uint64_t bytes_free() const override;
    [[nodiscard]] std::vector<CheckProblem> check() const override;

private:
    class Impl;
    explicit JournalMetadataStore(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace flashlab

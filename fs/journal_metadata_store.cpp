#include "fs/journal_metadata_store.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "base/contract.h"
#include "fs/device_errno.h"
#include "fs/journal_format.h"
#include "fs/journal_memory.h"

namespace flashlab {

namespace {

constexpr std::uint64_t blocks_of_one_transaction = 96; ///< nodes, bitmaps and superblock that the largest may touch

Sector sector_at(std::uint64_t byte) { return Sector{byte / sector_bytes}; }
PramConfig mirror_of(std::uint64_t bytes) { return {.bytes = bytes, .word_bytes = 8, .word_read = Duration{1}, .word_write = Duration{1}}; }

/// Why the metadata cannot be read, and what helps.
std::string text_of(const DeviceError& error) {
    const bool is_of_host = error.kind == DeviceErrorKind::host_io && error.host_errno != EBADMSG;
    if (is_of_host)
        return fmt::format("the metadata cannot be read from nand.img: {}; look at the host's disk and memory, then mount again",
                           std::strerror(error.host_errno));
    return fmt::format("nand.img is damaged: the metadata cannot be read at sector {}; 'flashlab fsck --repair' may mend it, else put back copies of "
                       "both images that were made together",
                       error.where.value());
}

} // namespace

class JournalMetadataStore::Impl {
public:
    using Block = std::array<std::byte, journal_block_bytes>;
    enum class Phase : std::uint8_t { idle, flushing, recording, going_home, flushing_home, starting_ring };

    Impl(BlockDevice& device, const JournalSuperblock& parts, Duration age, JournalMemory* lent)
        : device_{device}, parts_{parts}, age_{age}, memory_{lent != nullptr ? *lent : own_memory_},
          cells_{memory_.take(parts.home_blocks * journal_block_bytes)},
          pram_{mirror_of(parts.home_blocks * journal_block_bytes), cells_, none_, PramUndo::none}, is_dirty_(parts.home_blocks),
          sequence_{parts.first_sequence} {}
    ~Impl() { memory_.give_back(); }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    [[nodiscard]] PramRange mirror() const { return {.at = PramAddress{0}, .bytes = parts_.home_blocks * journal_block_bytes}; }
    [[nodiscard]] std::expected<void, std::string> open_tree(SimTime now) {
        auto opened = PramMetadataStore::open(pram_, mirror(), now);
        if (!opened) return std::unexpected(opened.error());
        tree_ = std::move(*opened);
        tree_->observe([this](const PramTransaction& changes) { note(changes); });
        return {};
    }
    [[nodiscard]] std::expected<void, std::string> load(SimTime& now);

    void note(const PramTransaction& changes) {
        for (const PramTransaction::Write& w : changes.writes()) {
            const std::uint64_t last = (w.at.value() + w.bytes - 1) / journal_block_bytes;
            for (std::uint64_t block = w.at.value() / journal_block_bytes; block <= last; ++block) mark_dirty(static_cast<std::uint32_t>(block));
        }
        ++commits_;
    }
    void mark_dirty(std::uint32_t block) {
        if (is_dirty_[block]) return;
        is_dirty_[block] = true;
        dirty_.push_back(block);
    }
    [[nodiscard]] std::uint64_t dirty_limit() const {
        const std::uint64_t fits = parts_.ring_blocks - 2 - parts_.ring_blocks / 1024;
        return fits > blocks_of_one_transaction ? fits - blocks_of_one_transaction : 1;
    }
    [[nodiscard]] FsResult<SimTime> commit(SimTime now, EventId parent) {
        // The next record must hold this transaction, too. Room is made first, so that no commit stays that was answered as failed. This runs ahead
        // of the clock as far as it must, since no caller can wait inside a commit.
        while (dirty_.size() >= dirty_limit()) {
            const auto moved = make_durable({.number = commits_}, std::max(now, due_));
            if (moved || moved.error().is_again()) continue;
            tree_->roll_back();
            return moved;
        }
        if (const auto committed = tree_->commit(now, parent); !committed) return committed;
        note_age(now);
        return now;
    }
    void note_age(SimTime now) {
        if (oldest_ == sim_never && commits_ > durable_) oldest_ = now;
    }
    [[nodiscard]] SimTime durable_at(const CommitMark& mark) const {
        if (mark.number <= durable_) return durable_time_; // of the newest of them: a commit ahead of the clock makes it lie in the future
        return phase_ == Phase::recording && mark.number <= recorded_ ? due_ : sim_never;
    }
    [[nodiscard]] FsResult<SimTime> make_durable(const CommitMark& mark, SimTime now);
    [[nodiscard]] FsResult<void> step(SimTime now);
    [[nodiscard]] FsResult<void> write_record(SimTime now);
    [[nodiscard]] FsResult<void> write_home(SimTime now);
    [[nodiscard]] FsResult<void> write_superblock(SimTime now);
    [[nodiscard]] FsResult<void> flush(Phase next, SimTime now) {
        const auto done = device_.flush(now);
        if (!done) return std::unexpected(errno_of(done.error()));
        phase_ = next;
        due_ = *done;
        return {};
    }
    [[nodiscard]] SimTime tick(SimTime now);

    BlockDevice& device_;
    JournalSuperblock parts_;
    Duration age_;
    JournalMemory own_memory_;
    JournalMemory& memory_;
    MemoryPramStore& cells_;
    NullEventSink none_;
    Pram pram_;
    std::unique_ptr<PramMetadataStore> tree_;
    std::vector<bool> is_dirty_;
    std::vector<std::uint32_t> dirty_;       ///< changed since the last record
    std::map<std::uint32_t, Block> in_ring_; ///< as the newest record has them
    std::uint64_t ring_used_ = 0;            ///< blocks
    std::uint64_t sequence_;                 ///< of the next record
    std::uint64_t commits_ = 0, recorded_ = 0, durable_ = 0;
    Phase phase_ = Phase::idle;
    SimTime due_ = sim_start;          ///< when the phase is done; ahead of the clock where a commit had to make room
    SimTime durable_time_ = sim_start; ///< when everything up to durable_ is
    SimTime oldest_ = sim_never;       ///< commit that is not durable
    std::uint64_t records_ = 0, checkpoints_ = 0;
};

std::expected<void, std::string> JournalMetadataStore::Impl::load(SimTime& now) {
    const auto failed = [](const DeviceError& error) { return std::unexpected(text_of(error)); };
    const std::uint64_t bytes = parts_.home_blocks * journal_block_bytes;
    SimTime end = now;
    for (const LbaRange& range : device_.lba_status(sector_at(parts_.home_at()), bytes / sector_bytes)) {
        if (!range.mapped) continue;
        const std::uint64_t at = range.first.value() * sector_bytes - parts_.home_at();
        const auto read =
            device_.read(range.first, static_cast<std::uint32_t>(range.sectors), cells_.cells().subspan(at, range.sectors * sector_bytes), now);
        if (!read) return failed(read.error());
        memory_.note_written(at, range.sectors * sector_bytes);
        end = std::max(end, *read);
    }
    const std::span ring = memory_.ring(std::size_t{parts_.ring_blocks} * journal_block_bytes); // the read fills all of it
    const auto read = device_.read(sector_at(parts_.ring_at()), static_cast<std::uint32_t>(ring.size() / sector_bytes), ring, now);
    if (!read) return failed(read.error());
    now = std::max(end, *read);
    while (const auto record = decode_journal_record(ring.subspan(ring_used_ * journal_block_bytes), sequence_)) {
        for (std::size_t i = 0; i < record->blocks.size(); ++i) {
            const std::uint32_t block = record->blocks[i];
            if (block >= parts_.home_blocks)
                return std::unexpected(
                    std::string{"nand.img is damaged: a record of the journal names a block beyond the metadata; restore the image from a copy"});
            const auto image = record->images.subspan(i * journal_block_bytes, journal_block_bytes);
            std::ranges::copy(image, in_ring_[block].begin());
            std::ranges::copy(image, cells_.cells().begin() + static_cast<std::ptrdiff_t>(std::size_t{block} * journal_block_bytes));
            memory_.note_written(std::uint64_t{block} * journal_block_bytes, journal_block_bytes);
        }
        ring_used_ += record->ring_blocks;
        ++sequence_;
    }
    own_memory_.drop_ring();
    return open_tree(now);
}

FsResult<SimTime> JournalMetadataStore::Impl::make_durable(const CommitMark& mark, SimTime now) {
    while (durable_ < mark.number) {
        if (due_ > now) return std::unexpected(again_at(due_)); // also when idle: no record may overtake one that was written ahead of the clock
        if (const auto moved = step(now); !moved) {
            phase_ = Phase::idle;
            return std::unexpected(moved.error());
        }
    }
    if (durable_time_ > now) return std::unexpected(again_at(durable_time_));
    return now;
}

FsResult<void> JournalMetadataStore::Impl::step(SimTime now) {
    switch (phase_) {
    case Phase::idle:
        if (ring_used_ + journal_record_blocks(dirty_.size() + blocks_of_one_transaction) > parts_.ring_blocks && ring_used_ != 0)
            return write_home(now);
        return flush(Phase::flushing, now);
    case Phase::flushing:
        if (ring_used_ + journal_record_blocks(dirty_.size()) > parts_.ring_blocks && ring_used_ != 0) return write_home(now); // grew meanwhile
        return write_record(now);
    case Phase::recording:
        durable_ = recorded_;
        durable_time_ = due_;
        oldest_ = commits_ > durable_ ? now : sim_never;
        phase_ = Phase::idle;
        return {};
    case Phase::going_home:
        return flush(Phase::flushing_home, now);
    case Phase::flushing_home:
        return write_superblock(now);
    case Phase::starting_ring:
        in_ring_.clear();
        ring_used_ = 0;
        phase_ = Phase::idle;
        return {};
    }
    return {};
}

FsResult<void> JournalMetadataStore::Impl::write_record(SimTime now) {
    std::ranges::sort(dirty_);
    std::vector<std::byte> images;
    images.reserve(dirty_.size() * journal_block_bytes);
    for (const std::uint32_t block : dirty_) {
        const auto cells = cells_.cells().subspan(std::size_t{block} * journal_block_bytes, journal_block_bytes);
        images.insert(images.end(), cells.begin(), cells.end());
    }
    const auto record = encode_journal_record(sequence_, dirty_, images);
    ensure(ring_used_ + record.size() / journal_block_bytes <= parts_.ring_blocks, "JournalMetadataStore: a record fits the ring");
    const auto sectors = static_cast<std::uint32_t>(record.size() / sector_bytes);
    const auto done = device_.write(sector_at(parts_.ring_at() + ring_used_ * journal_block_bytes), sectors, record, WriteDurability::fua, now);
    if (!done) return std::unexpected(errno_of(done.error()));
    for (std::size_t i = 0; i < dirty_.size(); ++i) {
        std::ranges::copy(std::span{images}.subspan(i * journal_block_bytes, journal_block_bytes), in_ring_[dirty_[i]].begin());
        is_dirty_[dirty_[i]] = false;
    }
    dirty_.clear();
    ring_used_ += record.size() / journal_block_bytes;
    ++sequence_;
    ++records_;
    recorded_ = commits_;
    phase_ = Phase::recording;
    due_ = *done;
    return {};
}

FsResult<void> JournalMetadataStore::Impl::write_home(SimTime now) {
    SimTime end = now;
    for (const auto& [block, image] : in_ring_) {
        const auto done = device_.write(sector_at(parts_.home_at() + std::uint64_t{block} * journal_block_bytes), journal_block_bytes / sector_bytes,
                                        image, WriteDurability::volatile_ok, now);
        if (!done) return std::unexpected(errno_of(done.error()));
        end = std::max(end, *done);
    }
    ++checkpoints_;
    phase_ = Phase::going_home;
    due_ = end;
    return {};
}

FsResult<void> JournalMetadataStore::Impl::write_superblock(SimTime now) {
    JournalSuperblock next = parts_;
    next.first_sequence = sequence_;
    std::array<std::byte, sector_bytes> sector{};
    next.encode(std::span{sector}.first<JournalSuperblock::encoded_size>());
    const auto done = device_.write(Sector{0}, 1, sector, WriteDurability::fua, now);
    if (!done) return std::unexpected(errno_of(done.error()));
    parts_ = next;
    phase_ = Phase::starting_ring;
    due_ = *done;
    return {};
}

SimTime JournalMetadataStore::Impl::tick(SimTime now) {
    note_age(now); // of a change of the superblock, which is no transaction
    const bool is_due = phase_ != Phase::idle || dirty_.size() > dirty_limit() / 2 || (oldest_ != sim_never && oldest_ + age_ <= now);
    if (!is_due) return oldest_ == sim_never ? sim_never : oldest_ + age_;
    const auto moved = make_durable({.number = commits_}, now);
    if (moved) return sim_never;
    return moved.error().is_again() ? moved.error().again : now + age_;
}

JournalMetadataStore::JournalMetadataStore(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
JournalMetadataStore::~JournalMetadataStore() = default;

std::expected<void, std::string> JournalMetadataStore::format(BlockDevice& device, std::uint32_t page_bytes, const MetadataFormat& wanted,
                                                              SimTime now) {
    const auto parts = JournalSuperblock::lay_out(device.identify().sectors * sector_bytes, page_bytes);
    if (!parts) return std::unexpected(parts.error());
    Impl impl{device, *parts, Duration{0}, nullptr};
    MetadataFormat format = wanted;
    format.data_pages = parts->data_pages;
    format.data_page_bytes = page_bytes;
    if (const auto formatted = PramMetadataStore::format(impl.pram_, impl.mirror(), format); !formatted) return formatted;
    // After the trim the device reads as zeros, as a new tree needs it. Then the tree's superblock is written straight home. The journal's own
    // superblock comes last: with it the file system exists.
    const auto emptied = device.trim(Sector{0}, device.identify().sectors, now);
    const auto flushed = emptied ? device.flush(*emptied) : emptied;
    if (!flushed) return std::unexpected(std::string{"the device cannot be emptied"});
    const auto written = device.write(sector_at(parts->home_at()), journal_block_bytes / sector_bytes, impl.cells_.cells().first(journal_block_bytes),
                                      WriteDurability::fua, *flushed);
    if (!written) return std::unexpected(std::string{"the metadata cannot be written"});
    if (!impl.write_superblock(*written)) return std::unexpected(std::string{"the journal's superblock cannot be written"});
    return {};
}

std::expected<std::unique_ptr<JournalMetadataStore>, std::string> JournalMetadataStore::open(BlockDevice& device, Duration age, SimTime& now,
                                                                                             JournalMemory* lent) {
    std::array<std::byte, sector_bytes> sector;
    const auto read = device.read(Sector{0}, 1, sector, now);
    if (!read) return std::unexpected(text_of(read.error()));
    now = *read;
    const auto parts = JournalSuperblock::decode(std::span{sector}.first<JournalSuperblock::encoded_size>());
    if (!parts) return std::unexpected(parts.error());
    const std::uint64_t bytes = device.identify().sectors * sector_bytes;
    if (parts->data_at() > bytes || parts->data_pages > (bytes - parts->data_at()) / parts->page_bytes)
        return std::unexpected(
            std::string{"the metadata belong to a larger device: nand.img is truncated or of another mkfs; restore it from a copy"});
    auto impl = std::make_unique<Impl>(device, *parts, age, lent);
    if (const auto loaded = impl->load(now); !loaded) return std::unexpected(loaded.error());
    if (impl->tree_->data_pages() != parts->data_pages)
        return std::unexpected(
            std::string{"nand.img is damaged: journal and tree of the metadata name different devices; restore the image from a copy"});
    return std::unique_ptr<JournalMetadataStore>{new JournalMetadataStore{std::move(impl)}};
}

PramMetadataStore& JournalMetadataStore::tree() { return *impl_->tree_; }
std::uint64_t JournalMetadataStore::data_sector() const { return impl_->parts_.data_at() / sector_bytes; }
std::uint64_t JournalMetadataStore::records_written() const { return impl_->records_; }
std::uint64_t JournalMetadataStore::checkpoints() const { return impl_->checkpoints_; }
void JournalMetadataStore::begin() { impl_->tree_->begin(); }
FsResult<void> JournalMetadataStore::put(const RecordKey& key, std::span<const std::byte> value) { return impl_->tree_->put(key, value); }
FsResult<bool> JournalMetadataStore::erase(const RecordKey& key) { return impl_->tree_->erase(key); }
void JournalMetadataStore::roll_back() { impl_->tree_->roll_back(); }
FsResult<SimTime> JournalMetadataStore::commit(SimTime now, EventId parent) { return impl_->commit(now, parent); }
CommitMark JournalMetadataStore::last_commit() const { return {.number = impl_->commits_, .at = sim_start}; }
SimTime JournalMetadataStore::durable_at(const CommitMark& mark) const { return impl_->durable_at(mark); }
FsResult<SimTime> JournalMetadataStore::make_durable(const CommitMark& mark, SimTime now) { return impl_->make_durable(mark, now); }
SimTime JournalMetadataStore::tick(SimTime now) { return impl_->tick(now); }
void JournalMetadataStore::use_reserve() { impl_->tree_->use_reserve(); }
bool JournalMetadataStore::get(const RecordKey& key, std::span<const std::byte>& value) const { return impl_->tree_->get(key, value); }
void JournalMetadataStore::scan(const RecordKey& from, const RecordKey& to, const Visitor& visit) const { impl_->tree_->scan(from, to, visit); }
bool JournalMetadataStore::find_at_or_before(const RecordKey& key, const RecordKey& floor, RecordKey& found,
                                             std::span<const std::byte>& value) const {
    return impl_->tree_->find_at_or_before(key, floor, found, value);
}
std::uint64_t JournalMetadataStore::data_pages() const { return impl_->tree_->data_pages(); }
std::uint64_t JournalMetadataStore::data_pages_in_use() const { return impl_->tree_->data_pages_in_use(); }
bool JournalMetadataStore::data_page_in_use(LogicalPage page) const { return impl_->tree_->data_page_in_use(page); }
MetadataStore::PageRun JournalMetadataStore::find_free_run(LogicalPage hint, std::uint64_t wanted) const {
    return impl_->tree_->find_free_run(hint, wanted);
}
void JournalMetadataStore::set_data_pages(PageRun run, bool in_use) { impl_->tree_->set_data_pages(run, in_use); }
void JournalMetadataStore::promise(std::uint64_t bytes) { impl_->tree_->promise(bytes); }
std::uint64_t JournalMetadataStore::bytes_total() const { return impl_->tree_->bytes_total(); }
std::uint64_t JournalMetadataStore::bytes_free() const { return impl_->tree_->bytes_free(); }
std::vector<CheckProblem> JournalMetadataStore::check() const { return impl_->tree_->check(); }

} // namespace flashlab

#include "fs/pram_metadata_store.h"

#include <cstring>

#include <fmt/format.h>

#include "base/contract.h"
#include "base/random.h"
#include "fs/btree.h"
#include "fs/format.h"
#include "fs/node_space.h"
#include "fs/pram_bitmap.h"

namespace flashlab {

namespace {

PramAddress in_range(PramRange range, std::uint64_t offset) { return PramAddress{range.at.value() + offset}; }

std::span<const std::byte> view_of(const Pram& pram, PramRange range, std::uint64_t offset, std::uint64_t bytes) {
    return pram.view(in_range(range, offset), bytes);
}

std::array<std::byte, 16> uuid_from(std::uint64_t seed) {
    Random random{seed};
    std::array<std::byte, 16> uuid;
    store_le(std::span{uuid}.first<8>(), random.next());
    store_le(std::span{uuid}.subspan<8>(), random.next());
    uuid[6] = (uuid[6] & std::byte{0x0f}) | std::byte{0x80}; // RFC 9562, version 8: our own making
    uuid[8] = (uuid[8] & std::byte{0x3f}) | std::byte{0x80};
    return uuid;
}

/// Nodes kept back for unlink, write-back and recovery.
std::uint32_t reserve_of(std::uint32_t nodes) { return std::clamp(nodes / 64, std::min(4u, nodes / 4), 256u); }

} // namespace

class PramMetadataStore::Impl {
public:
    Impl(Pram& pram, PramRange range, const SuperblockIdentity& identity, SuperblockState state, std::unique_ptr<RedoLog> log, LogRecovery recovery)
        : pram_{pram}, range_{range}, identity_{identity}, state_{std::move(state)}, was_clean_{!state_.dirty}, log_{std::move(log)},
          recovery_{recovery}, pages_{view_of(pram, range, identity.page_bitmap_offset, identity.node_bitmap_offset - identity.page_bitmap_offset),
                                      in_range(range, identity.page_bitmap_offset), identity.data_pages},
          nodes_{view_of(pram, range, identity.nodes_offset, std::uint64_t{identity.nodes} * node_bytes), in_range(range, identity.nodes_offset),
                 view_of(pram, range, identity.node_bitmap_offset, identity.nodes_offset - identity.node_bitmap_offset),
                 in_range(range, identity.node_bitmap_offset), identity.nodes},
          tree_{nodes_, {state_.root, state_.height}}, reserve_{reserve_of(identity.nodes)}, last_durable_{recovery.done} {}

    void begin() {
        ensure(!open_, "one metadata transaction at a time (M3)");
        open_ = true;
        may_use_reserve_ = false;
    }

    FsResult<void> put(const RecordKey& key, std::span<const std::byte> value) {
        ensure(open_, "put() inside a transaction");
        ensure(value.size() <= max_record_bytes, "a record's value is at most max_record_bytes");
        // `value` may be a span that get() returned, and the tree moves records about.
        std::ranges::copy(value, value_.begin());
        const std::uint32_t spare = may_use_reserve_ ? 0 : reserve_ + promised_;
        if (tree_.put(key, std::span{value_}.first(value.size()), spare) == BTree::PutResult::no_space) return std::unexpected(FsError{ENOSPC});
        if (log_bytes_above(log_->max_record_bytes())) return std::unexpected(FsError{E2BIG});
        return {};
    }

    FsResult<bool> erase(const RecordKey& key) {
        ensure(open_, "erase() inside a transaction");
        const bool was_there = tree_.erase(key);
        if (was_there && log_bytes_above(log_->max_record_bytes())) return std::unexpected(FsError{E2BIG});
        return was_there;
    }

    void roll_back() {
        ensure(open_, "roll_back() inside a transaction");
        nodes_.undo_changes();
        pages_.undo_changes();
        tree_.set_root({state_.root, state_.height});
        open_ = false;
    }

    FsResult<SimTime> commit(SimTime now, EventId parent) {
        ensure(open_, "commit() inside a transaction");
        changes_.clear();
        nodes_.append_changes(changes_);
        pages_.append_changes(changes_);
        SuperblockState next = state_;
        next.root = tree_.root().node;
        next.height = tree_.root().height;
        if (next != state_) append_state(next);
        const auto durable = write_changes(now, parent);
        if (!durable) {
            roll_back();
            return durable;
        }
        state_ = std::move(next);
        nodes_.forget_changes();
        pages_.forget_changes();
        open_ = false;
        return durable;
    }

    FsResult<SimTime> change_state(const SuperblockState& next, SimTime now) {
        ensure(!open_, "the superblock changes between transactions");
        if (next == state_) return std::max(now, last_durable_);
        changes_.clear();
        append_state(next);
        const auto durable = write_changes(now, no_event);
        if (durable) state_ = next;
        return durable;
    }

    [[nodiscard]] SimTime durable_at() const { return last_durable_; }

    [[nodiscard]] bool log_bytes_above(std::uint64_t limit) const {
        const std::uint64_t rest = RedoLog::record_overhead + RedoLog::write_overhead + SuperblockState::encoded_size + pages_.changed_bytes_bound();
        if (nodes_.changed_bytes_guess() + rest <= limit) return false;
        return nodes_.changed_bytes_bound() + rest > limit;
    }

    std::vector<CheckProblem> check() const {
        ensure(!open_, "check() runs between transactions");
        std::vector<CheckProblem> problems;
        tree_.check(problems);
        if (std::string wrong = nodes_.bitmap().problem(); !wrong.empty()) problems.push_back({"S6", "node bitmap", std::move(wrong)});
        if (std::string wrong = pages_.problem(); !wrong.empty()) problems.push_back({"S6", "data page bitmap", std::move(wrong)});
        const auto stored =
            SuperblockState::decode(view_of(pram_, range_, state_offset, SuperblockState::encoded_size).first<SuperblockState::encoded_size>());
        if (!stored) {
            problems.push_back({"S6", "superblock", stored.error()});
        } else if (*stored != state_) {
            problems.push_back({"S6", "superblock", "the state in PRAM is not the one in use"});
        }
        return problems;
    }

    Pram& pram_;
    PramRange range_;
    SuperblockIdentity identity_;
    SuperblockState state_; ///< as committed
    bool was_clean_;
    std::unique_ptr<RedoLog> log_;
    LogRecovery recovery_;
    PramBitmap pages_;
    NodeSpace nodes_;
    BTree tree_;
    std::uint32_t reserve_;
    std::uint32_t promised_ = 0; ///< nodes
    ChangeObserver observer_;
    bool open_ = false;
    bool may_use_reserve_ = false;

private:
    void append_state(const SuperblockState& next) {
        std::array<std::byte, SuperblockState::encoded_size> raw;
        next.encode(raw);
        changes_.write(in_range(range_, state_offset), raw);
    }

    FsResult<SimTime> write_changes(SimTime now, EventId parent) {
        // Nothing changed, but the answer must not come before the commits that it read are durable.
        if (changes_.empty()) return std::max(now, last_durable_);
        const auto durable = log_->commit(changes_, now, parent);
        if (!durable) return std::unexpected(FsError{E2BIG});
        last_durable_ = *durable;
        if (observer_) observer_(changes_);
        return *durable;
    }

    SimTime last_durable_;
    PramTransaction changes_;
    std::array<std::byte, max_record_bytes> value_;
};

PramMetadataStore::PramMetadataStore(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
PramMetadataStore::~PramMetadataStore() = default;

std::uint64_t PramMetadataStore::suggested_bytes(std::uint64_t data_bytes) {
    constexpr std::uint64_t mib = 1024 * 1024;
    return std::clamp(data_bytes / 32 / node_bytes * node_bytes, 64 * mib, 2048 * mib);
}

std::expected<void, std::string> PramMetadataStore::format(Pram& pram, PramRange range, const MetadataFormat& wanted) {
    if (range.at.value() % node_bytes != 0 || range.at.value() > pram.config().bytes || range.bytes > pram.config().bytes - range.at.value())
        return std::unexpected(
            fmt::format("the metadata's PRAM range {}+{} does not fit the PRAM of {} bytes", range.at.value(), range.bytes, pram.config().bytes));
    if (wanted.label.size() > max_label_bytes || wanted.label.find('\0') != std::string::npos)
        return std::unexpected(fmt::format("a label is at most {} bytes without NUL", max_label_bytes));
    auto identity = SuperblockIdentity::lay_out(range.bytes, wanted.data_pages);
    if (!identity) return std::unexpected(identity.error());
    identity->uuid = uuid_from(wanted.uuid_seed);
    identity->data_page_bytes = wanted.data_page_bytes;
    identity->created = wanted.created;
    SuperblockState state;
    state.label = wanted.label;
    std::array<std::byte, SuperblockState::encoded_size> raw_state;
    state.encode(raw_state);
    std::array<std::byte, SuperblockIdentity::encoded_size> raw_identity;
    identity->encode(raw_identity);
    (void)pram.write(PramUser::fs, in_range(range, state_offset), raw_state, sim_start);
    (void)pram.write(PramUser::fs, in_range(range, 0), raw_identity, sim_start); // last: its checksum says that mkfs came to its end
    return {};
}

std::expected<std::unique_ptr<PramMetadataStore>, std::string> PramMetadataStore::open(Pram& pram, PramRange range, SimTime now) {
    if (range.bytes < superblock_bytes || range.at.value() > pram.config().bytes || range.bytes > pram.config().bytes - range.at.value())
        return std::unexpected(fmt::format("the image is truncated: the metadata's range {}+{} goes beyond its {} bytes", range.at.value(),
                                           range.bytes, pram.config().bytes));
    const auto superblock = view_of(pram, range, 0, superblock_bytes);
    const auto identity = SuperblockIdentity::decode(superblock.first<SuperblockIdentity::encoded_size>());
    if (!identity) return std::unexpected(identity.error());
    if (identity->range_bytes > range.bytes)
        return std::unexpected(
            fmt::format("the image is truncated: the metadata need {} bytes of PRAM, there are {}", identity->range_bytes, range.bytes));
    auto log = std::make_unique<RedoLog>(pram, PramUser::fs, PramRange{in_range(range, identity->log_offset), identity->log_bytes});
    const LogRecovery recovery = log->recover(now);
    auto state = SuperblockState::decode(superblock.subspan<state_offset, SuperblockState::encoded_size>());
    if (!state) return std::unexpected(state.error());
    if ((state->root == 0) != (state->height == 0) || state->root > identity->nodes)
        return std::unexpected(fmt::format("the superblock is damaged: the root is node {} of {}", state->root, identity->nodes));
    return std::unique_ptr<PramMetadataStore>{
        new PramMetadataStore{std::make_unique<Impl>(pram, range, *identity, std::move(*state), std::move(log), recovery)}};
}

std::string PramMetadataStore::label() const { return impl_->state_.label; }
std::array<std::byte, 16> PramMetadataStore::uuid() const { return impl_->identity_.uuid; }
FileTime PramMetadataStore::created() const { return impl_->identity_.created; }
std::uint32_t PramMetadataStore::data_page_bytes() const { return impl_->identity_.data_page_bytes; }
bool PramMetadataStore::was_clean() const { return impl_->was_clean_; }
std::uint64_t PramMetadataStore::mounts() const { return impl_->state_.mounts; }
const LogRecovery& PramMetadataStore::recovery() const { return impl_->recovery_; }

FsResult<SimTime> PramMetadataStore::set_label(std::string_view label, SimTime now) {
    if (label.size() > max_label_bytes) return std::unexpected(FsError{ENAMETOOLONG});
    if (label.find('\0') != std::string_view::npos) return std::unexpected(FsError{EINVAL});
    SuperblockState next = impl_->state_;
    next.label = label;
    return impl_->change_state(next, now);
}

FsResult<SimTime> PramMetadataStore::mark_dirty(SimTime now) {
    SuperblockState next = impl_->state_;
    next.dirty = true;
    ++next.mounts;
    return impl_->change_state(next, now);
}

FsResult<SimTime> PramMetadataStore::mark_clean(SimTime now) {
    SuperblockState next = impl_->state_;
    next.dirty = false;
    return impl_->change_state(next, now);
}

void PramMetadataStore::begin() { impl_->begin(); }
FsResult<void> PramMetadataStore::put(const RecordKey& key, std::span<const std::byte> value) { return impl_->put(key, value); }
FsResult<bool> PramMetadataStore::erase(const RecordKey& key) { return impl_->erase(key); }
void PramMetadataStore::roll_back() { impl_->roll_back(); }
FsResult<SimTime> PramMetadataStore::commit(SimTime now, EventId parent) { return impl_->commit(now, parent); }

CommitMark PramMetadataStore::last_commit() const { return {.number = 0, .at = impl_->durable_at()}; }
void PramMetadataStore::observe(ChangeObserver observer) { impl_->observer_ = std::move(observer); }

void PramMetadataStore::use_reserve() {
    ensure(impl_->open_, "use_reserve() inside a transaction");
    impl_->may_use_reserve_ = true;
}

bool PramMetadataStore::get(const RecordKey& key, std::span<const std::byte>& value) const { return impl_->tree_.get(key, value); }

void PramMetadataStore::scan(const RecordKey& from, const RecordKey& to, const Visitor& visit) const { impl_->tree_.scan(from, to, visit); }

bool PramMetadataStore::find_at_or_before(const RecordKey& key, const RecordKey& floor, RecordKey& found, std::span<const std::byte>& value) const {
    return impl_->tree_.find_at_or_before(key, floor, found, value);
}

std::uint64_t PramMetadataStore::data_pages() const { return impl_->pages_.bits(); }
std::uint64_t PramMetadataStore::data_pages_in_use() const { return impl_->pages_.bits() - impl_->pages_.clear_bits(); }
bool PramMetadataStore::data_page_in_use(LogicalPage page) const { return impl_->pages_.test(page.value()); }

MetadataStore::PageRun PramMetadataStore::find_free_run(LogicalPage hint, std::uint64_t wanted) const {
    const PramBitmap::Run run = impl_->pages_.find_clear(hint.value(), wanted);
    return {LogicalPage{run.first}, run.bits};
}

void PramMetadataStore::set_data_pages(PageRun run, bool in_use) {
    ensure(impl_->open_, "set_data_pages() inside a transaction");
    impl_->pages_.set({run.first.value(), run.pages}, in_use);
}

void PramMetadataStore::promise(std::uint64_t bytes) { impl_->promised_ = static_cast<std::uint32_t>((bytes + node_bytes - 1) / node_bytes); }

std::uint64_t PramMetadataStore::bytes_total() const { return std::uint64_t{impl_->identity_.nodes} * node_bytes; }

std::uint64_t PramMetadataStore::bytes_free() const {
    const std::uint32_t free = impl_->nodes_.free_nodes();
    const std::uint32_t kept = impl_->reserve_ + impl_->promised_;
    return free <= kept ? 0 : std::uint64_t{free - kept} * node_bytes;
}

std::vector<CheckProblem> PramMetadataStore::check() const { return impl_->check(); }
bool PramMetadataStore::transaction_is_large() const { return impl_->log_bytes_above(impl_->log_->max_record_bytes() / 2); }

std::uint64_t PramMetadataStore::max_run_in_transaction() const {
    constexpr std::uint64_t pages_a_word = 64, bytes_a_word = (8 + RedoLog::write_overhead) / 2;
    return impl_->log_->max_record_bytes() / 4 / bytes_a_word * pages_a_word;
}

} // namespace flashlab

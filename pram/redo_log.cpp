#include "pram/redo_log.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/contract.h"
#include "base/crc32c.h"
#include "base/little_endian.h"
#include "pram/pram_word.h"
#include "pram/redo_record.h"

namespace flashlab {

namespace {

/// The seed of a record's CRC: a record is believed only in the ring that it was written to.
std::uint32_t seed_of(PramUser user, PramRange ring) {
    std::array<std::byte, 17> place{};
    LittleEndianWriter writer{place};
    writer.u8(std::to_underlying(user));
    writer.u64(ring.at.value());
    writer.u64(ring.bytes);
    return crc32c(writer.written());
}

/// The records of one half of the ring, from its start up to the first that does not follow in sequence.
struct HalfContent {
    std::vector<RedoRecord> records;
    std::uint64_t end = 0; ///< offset in the half behind the last of them
    [[nodiscard]] std::uint64_t newest() const { return records.empty() ? 0 : records.back().sequence; }
};

} // namespace

class RedoLog::Impl {
public:
    Impl(Pram& pram, PramUser user, PramRange ring)
        : pram_{pram}, user_{user}, ring_{ring}, word_{pram.config().word_bytes}, half_bytes_{ring.bytes / 2}, seed_{seed_of(user, ring)},
          builder_{std::min(half_bytes_, RedoRecordFormat::max_bytes), word_, seed_} {
        ensure(ring.bytes >= 8192, "RedoLog: a ring of at least 8 KiB");
        ensure(ring.bytes % 4096 == 0, "RedoLog: a ring of whole 4 KiB");
        ensure(ring.at.value() % RedoRecordFormat::unit == 0, "RedoLog: an aligned ring");
        ensure(ring.at.value() <= pram.cells().size(), "RedoLog: a ring inside the PRAM");
        ensure(ring.bytes <= pram.cells().size() - ring.at.value(), "RedoLog: a ring that ends inside the PRAM");
    }

    LogRecovery recover(SimTime now);
    std::expected<SimTime, PramLogError> commit(const PramTransaction& transaction, SimTime now, EventId parent);
    [[nodiscard]] std::uint64_t capacity() const { return std::min(half_bytes_, RedoRecordFormat::max_bytes); }

private:
    /// A write of the transaction, widened to whole words. The key orders by first byte, then by order in the transaction, in one comparison.
    struct Piece {
        static constexpr std::uint32_t index_bits = 24; // addresses have 40 (PramConfig)
        std::uint64_t key;
        std::uint64_t end;
        [[nodiscard]] std::uint64_t first() const { return key >> index_bits; }
        [[nodiscard]] std::uint32_t index() const { return static_cast<std::uint32_t>(key & ((1u << index_bits) - 1)); }
    };

    void sort_pieces(const PramTransaction& transaction);
    [[nodiscard]] bool build(const PramTransaction& transaction);
    [[nodiscard]] bool add_cluster(const PramTransaction& transaction, std::span<Piece> pieces, std::uint64_t end);
    [[nodiscard]] PramAddress take_place(std::uint64_t bytes);

    [[nodiscard]] std::span<const std::byte> half(std::uint32_t which) const {
        return pram_.view(PramAddress{ring_.at.value() + which * half_bytes_}, half_bytes_);
    }
    [[nodiscard]] HalfContent parse(std::uint32_t which) const;
    [[nodiscard]] bool begun_at(std::span<const std::byte> ring_part, std::uint64_t sequence) const;
    void replay(const std::array<HalfContent, 2>& halves, std::uint32_t newest, LogRecovery& done, SimTime now);
    struct Entries {
        std::vector<PramRun> all; ///< what all records say, in order
        std::size_t newest = 0;   ///< where those of the newest record begin
    };
    [[nodiscard]] Entries entries_of(const HalfContent& older, const HalfContent& newer) const;
    [[nodiscard]] bool has_later_records(const std::array<HalfContent, 2>& halves, std::uint64_t last) const;

    Pram& pram_;
    const PramUser user_;
    const PramRange ring_;
    const std::uint32_t word_;
    const std::uint64_t half_bytes_;
    const std::uint32_t seed_;
    bool recovered_ = false;
    std::uint32_t half_ = 0;     ///< being filled
    std::uint64_t offset_ = 0;   ///< in it
    std::uint64_t sequence_ = 1; ///< of the next record
    RedoRecordBuilder builder_;
    std::vector<Piece> pieces_;
    std::vector<std::byte> cluster_; ///< words of overlapping writes, merged
    std::uint64_t compared_ = 0;
};

std::expected<SimTime, PramLogError> RedoLog::Impl::commit(const PramTransaction& transaction, SimTime now, EventId parent) {
    ensure(recovered_, "RedoLog: recover() before the first commit");
    if (!build(transaction)) return std::unexpected(PramLogError::record_too_large);
    PramWriteEvent event;
    event.user = user_;
    event.parent = parent;
    event.compared_words = static_cast<std::uint32_t>(compared_);
    SimTime durable;
    if (builder_.empty()) {
        // The words already have the values asked for, perhaps by a commit still on its way. P1 puts this one behind it.
        const PramWritten written = pram_.write_words(user_, {}, compared_, now);
        event.start = written.start;
        event.end = durable = written.end;
    } else {
        const std::uint64_t bytes = builder_.encoded_bytes();
        const auto runs = builder_.finish(sequence_++, take_place(bytes));
        const PramWritten written = pram_.write_words(user_, runs, compared_, now);
        event.log_words = static_cast<std::uint32_t>(bytes / word_);
        event.home_words = written.words - event.log_words;
        event.start = written.start;
        event.end = written.end;
        durable = written.end - pram_.config().word_write * static_cast<std::int64_t>(event.home_words);
    }
    pram_.note_commit(event);
    return durable;
}

void RedoLog::Impl::sort_pieces(const PramTransaction& transaction) {
    pieces_.clear();
    const std::span writes = transaction.writes();
    ensure(writes.size() < 1u << Piece::index_bits, "RedoLog: below 2^24 writes a transaction");
    const std::uint64_t mask = word_ - 1; // 2, 4 or 8
    std::uint64_t previous = 0;
    bool sorted = true;
    for (std::uint32_t index = 0; index < writes.size(); ++index) {
        const std::uint64_t first = writes[index].at.value() & ~mask;
        const std::uint64_t end = (writes[index].at.value() + writes[index].bytes + mask) & ~mask;
        ensure(end <= pram_.cells().size(), "RedoLog: a write inside the PRAM");
        ensure(end <= ring_.at.value() || first >= ring_.at.value() + ring_.bytes, "RedoLog: a write outside the log's own ring");
        pieces_.push_back({first << Piece::index_bits | index, end});
        sorted = sorted && first >= previous;
        previous = first;
    }
    if (!sorted) std::ranges::sort(pieces_, {}, &Piece::key);
}

bool RedoLog::Impl::build(const PramTransaction& transaction) {
    builder_.begin();
    compared_ = 0;
    sort_pieces(transaction);
    for (std::size_t i = 0; i < pieces_.size();) {
        std::uint64_t end = pieces_[i].end;
        std::size_t last = i + 1;
        for (; last < pieces_.size() && pieces_[last].first() <= end; ++last) end = std::max(end, pieces_[last].end);
        if (!add_cluster(transaction, std::span{pieces_}.subspan(i, last - i), end)) return false;
        i = last;
    }
    return true;
}

/// Adds a cluster of writes that share words or touch. They are laid over the present words in the order in which they were made: the later one wins.
bool RedoLog::Impl::add_cluster(const PramTransaction& transaction, std::span<Piece> pieces, std::uint64_t end) {
    const PramAddress first{pieces.front().first()};
    const std::uint64_t bytes = end - first.value();
    const auto present = pram_.view(first, bytes);
    compared_ += bytes / word_;
    const PramTransaction::Write& only = transaction.writes()[pieces.front().index()];
    if (pieces.size() == 1 && only.bytes == bytes) return builder_.add_changes(first, transaction.data(only), present);
    if (pieces.size() > 1) {
        const auto made_before = [](const Piece& a, const Piece& b) { return a.index() < b.index(); };
        if (!std::ranges::is_sorted(pieces, made_before)) std::ranges::sort(pieces, made_before);
    }
    cluster_.assign(present.begin(), present.end());
    for (const Piece& piece : pieces) {
        const PramTransaction::Write& w = transaction.writes()[piece.index()];
        std::byte* const to = cluster_.data() + (w.at.value() - first.value());
        if (w.bytes == sizeof(std::uint64_t))
            std::memcpy(to, transaction.data(w).data(), sizeof(std::uint64_t));
        else
            std::memcpy(to, transaction.data(w).data(), w.bytes);
    }
    return builder_.add_changes(first, cluster_, present);
}

PramAddress RedoLog::Impl::take_place(std::uint64_t bytes) {
    if (offset_ + bytes > half_bytes_) {
        half_ = 1 - half_;
        offset_ = 0;
    }
    const PramAddress place{ring_.at.value() + half_ * half_bytes_ + offset_};
    offset_ += bytes;
    return place;
}

HalfContent RedoLog::Impl::parse(std::uint32_t which) const {
    HalfContent content;
    const auto bytes = half(which);
    while (auto record = decode_redo_record(bytes.subspan(content.end), seed_)) {
        if (!content.records.empty() && record->sequence != content.newest() + 1) break; // left from an earlier round
        content.records.push_back(*record);
        content.end += record->bytes;
    }
    return content;
}

bool RedoLog::Impl::begun_at(std::span<const std::byte> ring_part, std::uint64_t sequence) const {
    const auto head = peek_redo_record(ring_part);
    return head && head->sequence == sequence;
}

LogRecovery RedoLog::Impl::recover(SimTime now) {
    const std::array halves{parse(0), parse(1)};
    const std::uint32_t newest = halves[1].newest() > halves[0].newest() ? 1 : 0;
    const std::uint64_t last = halves[newest].newest();
    LogRecovery done;
    half_ = newest;
    offset_ = halves[newest].end;
    sequence_ = last + 1;
    done.torn_tail = begun_at(half(newest).subspan(offset_), sequence_) || begun_at(half(1 - newest), sequence_);
    // Each half is read up to the first bytes that are no record; their head was read, too.
    const std::uint64_t looked_at = halves[0].end + halves[1].end + 2 * RedoRecordFormat::head_bytes;
    done.done = pram_.read(looked_at, now);
    replay(halves, newest, done, done.done);
    recovered_ = true;
    return done;
}

void RedoLog::Impl::replay(const std::array<HalfContent, 2>& halves, std::uint32_t newest, LogRecovery& done, SimTime now) {
    const HalfContent& older = halves[1 - newest];
    const bool gapless = !older.records.empty() && !halves[newest].records.empty() && older.newest() + 1 == halves[newest].records.front().sequence;
    done.records_replayed = halves[newest].records.size() + (gapless ? older.records.size() : 0);
    const auto [entries, newest_at] = entries_of(gapless ? older : HalfContent{}, halves[newest]);
    std::uint64_t first = ~std::uint64_t{0}, end = 0;
    for (const PramRun& entry : entries) {
        first = std::min(first, entry.at.value());
        end = std::max(end, entry.at.value() + entry.data.size());
    }
    std::vector<bool> is_known(entries.empty() ? 0 : (end - first) / word_); // by word
    std::uint64_t words = 0;
    std::vector<PramRun> runs;
    bool is_whole = true;
    for (std::size_t from = entries.size(); from-- > 0;) {
        const PramRun& entry = entries[from];
        for (std::size_t i = 0; i < entry.data.size(); i += word_) {
            const std::uint64_t at = entry.at.value() + i;
            auto known = is_known[(at - first) / word_];
            if (known) continue; // a later entry says what it is
            known = true;
            ++words;
            const auto word = entry.data.subspan(i, word_);
            if (same_pram_word(word.data(), pram_.view(PramAddress{at}, word_).data(), word_)) continue;
            runs.push_back({PramAddress{at}, word});
            is_whole = is_whole && from >= newest_at;
        }
    }
    // F1: once a record was begun, those before it are at home. Where they are not, records are damaged, and what is left of the log is old.
    if (!runs.empty() && (!is_whole || done.torn_tail || has_later_records(halves, halves[newest].newest()))) {
        runs.clear();
        done.records_replayed = 0;
    }
    std::ranges::sort(runs, {}, &PramRun::at);
    const PramWritten written = pram_.write_words(user_, runs, words, now);
    done.words_written = written.words;
    done.done = written.end;
}

/// The replay goes through it backwards: writing older values on the way would wear the word, and a cut could leave one in place.
RedoLog::Impl::Entries RedoLog::Impl::entries_of(const HalfContent& older, const HalfContent& newer) const {
    Entries entries;
    for (const HalfContent* content : {&older, &newer}) {
        for (const RedoRecord& record : content->records) {
            entries.newest = entries.all.size();
            ensure(append_runs(record, word_, entries.all), "RedoLog: entries fill a record whose CRC holds");
        }
    }
    return entries;
}

/// Behind damage: no cut leaves a record whose sequence is beyond that of the one to come.
bool RedoLog::Impl::has_later_records(const std::array<HalfContent, 2>& halves, std::uint64_t last) const {
    for (const std::uint32_t which : {0u, 1u})
        for (std::uint64_t at = halves[which].end; at < half_bytes_; at += RedoRecordFormat::unit)
            if (const auto record = decode_redo_record(half(which).subspan(at), seed_); record && record->sequence > last) return true;
    return false;
}

RedoLog::RedoLog(Pram& pram, PramUser user, PramRange ring) : impl_{std::make_unique<Impl>(pram, user, ring)} {}
RedoLog::~RedoLog() = default;

LogRecovery RedoLog::recover(SimTime now) { return impl_->recover(now); }

std::expected<SimTime, PramLogError> RedoLog::commit(const PramTransaction& transaction, SimTime now, EventId parent) {
    return impl_->commit(transaction, now, parent);
}

std::uint64_t RedoLog::max_record_bytes() const { return impl_->capacity(); }

} // namespace flashlab

#include "pram/redo_record.h"

#include <algorithm>
#include <cstring>

#include "base/contract.h"
#include "base/crc32c.h"
#include "base/little_endian.h"
#include "pram/pram_word.h"

namespace flashlab {

namespace {

constexpr std::uint64_t low16 = 0xffff;
constexpr std::size_t crc_bytes = sizeof(std::uint32_t);

constexpr std::uint64_t round_up(std::uint64_t bytes) {
    return (bytes + RedoRecordFormat::unit - 1) / RedoRecordFormat::unit * RedoRecordFormat::unit;
}

} // namespace

RedoRecordBuilder::RedoRecordBuilder(std::uint64_t capacity, std::uint32_t word_bytes, std::uint32_t crc_seed)
    : bytes_{std::make_unique_for_overwrite<std::byte[]>(capacity)}, capacity_{capacity}, word_bytes_{word_bytes}, crc_seed_{crc_seed} {
    ensure(capacity % RedoRecordFormat::unit == 0, "RedoRecordBuilder: a capacity of whole units");
    ensure(capacity <= RedoRecordFormat::max_bytes, "RedoRecordBuilder: a capacity that the length field can tell");
    begin();
}

void RedoRecordBuilder::begin() {
    used_ = RedoRecordFormat::head_bytes;
    entries_ = 0;
    runs_.clear();
    runs_.push_back({});
}

bool RedoRecordBuilder::has_room(std::uint64_t bytes) const { return round_up(used_ + bytes) + RedoRecordFormat::tail_bytes <= capacity_; }

std::uint64_t RedoRecordBuilder::encoded_bytes() const { return round_up(used_) + RedoRecordFormat::tail_bytes; }

bool RedoRecordBuilder::add_changes(PramAddress at, std::span<const std::byte> wanted, std::span<const std::byte> present) {
    ensure(wanted.size() == present.size(), "RedoRecordBuilder: as many bytes wanted as present");
    const std::size_t size = wanted.size();
    std::size_t changed_end = 0; // of the open entry, while `open`
    bool open = false;
    for (std::size_t i = first_difference(wanted.data(), present.data(), 0, size, word_bytes_); i < size;) {
        const std::size_t most = std::min(size, i + low16 * word_bytes_);
        std::size_t end = i + word_bytes_;
        while (end < most && !same_pram_word(wanted.data() + end, present.data() + end, word_bytes_)) end += word_bytes_;
        const std::size_t gap = i - changed_end;
        const bool joins = open && gap <= RedoRecordFormat::entry_bytes && entry_words_ + (gap + end - i) / word_bytes_ <= low16;
        if (!has_room((joins ? gap : RedoRecordFormat::entry_bytes) + (end - i))) return false;
        if (joins)
            append({wanted.data() + changed_end, gap});
        else
            open_entry(PramAddress{at.value() + i});
        runs_.push_back({PramAddress{at.value() + i}, append({wanted.data() + i, end - i})});
        store_le<std::uint64_t>({bytes_.get() + entry_at_, 8}, entry_home_.value() << 16 | entry_words_);
        changed_end = end;
        open = true;
        i = first_difference(wanted.data(), present.data(), end, size, word_bytes_);
    }
    return true;
}

/// Appends words to the open entry. Returns their place in the record.
std::span<const std::byte> RedoRecordBuilder::append(std::span<const std::byte> words) {
    std::byte* const to = bytes_.get() + used_;
    if (words.size() == sizeof(std::uint64_t))
        std::memcpy(to, words.data(), sizeof(std::uint64_t));
    else if (!words.empty())
        std::memcpy(to, words.data(), words.size());
    used_ += words.size();
    entry_words_ += words.size() / word_bytes_;
    return {to, words.size()};
}

void RedoRecordBuilder::open_entry(PramAddress at) {
    entry_at_ = used_;
    entry_home_ = at;
    entry_words_ = 0;
    used_ += RedoRecordFormat::entry_bytes;
    ++entries_;
}

std::span<const PramRun> RedoRecordBuilder::finish(std::uint64_t sequence, PramAddress place) {
    ensure(!empty(), "RedoRecordBuilder: a record has an entry");
    ensure(sequence <= RedoRecordFormat::max_sequence, "RedoRecordBuilder: a sequence of 48 bits");
    const std::uint64_t length = encoded_bytes();
    std::memset(bytes_.get() + used_, 0, round_up(used_) - used_);
    const std::span out{bytes_.get(), length};
    store_le<std::uint64_t>(out, sequence << 16 | length / RedoRecordFormat::unit);
    store_le<std::uint32_t>(out.subspan(length - RedoRecordFormat::tail_bytes), entries_);
    store_le<std::uint32_t>(out.subspan(length - crc_bytes), crc32c(out.first(length - crc_bytes), crc_seed_));
    runs_.front() = {place, out};
    return runs_;
}

std::optional<RedoRecordHead> peek_redo_record(std::span<const std::byte> ring_part) {
    if (ring_part.size() < RedoRecordFormat::head_bytes) return std::nullopt;
    const auto head = load_le<std::uint64_t>(ring_part);
    return RedoRecordHead{head >> 16, (head & low16) * RedoRecordFormat::unit};
}

std::optional<RedoRecord> decode_redo_record(std::span<const std::byte> ring_part, std::uint32_t crc_seed) {
    const auto head = peek_redo_record(ring_part);
    if (!head || head->sequence == 0) return std::nullopt;
    if (head->bytes < RedoRecordFormat::head_bytes + RedoRecordFormat::tail_bytes || head->bytes > ring_part.size()) return std::nullopt;
    const auto record = ring_part.first(head->bytes);
    const std::size_t tail = head->bytes - RedoRecordFormat::tail_bytes;
    if (load_le<std::uint32_t>(record.subspan(head->bytes - crc_bytes)) != crc32c(record.first(head->bytes - crc_bytes), crc_seed))
        return std::nullopt;
    return RedoRecord{head->sequence, head->bytes, load_le<std::uint32_t>(record.subspan(tail)),
                      record.subspan(RedoRecordFormat::head_bytes, tail - RedoRecordFormat::head_bytes)};
}

bool append_runs(const RedoRecord& record, std::uint32_t word_bytes, std::vector<PramRun>& runs) {
    LittleEndianReader reader{record.body};
    for (std::uint32_t i = 0; i < record.entries; ++i) {
        const std::uint64_t head = reader.u64();
        const auto words = reader.bytes((head & low16) * word_bytes);
        if (reader.failed() || words.empty()) return false;
        runs.push_back({PramAddress{head >> 16}, words});
    }
    return reader.left() < RedoRecordFormat::unit;
}

} // namespace flashlab

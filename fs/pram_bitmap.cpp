#include "fs/pram_bitmap.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "base/contract.h"

namespace flashlab {

namespace {

constexpr std::uint64_t word_bits = 64;
constexpr std::uint64_t low_bits(std::uint64_t n) { return n >= word_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; }
constexpr std::uint64_t words_for(std::uint64_t bits) { return (bits + word_bits - 1) / word_bits; }

/// Calls f(word, mask) for each word that [first, first + bits) touches.
template <class F>
void for_words(std::uint64_t first, std::uint64_t bits, F&& f) {
    for (std::uint64_t at = first; at < first + bits;) {
        const std::uint64_t shift = at % word_bits, n = std::min(word_bits - shift, first + bits - at);
        f(at / word_bits, low_bits(n) << shift);
        at += n;
    }
}

} // namespace

PramBitmap::PramBitmap(std::span<const std::byte> cells, PramAddress home, std::uint64_t bits)
    : cells_{cells}, home_{home}, bits_{bits}, words_(words_for(bits)), clear_in_chunk_((bits + chunk_bits - 1) / chunk_bits) {
    ensure(cells.size() >= words_.size() * 8, "PramBitmap: the cells hold all bits");
    if (!words_.empty()) std::memcpy(words_.data(), cells.data(), words_.size() * 8);
    // Bits past the end count as used, so that no search has to ask.
    if (bits % word_bits != 0) words_.back() |= ~low_bits(bits % word_bits);
    for (std::uint64_t w = 0; w < words_.size(); ++w) {
        const auto clear = static_cast<std::uint32_t>(std::popcount(~words_[w]));
        clear_in_chunk_[w / (chunk_bits / word_bits)] += clear;
        clear_bits_ += clear;
    }
    changes_.reserve(64);
}

bool PramBitmap::test(std::uint64_t bit) const {
    ensure(bit < bits_, "PramBitmap: the bit exists");
    return (words_[bit / word_bits] >> (bit % word_bits) & 1) != 0;
}

/// `end` when none.
std::uint64_t PramBitmap::first_clear(std::uint64_t from, std::uint64_t end) const {
    std::uint64_t at = from;
    while (at < end) {
        if (clear_in_chunk_[at / chunk_bits] == 0) {
            at = (at / chunk_bits + 1) * chunk_bits;
            continue;
        }
        const std::uint64_t clear = ~words_[at / word_bits] >> (at % word_bits);
        if (clear != 0) return std::min(end, at + static_cast<std::uint64_t>(std::countr_zero(clear)));
        at = (at / word_bits + 1) * word_bits;
    }
    return end;
}

PramBitmap::Run PramBitmap::find_clear(std::uint64_t hint, std::uint64_t wanted) const {
    if (clear_bits_ == 0 || wanted == 0) return {};
    if (hint >= bits_) hint = 0;
    std::uint64_t first = first_clear(hint, bits_);
    if (first == bits_) first = first_clear(0, hint);
    const std::uint64_t limit = std::min(bits_, first + std::min(wanted, bits_ - first));
    std::uint64_t at = first;
    while (at < limit) {
        const std::uint64_t used = words_[at / word_bits] >> (at % word_bits);
        const std::uint64_t left = word_bits - at % word_bits;
        const std::uint64_t clear = used == 0 ? left : static_cast<std::uint64_t>(std::countr_zero(used));
        at += clear;
        if (clear < left) break;
    }
    return {first, std::min(at, limit) - first};
}

void PramBitmap::flip(Run run, bool value) {
    for_words(run.first, run.bits, [&](std::uint64_t w, std::uint64_t mask) {
        const std::uint64_t before = words_[w] & mask;
        ensure(before == (value ? 0 : mask), value ? "PramBitmap: a bit to set is clear" : "PramBitmap: a bit to clear is set");
        words_[w] ^= mask;
        const auto n = static_cast<std::uint32_t>(std::popcount(mask));
        std::uint32_t& clear = clear_in_chunk_[w / (chunk_bits / word_bits)];
        clear = value ? clear - n : clear + n;
    });
    clear_bits_ = value ? clear_bits_ - run.bits : clear_bits_ + run.bits;
}

void PramBitmap::set(Run run, bool value) {
    ensure(run.first <= bits_ && run.bits <= bits_ - run.first, "PramBitmap: the run lies inside");
    if (run.bits == 0) return;
    bool as_expected = true; // asked first: a broken promise must not leave half a change
    for_words(run.first, run.bits, [&](std::uint64_t w, std::uint64_t mask) { as_expected &= (words_[w] & mask) == (value ? 0 : mask); });
    ensure(as_expected, value ? "PramBitmap: bits to set are clear" : "PramBitmap: bits to clear are set");
    flip(run, value);
    changes_.push_back({run, value});
    touched_words_ += (run.first % word_bits + run.bits + word_bits - 1) / word_bits;
}

std::uint64_t PramBitmap::cell_word(std::uint64_t word) const {
    std::uint64_t value;
    std::memcpy(&value, cells_.data() + word * 8, 8);
    return value;
}

void PramBitmap::append_changes(PramTransaction& to) const {
    const std::uint64_t tail = bits_ % word_bits == 0 ? 0 : ~low_bits(bits_ % word_bits);
    for (const Change& change : changes_) {
        const std::uint64_t begin = change.run.first / word_bits, end = words_for(change.run.first + change.run.bits);
        std::uint64_t w = begin;
        while (w < end) { // runs of changed words go in one piece
            const auto home_value = [&](std::uint64_t i) { return i + 1 == words_.size() ? words_[i] & ~tail : words_[i]; };
            if (home_value(w) == cell_word(w)) {
                ++w;
                continue;
            }
            const std::uint64_t from = w;
            while (w < end && w + 1 < words_.size() && home_value(w) != cell_word(w)) ++w;
            const PramAddress at{home_.value() + from * 8};
            if (w > from) {
                to.write(at, std::as_bytes(std::span{words_}.subspan(from, w - from)));
            } else {
                to.write_u64(at, home_value(w));
                ++w;
            }
        }
    }
}

void PramBitmap::forget_changes() {
    changes_.clear();
    touched_words_ = 0;
}

void PramBitmap::undo_changes() {
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) flip(change->run, !change->value);
    forget_changes();
}

std::string PramBitmap::problem() const {
    const std::uint64_t tail = bits_ % word_bits == 0 ? 0 : ~low_bits(bits_ % word_bits);
    std::uint64_t clear = 0;
    for (std::uint64_t w = 0; w < words_.size(); ++w) {
        const std::uint64_t mine = w + 1 == words_.size() ? words_[w] & ~tail : words_[w];
        if (mine != cell_word(w)) return fmt::format("word {} is {:016x} in RAM and {:016x} in PRAM", w, mine, cell_word(w));
        clear += static_cast<std::uint64_t>(std::popcount(~words_[w]));
    }
    if (clear != clear_bits_) return fmt::format("{} bits are clear, the count says {}", clear, clear_bits_);
    std::uint64_t by_chunk = 0;
    for (const std::uint32_t n : clear_in_chunk_) by_chunk += n;
    if (by_chunk != clear) return fmt::format("{} bits are clear, the chunks say {}", clear, by_chunk);
    return {};
}

} // namespace flashlab

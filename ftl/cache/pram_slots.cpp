#include "ftl/cache/pram_slots.h"

#include <algorithm>
#include <array>

#include "base/contract.h"
#include "base/crc32c.h"
#include "base/little_endian.h"

namespace flashlab {

namespace {

constexpr std::uint64_t host_page = 4096;
constexpr std::size_t check_at = 12; ///< in a head, behind the fields

std::uint64_t round_up(std::uint64_t bytes) { return (bytes + host_page - 1) / host_page * host_page; }
std::uint32_t slots_of(std::uint32_t pages) { return pages + pages / 8 + 1; }

} // namespace

std::uint32_t PramSlots::pages_in(std::uint64_t bytes, std::uint32_t page_bytes, std::uint32_t logical_pages) {
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / page_bytes, 1, logical_pages));
}

std::uint64_t PramSlots::bytes_for(std::uint32_t pages, std::uint32_t page_bytes) {
    const std::uint64_t slots = slots_of(pages);
    return round_up(slots * head_bytes) + round_up(slots * page_bytes);
}

PramSlots::PramSlots(Pram& pram, PramRange range, std::uint32_t pages, std::uint32_t page_bytes)
    : pram_{pram}, at_{range.at.value()}, data_at_{at_ + round_up(std::uint64_t{slots_of(pages)} * head_bytes)}, page_bytes_{page_bytes},
      count_{slots_of(pages)}, free_(count_), no_payload_(page_bytes) {
    ensure(range.bytes == bytes_for(pages, page_bytes), "PramSlots: a range that was planned for it");
    std::array<std::byte, 24> place{};
    LittleEndianWriter writer{place};
    writer.u64(at_);
    writer.u64(range.bytes);
    writer.u32(count_);
    writer.u32(page_bytes);
    seed_ = crc32c(writer.written());
    retired_.reserve(count_);
    for (Slot slot = 0; slot < count_; ++slot) give_back(slot);
}

PramSlots::Slot PramSlots::take_free() {
    ensure(has_free(), "K3: a free slot for a page");
    const Slot slot = free_[free_begin_];
    free_begin_ = (free_begin_ + 1) % count_;
    --free_count_;
    return slot;
}

void PramSlots::give_back(Slot slot) {
    ensure(free_count_ < count_, "K3: a slot is free once");
    free_[(free_begin_ + free_count_++) % count_] = slot;
}

/// Never zero: a zero is what wiping leaves.
std::uint32_t PramSlots::check_of(std::span<const std::byte> fields, Slot slot) const {
    std::array<std::byte, 4> number{};
    store_le(std::span<std::byte>{number}, slot);
    return std::max(crc32c(fields, crc32c(number, seed_)), 1u);
}

PramSlots::Head PramSlots::head_of(Slot slot) const {
    const auto raw = pram_.view(head_at(slot), head_bytes);
    if (load_le<std::uint32_t>(raw.subspan(check_at)) != check_of(raw.first(check_at), slot)) return {};
    return {load_le<std::uint64_t>(raw), Lpn{load_le<std::uint32_t>(raw.subspan(8))}};
}

bool PramSlots::names(Slot slot, Lpn lpn) const {
    const Head head = head_of(slot);
    return head.sequence != 0 && head.lpn == lpn;
}

PramSlots::Recovery PramSlots::recover(std::uint32_t logical_pages, SimTime now) {
    struct Version {
        Head head;
        Slot slot;
    };
    std::vector<Version> versions;
    free_begin_ = free_count_ = 0;
    for (Slot slot = 0; slot < count_; ++slot) {
        const Head head = head_of(slot);
        if (head.sequence == 0 || head.lpn.value() >= logical_pages)
            give_back(slot);
        else
            versions.push_back({head, slot});
    }
    std::ranges::sort(versions, {}, [](const Version& v) { return v.head.sequence; });
    Recovery found{.pages = {}, .done = pram_.read(std::uint64_t{count_} * head_bytes, now)};
    if (!versions.empty()) next_sequence_ = versions.back().head.sequence + 1;
    std::vector<bool> is_seen(logical_pages);
    std::vector<Slot> covered;
    for (auto v = versions.rbegin(); v != versions.rend(); ++v) {
        const std::uint32_t lpn = v->head.lpn.value();
        if (is_seen[lpn]) {
            covered.push_back(v->slot);
        } else {
            found.pages.push_back({v->head.lpn, v->slot});
            is_seen[lpn] = true;
        }
    }
    std::ranges::reverse(found.pages);
    for (auto slot = covered.rbegin(); slot != covered.rend(); ++slot) found.done = std::max(found.done, forget(*slot, found.done)); // oldest first
    return found;
}

PramSlots::Kept PramSlots::keep(Lpn lpn, std::span<const std::byte> data, SimTime now) {
    ensure(data.empty() || data.size() == page_bytes_, "PramSlots: a whole page or no payload");
    const Slot slot = take_free();
    std::array<std::byte, head_bytes> head{};
    LittleEndianWriter writer{head};
    writer.u64(next_sequence_++);
    writer.u32(lpn.value());
    writer.u32(check_of(writer.written(), slot));
    const std::array runs{PramRun{data_at(slot), data.empty() ? std::span<const std::byte>{no_payload_} : data}, PramRun{head_at(slot), head}};
    return {slot, pram_.write_words(PramUser::ftl, runs, 0, now).end};
}

SimTime PramSlots::forget(Slot slot, SimTime now) {
    constexpr std::array<std::byte, sizeof(std::uint32_t)> nothing{};
    give_back(slot);
    return pram_.write(PramUser::ftl, PramAddress{head_at(slot).value() + check_at}, nothing, now).end;
}

void PramSlots::retire(Slot slot, SimTime from) {
    retired_.push_back(slot);
    retired_from_ = std::max(retired_from_, from);
}

SimTime PramSlots::forget_retired(SimTime now) {
    SimTime done = now;
    for (const Slot slot : retired_) done = std::max(done, forget(slot, now));
    retired_.clear();
    return done;
}

int PramSlots::broken_invariant() const {
    std::vector<bool> is_free(count_);
    for (std::uint32_t i = 0; i < free_count_; ++i) {
        const Slot slot = free_[(free_begin_ + i) % count_];
        if (is_free[slot] || head_of(slot).sequence != 0) return 3;
        is_free[slot] = true;
    }
    for (const Slot slot : retired_)
        if (is_free[slot] || head_of(slot).sequence == 0) return 3;
    return 0;
}

} // namespace flashlab

#include "ftl/cache/write_buffer.h"

#include "base/contract.h"

namespace flashlab {

WriteBuffer::WriteBuffer(std::uint32_t most, std::uint32_t page_bytes) : page_bytes_{page_bytes}, capacity_{most}, slots_(most) {
    ensure(most != 0, "a write buffer has room for a page");
    free_.reserve(most);
    for (Slot slot = most; slot != 0; --slot) free_.push_back(slot - 1);
    slot_of_.reserve(most);
}

void WriteBuffer::set_capacity(std::uint32_t capacity) {
    ensure(size() <= capacity && capacity <= most(), "B3: a capacity holds what is there");
    capacity_ = capacity;
}

std::optional<WriteBuffer::Slot> WriteBuffer::find(Lpn lpn) const {
    if (slot_of_.empty()) return std::nullopt; // who asks for the whole map after a recovery meets it so
    const auto at = slot_of_.find(lpn.value());
    return at == slot_of_.end() ? std::nullopt : std::optional{at->second};
}

WriteBuffer::Slot WriteBuffer::insert(Lpn lpn) {
    ensure(!is_full(), "B3: a full buffer takes no page");
    const Slot slot = free_.back();
    const bool is_new = slot_of_.emplace(lpn.value(), slot).second;
    ensure(is_new, "B1: a page has one slot");
    free_.pop_back();
    slots_[slot].lpn = lpn;
    append(by_use, slot);
    append(by_writing, slot);
    return slot;
}

void WriteBuffer::rewritten(Slot slot) {
    used(slot);
    unlink(by_writing, slot);
    append(by_writing, slot);
}

void WriteBuffer::used(Slot slot) {
    unlink(by_use, slot);
    append(by_use, slot);
}

void WriteBuffer::remove(Slot slot) {
    ensure(slot_of_.erase(slots_[slot].lpn.value()) == 1, "B1: only a page that is here leaves");
    unlink(by_use, slot);
    unlink(by_writing, slot);
    free_.push_back(slot);
}

std::optional<WriteBuffer::Slot> WriteBuffer::next(Order order, Slot slot) const {
    const Slot next = slots_[slot].links[order].next;
    return next == none ? std::nullopt : std::optional{next};
}

std::span<std::byte> WriteBuffer::data(Slot slot) {
    if (data_.empty()) return {};
    return std::span{data_}.subspan(std::size_t{slot} * page_bytes_, page_bytes_);
}

std::span<std::byte> WriteBuffer::data_for_writing(Slot slot) {
    if (data_.empty()) data_.resize(std::size_t{most()} * page_bytes_);
    return data(slot);
}

void WriteBuffer::append(Order order, Slot slot) {
    Links& links = slots_[slot].links[order];
    Links& head = heads_[order];
    links = {head.previous, none};
    if (head.previous == none)
        head.next = slot;
    else
        slots_[head.previous].links[order].next = slot;
    head.previous = slot;
}

void WriteBuffer::unlink(Order order, Slot slot) {
    const Links links = slots_[slot].links[order];
    Links& head = heads_[order];
    if (links.previous == none)
        head.next = links.next;
    else
        slots_[links.previous].links[order].next = links.next;
    if (links.next == none)
        head.previous = links.previous;
    else
        slots_[links.next].links[order].previous = links.previous;
}

int WriteBuffer::broken_invariant() const {
    if (size() + free_.size() != most() || size() > capacity()) return 3;
    for (const Order order : {by_use, by_writing}) {
        std::uint32_t seen = 0;
        for (Slot slot = heads_[order].next; slot != none && seen <= size(); slot = slots_[slot].links[order].next, ++seen) {
            if (find(slots_[slot].lpn) != slot) return 1;
        }
        if (seen != size()) return 2;
    }
    return 0;
}

} // namespace flashlab

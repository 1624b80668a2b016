#include "nand/pair_guard.h"

#include <algorithm>

#include "base/contract.h"

namespace flashlab {

NandArray::PairGuard::PairGuard(Impl& chips)
    : chips_{chips}, dies_(chips.geometry.dies()), page_(chips.store.keeps_payload() ? chips.geometry.page_bytes() : 0) {
    for (std::uint32_t page = 0; page < chips_.geometry.pages_per_block(); ++page) {
        if (chips_.pairs.endangered_by(page).empty()) safe_pages_.push_back(page);
    }
    for (std::uint32_t b = 0; b < chips_.geometry.blocks(); ++b) {
        const BlockId block{b};
        if (is_backup_block(chips_.config, block)) dies_[chips_.geometry.die_of(chips_.geometry.plane_of(block)).value()].blocks.push_back(block);
    }
}

std::expected<void, HostIoError> NandArray::PairGuard::load() {
    for (const Die& die : dies_) {
        for (const BlockId block : die.blocks) {
            for (const std::uint32_t index : safe_pages_) {
                const Ppn at = chips_.geometry.page_of(block, index);
                const auto record = chips_.store.read_record(at);
                if (!record) return std::unexpected(record.error());
                if (record->state != CellState::programmed) continue;
                const auto oob = BackupOob::decode(record->oob);
                if (!oob || oob->page.value() >= chips_.geometry.pages() || oob->life != life_of(chips_.geometry.block_of(oob->page))) continue;
                const auto origin = chips_.store.read_record(oob->page);
                if (!origin) return std::unexpected(origin.error());
                if (origin->state != CellState::garbage || backup_of(oob->page) != nullptr) continue;
                backups_.push_back({*oob, at, true});
            }
        }
    }
    return {};
}

NandArray::PairGuard::Done NandArray::PairGuard::scan(SimTime now) {
    SimTime done = now;
    for (const Die& die : dies_) {
        for (const BlockId block : die.blocks) {
            for (const std::uint32_t index : safe_pages_) {
                const auto read = chips_.read_oob(chips_.geometry.page_of(block, index), {now, {Cause::recovery, no_event}});
                if (!read) return std::unexpected(read.error());
                done = std::max(done, read->done);
                if (read->state == CellState::erased) break;
            }
        }
    }
    return done;
}

const NandArray::PairGuard::Backup* NandArray::PairGuard::backup_of(Ppn page) const {
    const auto found = std::ranges::find_if(backups_, [page](const Backup& b) { return b.is_read_here && b.oob.page == page; });
    return found == backups_.end() ? nullptr : &*found;
}

SimTime NandArray::PairGuard::note_durable(SimTime now) {
    durable_ = programs_;
    return std::max(now, unsafe_until_);
}

NandArray::PairGuard::Done NandArray::PairGuard::before_program(Ppn page, PageKind kind, SimTime now) {
    if (kind != PageKind::data) now = note_durable(now);
    const BlockId block = chips_.geometry.block_of(page);
    const auto open = open_.find(block.value());
    for (const std::uint32_t earlier : chips_.pairs.endangered_by(chips_.geometry.page_in_block(page))) {
        const Ppn at = chips_.geometry.page_of(block, earlier);
        const auto record = chips_.store.read_oob(at);
        if (!record) return std::unexpected(chips_.host_error(record.error(), at, now));
        if (record->state != CellState::programmed || !record->oob || record->oob->kind == PageKind::padding) continue;
        Endangered* known = nullptr; // none: programmed before the power came on, by a host that may have flushed it
        if (open != open_.end()) {
            const auto found = std::ranges::find(open->second, earlier, &Endangered::page);
            if (found != open->second.end()) known = &*found;
        }
        if (known != nullptr && (known->backed_up || known->number >= durable_)) continue;
        const Done copied = back_up(at, *record->oob, now);
        if (!copied && copied.error().kind == NandErrorKind::host_io) return copied;
        if (copied) now = std::max(now, *copied);
        const bool backed_up = copied.has_value(); // else there is no room, or no block takes it: in danger, and counted so
        if (known != nullptr)
            known->backed_up = backed_up;
        else
            open_[block.value()].push_back({earlier, 0, backed_up});
    }
    return now;
}

void NandArray::PairGuard::after_program(Ppn page, SimTime end) {
    const BlockId block = chips_.geometry.block_of(page);
    const std::uint32_t index = chips_.geometry.page_in_block(page);
    auto& open = open_[block.value()];
    const auto endangered = chips_.pairs.endangered_by(index);
    for (const Endangered& e : open) {
        if (!e.backed_up && std::ranges::find(endangered, e.page) != endangered.end()) unsafe_until_ = std::max(unsafe_until_, end);
    }
    if (chips_.pairs.safe_after(index) > index) open.push_back({index, programs_, false});
    ++programs_;
    std::erase_if(open, [&](const Endangered& e) { return chips_.pairs.safe_after(e.page) <= index; });
    if (open.empty()) open_.erase(block.value());
    const auto dropped = std::erase_if(backups_, [&](const Backup& b) {
        return !b.is_read_here && chips_.geometry.block_of(b.oob.page) == block &&
               chips_.pairs.safe_after(chips_.geometry.page_in_block(b.oob.page)) <= index;
    });
    if (dropped != 0) needed_until_ = std::max(needed_until_, end);
}

void NandArray::PairGuard::after_erase(BlockId block, SimTime end) {
    open_.erase(block.value());
    const auto dropped = std::erase_if(backups_, [&](const Backup& b) { return chips_.geometry.block_of(b.oob.page) == block; });
    if (dropped != 0) needed_until_ = std::max(needed_until_, end);
}

std::size_t NandArray::PairGuard::backups_in(BlockId block) const {
    return static_cast<std::size_t>(std::ranges::count_if(backups_, [&](const Backup& b) { return chips_.geometry.block_of(b.at) == block; }));
}

NandArray::PairGuard::Done NandArray::PairGuard::back_up(Ppn page, const PageOob& oob, SimTime now) {
    const BlockId block = chips_.geometry.block_of(page);
    Die& die = dies_[chips_.geometry.die_of(chips_.geometry.plane_of(block)).value()];
    const BackupOob backup{oob, page, life_of(block)};
    Ppn at{0};
    if (!die.active || die.next == safe_pages_.size()) {
        if (auto opened = open_block(die, now); !opened) return opened;
    }
    Done copied = copy_to_next(die, page, backup, now, at);
    while (!copied && copied.error().kind == NandErrorKind::program_failed && die.next < safe_pages_.size())
        copied = copy_to_next(die, page, backup, now, at);
    if (copied) backups_.push_back({backup, at, false});
    return copied;
}

NandArray::PairGuard::Done NandArray::PairGuard::copy_to_next(Die& die, Ppn from, const BackupOob& oob, SimTime now, Ppn& at) {
    ensure(die.active && die.next < safe_pages_.size(), "a backup block with room");
    const Done read = chips_.read(PageRead{from, 0, chips_.geometry.page_bytes(), page_}, {now, {Cause::backup, no_event}});
    if (!read) return read;
    at = chips_.geometry.page_of(*die.active, safe_pages_[die.next++]);
    return chips_.program_backup(at, oob, page_, std::max(*read, die.ready));
}

/// After a cut it is not known whether a block was erased completely, so it is erased again.
/// One block without backups is always left for the next time.
NandArray::PairGuard::Done NandArray::PairGuard::open_block(Die& die, SimTime now) {
    std::optional<BlockId> empty;
    for (;;) {
        empty.reset();
        for (const BlockId block : die.blocks) {
            if (!chips_.blocks.is_bad(block) && block != die.active && backups_in(block) == 0) empty = empty.value_or(block);
        }
        if (!empty) return std::unexpected(NandError{NandErrorKind::program_failed, chips_.geometry.page_of(die.blocks.front(), 0), now});
        const Done erased = chips_.erase_block(*empty, chips_.media.own(), {std::max(now, needed_until_), {Cause::backup, no_event}});
        if (erased) {
            die.ready = *erased;
            break;
        }
        if (erased.error().kind != NandErrorKind::erase_failed) return erased;
        now = erased.error().done;
        if (auto marked = chips_.mark_bad(*empty, now); !marked) return std::unexpected(marked.error());
    }
    die.active = empty;
    die.next = 0;
    const auto is_spare = [&](BlockId block) { return !chips_.blocks.is_bad(block) && block != *die.active && backups_in(block) == 0; };
    if (std::ranges::any_of(die.blocks, is_spare)) return now;
    const auto least = std::ranges::min_element(die.blocks, {}, [&](BlockId block) {
        return block == *die.active || chips_.blocks.is_bad(block) ? safe_pages_.size() + 1 : backups_in(block);
    });
    for (Backup& backup : backups_) {
        if (chips_.geometry.block_of(backup.at) != *least || die.next == safe_pages_.size()) continue;
        Ppn at{0};
        const Done moved = copy_to_next(die, backup.at, backup.oob, now, at);
        if (!moved) return moved;
        backup.at = at;
        needed_until_ = std::max(needed_until_, *moved); // the old copy is needed until the new one is complete
    }
    return now;
}

} // namespace flashlab

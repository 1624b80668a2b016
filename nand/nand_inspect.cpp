#include "nand/copy_fields.h"
#include "nand/nand_array_impl.h"
#include "nand/pair_guard.h"

namespace flashlab {

std::expected<StoredOob, HostIoError> NandArray::Impl::oob_of(Ppn page) {
    auto known = store.read_oob(page);
    if (!known) return known;
    known->state = as_read(known->state);
    if (const auto* backup = guard && known->state == CellState::garbage ? guard->backup_of(page) : nullptr)
        known = StoredOob{CellState::programmed, backup->oob.origin};
    return known;
}

std::expected<StoredOob, NandError> NandArray::Impl::inspect_oob(Ppn page) {
    std::expected<StoredOob, NandError> told;
    const auto known = oob_of(page);
    if (known)
        copy_fields(*known, *told);
    else
        told = std::unexpected(host_error(known.error(), page, sim_start));
    return told;
}

std::expected<PageRecord, NandError> NandArray::Impl::inspect(Ppn page) {
    const auto record = record_of(page);
    if (!record) return std::unexpected(host_error(record.error(), page, sim_start));
    return *record;
}

std::expected<void, NandError> NandArray::Impl::inspect(BlockId block, std::span<PageRecord> to) {
    if (auto read = records_of(block, to); !read) return std::unexpected(host_error(read.error(), geometry.page_of(block, 0), sim_start));
    return {};
}

std::expected<PageRecord, HostIoError> NandArray::Impl::record_of(Ppn page) {
    auto known = store.read_record(page);
    if (!known) return known;
    known->state = as_read(known->state);
    if (const auto* backup = guard && known->state == CellState::garbage ? guard->backup_of(page) : nullptr) {
        known = store.read_record(backup->at);
        if (known) backup->oob.origin.encode(known->oob);
    }
    return known;
}

std::expected<void, HostIoError> NandArray::Impl::records_of(BlockId block, std::span<PageRecord> to) {
    if (auto read = store.read_block_records(block, to); !read) return read;
    for (std::uint32_t page = 0; page < to.size(); ++page) {
        if (to[page].state != CellState::weak && to[page].state != CellState::garbage) continue;
        auto record = record_of(geometry.page_of(block, page));
        if (!record) return std::unexpected(record.error());
        to[page] = *record;
    }
    return {};
}

} // namespace flashlab

#include "nand/page_store.h"

#include <cerrno>

namespace flashlab {

std::expected<StoredOob, HostIoError> PageStore::read_oob(Ppn page) {
    const auto record = read_record(page);
    if (!record) return std::unexpected(record.error());
    return StoredOob{record->state, PageOob::decode(record->oob)};
}

std::expected<void, HostIoError> PageStore::write_programmed(Ppn page, const PageOob& oob, std::uint32_t data_crc) {
    PageRecord record{.state = CellState::programmed, .data_crc = data_crc};
    oob.encode(record.oob);
    return write_record(page, record);
}

std::expected<void, HostIoError> PageStore::write_programmed_run(Ppn first, const PageOob& oob, std::uint32_t pages) {
    PageOob one = oob;
    for (std::uint32_t i = 0; i < pages; ++i) {
        one.lpn = Lpn{oob.lpn.value() + i};
        if (auto wrote = write_programmed(Ppn{first.value() + i}, one, 0); !wrote) return wrote;
    }
    return {};
}

std::expected<void, HostIoError> PageStore::read_block_records_leniently(Ppn first, BlockId block, std::span<PageRecord> to) {
    const auto read = read_block_records(block, to);
    if (read || read.error().error_number != EBADMSG) return read;
    for (std::uint32_t i = 0; i < to.size(); ++i) {
        const auto record = read_record(Ppn{first.value() + i});
        if (!record && record.error().error_number != EBADMSG) return std::unexpected(record.error());
        to[i] = record ? *record : PageRecord{.state = CellState::garbage};
    }
    return {};
}

std::uint32_t PageStore::programmed_run(Ppn from, std::uint32_t pages) {
    for (std::uint32_t i = 0; i < pages; ++i) {
        const auto known = read_oob(Ppn{from.value() + i});
        if (!known || known->state != CellState::programmed || !known->oob) return i;
    }
    return pages;
}

std::expected<void, HostIoError> PageStore::copy_programmed(Ppn from, Ppn to, std::uint32_t pages) {
    for (std::uint32_t i = 0; i < pages; ++i) {
        const auto record = read_record(Ppn{from.value() + i});
        if (!record) return std::unexpected(record.error());
        if (auto wrote = write_record(Ppn{to.value() + i}, *record); !wrote) return wrote;
    }
    return {};
}

} // namespace flashlab

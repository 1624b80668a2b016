#include "nand/page_store.h"

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

} // namespace flashlab

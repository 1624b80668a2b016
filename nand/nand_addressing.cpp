#include "nand/nand_addressing.h"

namespace flashlab {

CopiedRun NandArray::Addressing::copy_run(Ppn from, Ppn to, std::uint32_t pages, const Io& io) {
    CopiedRun run{.pages = 0, .done = io.when, .failed = std::nullopt};
    for (; run.pages < pages; ++run.pages) {
        const auto copied = copy(Ppn{from.value() + run.pages}, Ppn{to.value() + run.pages}, nullptr, io.at(run.done));
        if (!copied) {
            run.failed = copied.error();
            break;
        }
        run.done = copied->done;
    }
    return run;
}

std::expected<PageRecord, NandError> NandArray::Addressing::inspect(Ppn page) {
    const auto known = inspect_oob(page);
    if (!known) return std::unexpected(known.error());
    PageRecord record{.state = known->state};
    if (known->oob)
        known->oob->encode(record.oob);
    else if (known->state != CellState::erased)
        record.oob.fill(std::byte{0xff});
    return record;
}

std::expected<void, NandError> NandArray::Addressing::inspect(BlockId block, std::span<PageRecord> to) {
    for (std::uint32_t page = 0; page < to.size(); ++page) {
        const auto record = inspect(wide_geometry().page_of(block, page));
        if (!record) return std::unexpected(record.error());
        to[page] = *record;
    }
    return {};
}

} // namespace flashlab

/// Reads where rows have parity: what cannot be read is rebuilt from the others of its row.
#include <algorithm>

#include "nand/join_results.h"
#include "nand/rain.h"
#include "nand/row_sum.h"

namespace flashlab {

namespace {

/// No page of the users': a block that a kill left half marked as bad has its pages elsewhere.
bool is_parity(const std::expected<PageOob, OobError>& oob) { return oob && oob->kind >= PageKind::parity; }

} // namespace

NandArray::Rain::Done NandArray::Rain::read(const PageRead& page, const Io& io) {
    const Place place = place_of(page.page);
    const std::size_t crossed = io.transfer == nullptr ? 0 : io.transfer->out.size();
    Done done = chips_.read(PageRead{place.page, page.offset, page.bytes, page.to}, io);
    if (done) [[likely]]
        return done;
    done.error().page = page.page;
    if (done.error().kind == NandErrorKind::erased_page && was_cut(page.page, CellState::erased)) done.error().kind = NandErrorKind::uncorrectable;
    if (done.error().kind != NandErrorKind::uncorrectable) return done;
    if (io.transfer != nullptr) io.transfer->out.resize(crossed);
    return rebuild(page, geometry_.block_of(page.page), place, io.at(done.error().done));
}

/// Pages that one program takes together lie in one block of the chips: they are read together, too.
NandArray::Rain::Done NandArray::Rain::read(std::span<const PageRead> pages, const Io& io) {
    Done all = io.when;
    const auto line_of = [&](const PageRead& page) { return page.page.value() / line_; };
    for (std::size_t begin = 0, end = 0; begin < pages.size(); begin = end) {
        for (reads_.clear(); end < pages.size() && line_of(pages[end]) == line_of(pages[begin]); ++end)
            reads_.push_back({place_of(pages[end].page).page, pages[end].offset, pages[end].bytes, pages[end].to});
        const std::size_t crossed = io.transfer == nullptr ? 0 : io.transfer->out.size();
        Done one = reads_.size() == 1 ? read(pages[begin], io) : chips_.read(reads_, io);
        if (!one && reads_.size() > 1) { // one of them may be rebuilt: all are read again, one by one
            if (io.transfer != nullptr) io.transfer->out.resize(crossed);
            const SimTime again = one.error().done;
            one = again;
            for (std::size_t i = begin; i < end; ++i) join(one, read(pages[i], io.at(again)), pages[i].page);
        }
        if (all) all = one ? Done{std::max(*all, *one)} : one;
    }
    return all;
}

std::expected<OobRead, NandError> NandArray::Rain::read_oob(Ppn page, const Io& io) {
    const Place place = place_of(page);
    auto known = chips_.read_oob(place.page, io);
    if (!known) {
        known.error().page = page;
        return known;
    }
    if (was_cut(page, known->state) || is_parity(known->oob)) {
        known->state = CellState::torn;
        known->oob = std::unexpected(OobError::bad_checksum);
    }
    const auto row = known->oob || known->state == CellState::erased ? std::nullopt : row_of(geometry_.block_of(page), place);
    if (!row) return known;
    const Io others = io.as(Cause::parity).at(known->done);
    for (const Ppn other : row->others) {
        const auto read = chips_.read_oob(other, others);
        known->done = std::max(known->done, read ? read->done : read.error().done);
        if (!read || !read->oob) return known;
    }
    const auto oob = rebuilt_oob(*row, place);
    if (!oob) return known;
    ++chips_.counters.rebuilt_pages;
    return OobRead{*oob, CellState::programmed, known->done};
}

std::optional<NandArray::Rain::Row> NandArray::Rain::row_of(BlockId block, const Place& place) {
    // What was under way at a cut is lost, whatever its row knows of it: it would lean on all other dies from then on.
    if (without(block) != none || !is_programmed(place.page)) return std::nullopt;
    const std::uint32_t parity = parity_member(block, place.row), offset = chips_.geometry.page_in_block(place.page) - place.row * line_;
    Row row{.has_parity = false, .others = {}};
    for (std::uint32_t m = 0; m < width_; ++m) {
        if (m == place.member || m == parity) continue;
        if (const Ppn other = in_row(block, place.row, m, offset); is_programmed(other)) row.others.push_back(other);
    }
    const Ppn sum = in_row(block, place.row, parity, offset);
    row.has_parity = row.others.size() == data_ - 1 && is_programmed(sum); // R1
    if (!row.has_parity && is_dead(die_of(block, parity))) return std::nullopt;
    if (row.has_parity) row.others.push_back(sum);
    return row;
}

NandArray::Rain::Done NandArray::Rain::rebuild(const PageRead& page, BlockId block, const Place& place, const Io& io) {
    const auto row = row_of(block, place);
    const auto lost = [&](SimTime at) { return std::unexpected(NandError{NandErrorKind::uncorrectable, page.page, at}); };
    if (!row) return lost(io.when);
    const bool is_wanted = !page.to.empty() && chips_.store.keeps_payload();
    const auto part = std::span{scratch_}.first(is_wanted ? page.bytes : 0);
    if (is_wanted) std::ranges::fill(page.to, std::byte{0});
    SimTime end = io.when;
    for (const Ppn other : row->others) {
        Done one = chips_.read(PageRead{other, page.offset, page.bytes, part}, io.as(Cause::parity));
        if (has_failed_image(one)) return one;
        if (!one) return lost(std::max(end, one.error().done));
        end = std::max(end, *one);
        if (is_wanted) exclusive_or(page.to, part);
    }
    if (is_wanted && !row->has_parity) { // the parity in the controller's memory, less the others
        const auto is_sound = read_cells(place.page);
        if (!is_sound) return std::unexpected(chips_.host_error(is_sound.error(), page.page, end));
        if (!*is_sound) return lost(end); // the image was damaged
        std::ranges::copy(std::span{scratch_}.subspan(page.offset, page.bytes), page.to.begin());
    }
    ++chips_.counters.rebuilt_pages;
    if (io.transfer != nullptr) io.transfer->out.push_back({end, page.bytes});
    return end;
}

std::optional<PageOob> NandArray::Rain::rebuilt_oob(const Row& row, const Place& place) {
    if (!row.has_parity) {
        const auto known = chips_.store.read_oob(place.page);
        return known && known->oob ? std::optional{*known->oob} : std::nullopt;
    }
    PageOob oob = no_page;
    for (const Ppn other : row.others) oob = exclusive_or(oob, *chips_.store.read_oob(other)->oob, no_kind);
    return oob;
}

std::expected<StoredOob, NandError> NandArray::Rain::inspect_oob(Ppn page) {
    const Place place = place_of(page);
    const auto known = chips_.oob_of(place.page);
    if (!known) return std::unexpected(NandError{NandErrorKind::host_io, page, sim_start, known.error().error_number});
    StoredOob told = *known;
    if (was_cut(page, told.state) || is_parity(told.oob)) told = {CellState::torn, std::unexpected(OobError::bad_checksum)};
    const auto row = told.oob || told.state == CellState::erased ? std::nullopt : row_of(geometry_.block_of(page), place);
    if (const auto oob = row ? rebuilt_oob(*row, place) : std::nullopt) told = {CellState::programmed, *oob};
    return told;
}

} // namespace flashlab

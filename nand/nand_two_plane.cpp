/// Two-plane commands: which pairs of planes, blocks and pages one command reaches, and what it does to them.
#include <algorithm>
#include <array>

#include "base/contract.h"
#include "nand/nand_array_impl.h"
#include "nand/pair_guard.h"

namespace flashlab {

namespace {

/// The chip decodes one address for both planes: only the bit of the plane differs.
void check_pair(const NandArray& array, BlockId one, BlockId other) {
    ensure(array.config().options.two_plane, "two-plane commands are given to chips that have them (nand.two_plane)");
    const Geometry& g = array.geometry();
    const PlaneId first = g.plane_of(one), second = g.plane_of(other);
    ensure(g.planes_per_die() % 2 == 0 && first.value() % 2 == 0 && second.value() == first.value() + 1,
           "a two-plane command goes to planes 2k and 2k + 1 of a die, in this order");
    ensure(one.value() - g.block_at(first, 0).value() == other.value() - g.block_at(second, 0).value(), "a two-plane command has one block offset");
}

void check_pair(const NandArray& array, Ppn one, Ppn other) {
    const Geometry& g = array.geometry();
    check_pair(array, g.block_of(one), g.block_of(other));
    ensure(g.page_in_block(one) == g.page_in_block(other), "a two-plane command has one page offset");
}

/// Both are over at the same time: the error of the first that failed, the image's before the flash's.
NandArray::Result joined(NandArray::Result one, const NandArray::Result& other) {
    if (one && other) return std::max(*one, *other);
    const bool takes_other = one || (!other && other.error().kind == NandErrorKind::host_io && one.error().kind != NandErrorKind::host_io);
    const SimTime end = std::max(one ? *one : one.error().done, other ? *other : other.error().done);
    NandError error = takes_other ? other.error() : one.error();
    error.done = end;
    return std::unexpected(error);
}

} // namespace

NandArray::Result NandArray::program_two_plane(std::span<const PageProgram, 2> pages, const Io& io) {
    check_pair(*this, pages[0].page, pages[1].page);
    ++impl_->counters.two_plane_programs;
    return addressing_.program(pages, io);
}

NandArray::Result NandArray::read_two_plane(std::span<const PageRead, 2> pages, const Io& io) {
    check_pair(*this, pages[0].page, pages[1].page);
    ++impl_->counters.two_plane_reads;
    return addressing_.read_two_plane(pages, io);
}

NandArray::Result NandArray::erase_two_plane(std::span<const BlockId, 2> blocks, const Io& io) {
    check_pair(*this, blocks[0], blocks[1]);
    ++impl_->counters.two_plane_erases;
    return addressing_.erase_two_plane(blocks, io);
}

NandArray::Impl::Done NandArray::Impl::read_two_plane(std::span<const PageRead, 2> pages, const Io& io) {
    ensure(!cut_, "no operation after a power cut");
    for (const PageRead& page : pages) check_read_call(page);
    const std::array at{address_of(pages[0].page), address_of(pages[1].page)};
    for (const PageAddress& page : at) ensure(blocks.mode(page.block) == media.own(), "a two-plane read is one of the cells' own mode");
    const SimTime from = std::max(blocks.read_ready(at[0].block, at[0].page, io.when), blocks.read_ready(at[1].block, at[1].page, io.when));
    const std::array bytes{pages[0].bytes, pages[1].bytes};
    const auto when = scheduler.read_two_plane(geometry.plane_of(at[0].block), bytes, from, io.origin.cause == Cause::user);
    std::array<Sensed, 2> sensed{Sensed{when}, Sensed{when}};
    for (std::size_t i = 0; i < sensed.size(); ++i) {
        blocks.note_read(at[i].block, when.end);
        if (!bit_errors) continue;
        note_sensed(at[i].block);
        sense_again(sensed[i], pages[i].page, at[i], pages[i].bytes, io); // a retry is a read of one plane
    }
    Done first = finish_read(pages[0], at[0], sensed[0], io);
    return joined(std::move(first), finish_read(pages[1], at[1], sensed[1], io));
}

NandArray::Impl::Done NandArray::Impl::erase_two_plane(std::span<const BlockId, 2> pair, const Io& io) {
    ensure(!cut_, "no operation after a power cut");
    SimTime from = guard ? guard->before_erase(io.when) : io.when;
    for (const BlockId block : pair) {
        blocks.check_erase(block);
        if (faults != nullptr) [[unlikely]]
            from = faults->erase_from(block, from);
    }
    for (const BlockId block : pair) from = blocks.erase_ready(block, from);
    const auto when = scheduler.erase_two_plane(geometry.plane_of(pair[0]), from);
    Done first = finish_erase(pair[0], media.own(), when, io.origin);
    Done all = joined(std::move(first), finish_erase(pair[1], media.own(), when, io.origin));
    for (const BlockId block : pair)
        if (guard) guard->after_erase(block, when.end);
    return all;
}

} // namespace flashlab

/// Superpages: S neighbouring channels work as one channel, with pages S times as wide.
///
/// Idea       The members of a striped plane, block or page lie at the same place of S consecutive channels. Ids are numbered channel by channel, so
///            a member's id follows from the striped id by arithmetic. Users of the array see the wide geometry only.
/// Invariant  S divides the channels. Every part of a striped page carries the same OOB; the page counts as written iff all parts parse and agree.
///            A striped block is bad when any member is.
///            NandConfig::stripe_bytes says how a page's bytes are dealt out: so many on a member, then the next one's. As many as a member's
///            page has (the default): a short part of a page is one member's. Few: it is split evenly over all of them, as DUMBO splits a request.
/// Cost       S operations for one. A partial read touches only the members that it needs. No cost with S = 1: the array then has no Striped object.
///            With short stripes the data are copied once more.
/// Power cut  Each chip has its own outcome. A page of which some parts are missing reads as torn.
/// Source     Kang et al. (DUMBO) 4.2.1 and 4.2.4, MC3, MC6; nand/DESIGN.md, "Striping".
#pragma once

#include "nand/nand_array_impl.h"

namespace flashlab {

class NandArray::Striped final : public NandArray::Addressing {
public:
    Striped(Impl& chips, std::uint32_t width);

    [[nodiscard]] const Geometry& wide_geometry() const override { return geometry_; }
    Done read(const PageRead& page, const Io& io) override;
    Done read(std::span<const PageRead> pages, const Io& io) override;
    std::expected<OobRead, NandError> read_oob(Ppn page, const Io& io) override;
    Done program(std::span<const PageProgram> pages, const Io& io) override;
    std::expected<CopiedPage, NandError> copy(Ppn from, Ppn to, const CopyMarks* marks, const Io& io) override;
    Done erase(BlockId block, CellType mode, const Io& io) override;
    Done read_two_plane(std::span<const PageRead, 2> pages, const Io& io) override;
    Done erase_two_plane(std::span<const BlockId, 2> blocks, const Io& io) override;
    Done mark_bad(BlockId block, SimTime now) override;
    std::expected<StoredOob, NandError> inspect_oob(Ppn page) override;
    [[nodiscard]] bool is_bad(BlockId block) const override;
    [[nodiscard]] bool is_factory_bad(BlockId block) const override;
    /// Members are erased together; a cut may leave them in two modes. The one with fewer pages counts.
    [[nodiscard]] CellType mode_of(BlockId block) const override;
    [[nodiscard]] std::uint32_t pages_in(BlockId block) const override { return chips_.media.of(mode_of(block)).pages; }
    [[nodiscard]] std::uint32_t erase_count(BlockId block) const override;
    [[nodiscard]] std::uint32_t write_pointer(BlockId block) override;
    [[nodiscard]] SimTime plane_free_at(PlaneId plane) const override;

private:
    [[nodiscard]] PlaneId member(PlaneId plane, std::uint32_t m) const { return PlaneId{place(planes_, plane.value(), m)}; }
    [[nodiscard]] BlockId member(BlockId block, std::uint32_t m) const { return BlockId{place(blocks_, block.value(), m)}; }
    [[nodiscard]] Ppn member(Ppn page, std::uint32_t m) const { return Ppn{place(pages_, page.value(), m)}; }
    [[nodiscard]] std::uint32_t place(const Divider& per_channel, std::uint32_t id, std::uint32_t m) const {
        return id + (per_channel.divide(id) * (width_ - 1) + m) * per_channel.divisor();
    }

    /// How many of the first `bytes` of a striped page lie on member m: they are the first ones of its own page.
    [[nodiscard]] std::uint32_t share(std::uint32_t bytes, std::uint32_t m) const {
        const std::uint32_t round = stripe_ * width_;
        return bytes / round * stripe_ + std::clamp(bytes % round, m * stripe_, (m + 1) * stripe_) - m * stripe_;
    }
    struct Range {
        std::uint32_t begin;
        std::uint32_t bytes;
    };
    /// What member m has of a part of a striped page.
    [[nodiscard]] Range range(std::uint32_t offset, std::uint32_t bytes, std::uint32_t m) const {
        const std::uint32_t begin = share(offset, m);
        return {begin, share(offset + bytes, m) - begin};
    }
    [[nodiscard]] bool in_pages() const { return stripe_ == chips_.geometry.page_bytes(); }
    /// Where member m's data of this read go: into the read's own target, or, with short stripes, into scratch_ until deal() brings them there.
    [[nodiscard]] std::span<std::byte> target_of(const PageRead& page, Range range, std::uint32_t m);
    void deal(const PageRead& page, std::uint32_t m);
    [[nodiscard]] Done read_part(const PageRead& page, std::uint32_t m, const Io& io);
    /// Member m's part of a whole striped page that is programmed, as `at` says in scratch_ if it has to be gathered.
    [[nodiscard]] std::span<const std::byte> part_of(std::span<const std::byte> data, std::uint32_t m, std::size_t at);

    Impl& chips_;
    std::uint32_t width_;
    std::uint32_t stripe_; ///< bytes
    Geometry geometry_;
    Divider planes_; ///< in a channel
    Divider blocks_;
    Divider pages_;
    std::vector<PageProgram> parts_; ///< of the program at hand
    std::vector<std::byte> scratch_; ///< a member's part of each page at hand, with short stripes
};

} // namespace flashlab

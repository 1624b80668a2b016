/// How the addresses of a NandArray's users reach the chips: as they are, striped, or with parity. Chosen once, when the array is made. Internal to
/// nand/.
///
/// Idea       Every call that names a plane, a block or a page goes through here: NandArray::Impl takes the address as it is, NandArray::Striped
///            makes it S of them, NandArray::Rain finds the die of W on which it lies. What names none (cuts, clocks, counters) concerns the chips
///            alone.
/// Invariant  One of the three stands behind an array for all its life.
/// Cost       One virtual call an operation.
/// Power cut  Keeps nothing.
#pragma once

#include "nand/nand_array.h"

namespace flashlab {

/// The OOB of a copy: its original's, with other marks where some are given.
[[nodiscard]] inline PageOob oob_of_copy(const PageOob& original, const CopyMarks* marks) {
    if (marks == nullptr) return original;
    return {original.lpn, original.sequence, original.kind, marks->scheme_word, marks->stream};
}

class NandArray::Addressing {
public:
    using Done = std::expected<SimTime, NandError>;
    virtual ~Addressing() = default;
    [[nodiscard]] virtual const Geometry& wide_geometry() const = 0; ///< as the users see it
    virtual Done read(const PageRead& page, const Io& io) = 0;
    virtual Done read(std::span<const PageRead> pages, const Io& io) = 0;
    virtual std::expected<OobRead, NandError> read_oob(Ppn page, const Io& io) = 0;
    virtual Done program(std::span<const PageProgram> pages, const Io& io) = 0;
    /// `scheme_word`: none keeps the page's own.
    virtual std::expected<CopiedPage, NandError> copy(Ppn from, Ppn to, const CopyMarks* marks, const Io& io) = 0;
    /// By default one copy() after another.
    virtual CopiedRun copy_run(Ppn from, Ppn to, std::uint32_t pages, const Io& io);
    virtual Done erase(BlockId block, CellType mode, const Io& io) = 0;
    // Of a pair that NandArray has found allowed; a two-plane program is program().
    virtual Done read_two_plane(std::span<const PageRead, 2> pages, const Io& io) = 0;
    virtual Done erase_two_plane(std::span<const BlockId, 2> blocks, const Io& io) = 0;
    virtual Done mark_bad(BlockId block, SimTime now) = 0;
    [[nodiscard]] virtual bool is_bad(BlockId block) const = 0;
    [[nodiscard]] virtual bool is_factory_bad(BlockId block) const = 0;
    [[nodiscard]] virtual CellType mode_of(BlockId block) const = 0;
    [[nodiscard]] virtual std::uint32_t pages_in(BlockId block) const = 0;
    [[nodiscard]] virtual std::uint32_t erase_count(BlockId block) const = 0;
    [[nodiscard]] virtual std::uint32_t write_pointer(BlockId block) = 0;
    virtual std::expected<StoredOob, NandError> inspect_oob(Ppn page) = 0;
    /// By default what inspect_oob() says, without a checksum of data.
    virtual std::expected<PageRecord, NandError> inspect(Ppn page);
    virtual std::expected<void, NandError> inspect(BlockId block, std::span<PageRecord> to);
    [[nodiscard]] virtual SimTime plane_free_at(PlaneId plane) const = 0;
};

} // namespace flashlab

/// What COFTL writes on flash besides data: the OOB word, summary and replacement pages, log versions and the records between them.
///
/// Idea       Plain structs with encode and decode; the bytes are told in ftl/FORMAT-coftl.md.
/// Invariant  decode(encode(x)) == x; a decode of anything else fails or gives something that its caller still checks against the chain.
/// Cost       Linear in what is written.
/// Power cut  A page is believed iff its ECC holds, a version or record iff the log gives it back whole.
/// Source     Chang et al., III C 2: CO6 (summary and replacement pages), CO9 (log version: virtual block table and free list).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ftl/schemes/coftl_mapped.h"

namespace flashlab {

/// Where a virtual page lies within its chain: 0 = nowhere, else (set's index << 16 | page set) + 1, with the top bit where its data are lost.
class CoftlPlace {
public:
    static constexpr std::uint32_t max_page_sets = 0xffff;
    constexpr CoftlPlace() = default;
    constexpr CoftlPlace(ChainIndex index, RowId row, bool lost) : bits_{((index.value() << 16 | row.value()) + 1) | (lost ? lost_bit : 0)} {}
    static constexpr CoftlPlace from_bits(std::uint32_t bits) {
        CoftlPlace p;
        p.bits_ = bits;
        return p;
    }
    [[nodiscard]] constexpr bool mapped() const { return bits_ != 0; }
    [[nodiscard]] constexpr bool lost() const { return (bits_ & lost_bit) != 0; }
    [[nodiscard]] constexpr ChainIndex index() const { return ChainIndex{((bits_ & ~lost_bit) - 1) >> 16}; }
    [[nodiscard]] constexpr RowId row() const { return RowId{((bits_ & ~lost_bit) - 1) & 0xffff}; }
    [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }
    /// So many page sets further in the same set; of a place that is mapped and not lost.
    [[nodiscard]] constexpr CoftlPlace further(std::uint32_t rows) const { return from_bits(bits_ + rows); }
    friend constexpr bool operator==(CoftlPlace, CoftlPlace) = default;

private:
    static constexpr std::uint32_t lost_bit = 0x8000'0000;
    std::uint32_t bits_ = 0;
};

/// The scheme's word in the OOB of a data page: the set's index in its chain, and the pointer back. In a primary set, which needs no pointer back,
/// the lower part tells how many page sets of it a merge wrote: fewer than these, and the merge never ended.
struct CoftlWord {
    static constexpr std::uint32_t max_sets = 1u << 24;
    static constexpr std::uint32_t max_index = 0xff;
    ChainIndex index = primary_index;
    std::uint32_t low = 0; ///< what it means, the functions below say
    [[nodiscard]] static constexpr CoftlWord in_primary(std::uint32_t merged_rows) { return {primary_index, merged_rows}; }
    /// Also in a replacement page, which names the set that it points to.
    [[nodiscard]] static constexpr CoftlWord naming(ChainIndex index, SetId set) { return {index, set.value()}; }
    [[nodiscard]] static constexpr CoftlWord in_summary(ChainIndex commit) { return {commit, 0}; }
    [[nodiscard]] constexpr bool is_in_primary() const { return index == primary_index; }
    [[nodiscard]] constexpr std::uint32_t merged_rows() const { return low; } ///< of a word in a primary set
    [[nodiscard]] constexpr SetId set() const { return SetId{low}; }          ///< of any other data page: its primary set
    [[nodiscard]] constexpr std::uint32_t encode() const { return index.value() << 24 | low; }
    [[nodiscard]] static constexpr CoftlWord decode(std::uint32_t word) { return {ChainIndex{word >> 24}, word & (max_sets - 1)}; }
    friend constexpr bool operator==(const CoftlWord&, const CoftlWord&) = default;
};

/// The i-th summary page: the virtual page table at the i-th commit.
struct CoftlSummary {
    static constexpr std::uint32_t magic = 0x5553'4f43; // "COSU"
    static constexpr std::size_t header_bytes = 16;
    static constexpr ChainIndex swapped{0xffff}; ///< in place of a commit's number: a table in the swap area
    [[nodiscard]] static constexpr std::size_t bytes(std::uint32_t places) { return header_bytes + 4 * std::size_t{places}; }
    static void encode(std::span<std::byte> page, ChainIndex commit, std::uint64_t birth, std::span<const CoftlPlace> places);
    /// False: not the summary of this commit of this primary. Into a buffer of the caller: a load allocates nothing.
    [[nodiscard]] static bool decode(std::span<const std::byte> page, ChainIndex commit, std::uint64_t birth, std::span<CoftlPlace> places);
};

/// The i-th replacement page: the pointer to the i-th replacement set.
struct CoftlPointer {
    static constexpr std::uint32_t magic = 0x5052'4f43; // "CORP"
    static constexpr std::size_t bytes = 16;
    static void encode(std::span<std::byte> page, SetId set, std::uint64_t birth);
};

/// At `birth`, `row` of its chain, exactly these pages of the virtual block were mapped: older versions of all others are dead (trimmed).
struct CoftlStatement {
    VirtualBlockId vb{0};
    std::uint64_t birth = 0;
    RowId row = first_row;
    std::vector<std::uint64_t> mapped; ///< a bit a virtual page
    [[nodiscard]] bool holds(VirtualPage page) const { return CoftlMapped::test(mapped, page); }
    friend bool operator==(const CoftlStatement&, const CoftlStatement&) = default;
};

struct CoftlVersion {
    static constexpr std::uint32_t magic = 0x4c56'4f43; // "COVL"
    static constexpr std::uint16_t format = 2;          ///< 1 had no switches, and is read
    struct Free {
        SetId set;
        bool erased;
        friend bool operator==(const Free&, const Free&) = default;
    };
    struct Link {
        SetId set;
        std::uint64_t birth;
        friend bool operator==(const Link&, const Link&) = default;
    };
    /// An entry of the virtual block table: only of virtual blocks that have a chain.
    struct Chain {
        VirtualBlockId vb{0};
        std::uint32_t length = 0;
        RowId next_row = first_row; ///< of the last set: the next free page set
        bool known = false;         ///< next_row and the flags are as the flash is: true after a clean shutdown
        bool committed = false;
        bool closed = false;
        bool sealed = false;
        friend bool operator==(const Chain&, const Chain&) = default;
    };
    bool clean = false;
    std::uint32_t width = 0;
    std::uint32_t sets = 0;
    std::uint32_t virtual_blocks = 0;
    std::uint64_t first_birth = 0; ///< of the first listed set; the next one has the next birth, and so on
    std::uint32_t listed = 0;      ///< of the free ones, the first: these may be taken before the next version
    std::vector<Free> free;        ///< oldest first
    std::vector<Chain> chains;
    std::vector<Link> links; ///< of all chains, primary first
    std::vector<CoftlStatement> statements;

    [[nodiscard]] static std::uint64_t max_bytes(std::uint32_t sets, std::uint32_t virtual_blocks, std::uint32_t pages_per_virtual_block);
    void encode(std::vector<std::byte>& out) const;
    [[nodiscard]] static std::optional<CoftlVersion> decode(std::span<const std::byte> in);
    friend bool operator==(const CoftlVersion&, const CoftlVersion&) = default;
};

/// What a flush adds to a version: trims, and virtual blocks of which nothing is mapped any more.
struct CoftlRecord {
    static constexpr std::uint32_t trims = 1;    ///< kinds of records in the log
    static constexpr std::uint32_t opened = 2;   ///< after a clean version: it is one no longer; no payload
    static constexpr std::uint32_t switched = 3; ///< each drop names a set that is the primary now; the chain before it is gone
    struct Drop {
        VirtualBlockId vb{0};
        std::uint64_t birth = 0; ///< of the primary: this chain, and every older one, is gone
        friend bool operator==(const Drop&, const Drop&) = default;
    };
    std::vector<Drop> drops;
    std::vector<CoftlStatement> statements;
    [[nodiscard]] std::size_t encoded_size() const;
    void encode(std::vector<std::byte>& out) const;
    [[nodiscard]] static std::optional<CoftlRecord> decode(std::span<const std::byte> in);
    friend bool operator==(const CoftlRecord&, const CoftlRecord&) = default;
};

} // namespace flashlab

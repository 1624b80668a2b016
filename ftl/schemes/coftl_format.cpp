#include "ftl/schemes/coftl_format.h"

#include "base/contract.h"
#include "base/little_endian.h"

namespace flashlab {

namespace {

constexpr std::size_t version_header_bytes = 48;
constexpr std::size_t record_header_bytes = 8;
constexpr std::size_t free_bytes = 4;
constexpr std::size_t chain_bytes = 12;
constexpr std::size_t link_bytes = 12;
constexpr std::size_t drop_bytes = 12;
constexpr std::size_t statement_head_bytes = 20;
constexpr std::uint32_t erased_bit = 0x8000'0000;

std::size_t statement_bytes(const CoftlStatement& s) { return statement_head_bytes + 8 * s.mapped.size(); }

void encode_statement(LittleEndianWriter& out, const CoftlStatement& s) {
    out.u32(s.vb.value());
    out.u32(s.row.value());
    out.u64(s.birth);
    out.u32(static_cast<std::uint32_t>(s.mapped.size()));
    for (const std::uint64_t word : s.mapped) out.u64(word);
}

bool decode_statement(LittleEndianReader& in, CoftlStatement& s) {
    s.vb = VirtualBlockId{in.u32()};
    s.row = RowId{in.u32()};
    s.birth = in.u64();
    const std::uint32_t words = in.u32();
    if (words > in.left() / 8) return false;
    s.mapped.resize(words);
    for (std::uint64_t& word : s.mapped) word = in.u64();
    return !in.failed();
}

bool decode_statements(LittleEndianReader& in, std::uint32_t count, std::vector<CoftlStatement>& to) {
    if (count > in.left() / statement_head_bytes) return false;
    to.resize(count);
    for (CoftlStatement& s : to)
        if (!decode_statement(in, s)) return false;
    return true;
}

} // namespace

void CoftlSummary::encode(std::span<std::byte> page, ChainIndex commit, std::uint64_t birth, std::span<const CoftlPlace> places) {
    LittleEndianWriter out{page};
    out.u32(magic);
    out.u16(static_cast<std::uint16_t>(commit.value()));
    out.u16(static_cast<std::uint16_t>(places.size()));
    out.u64(birth);
    for (const CoftlPlace p : places) out.u32(p.bits());
    out.zeros(page.size() - out.written().size());
}

bool CoftlSummary::decode(std::span<const std::byte> page, ChainIndex commit, std::uint64_t birth, std::span<CoftlPlace> places) {
    LittleEndianReader in{page};
    if (in.u32() != magic || in.u16() != commit.value() || in.u16() != static_cast<std::uint16_t>(places.size()) || in.u64() != birth) return false;
    for (CoftlPlace& p : places) {
        p = CoftlPlace::from_bits(in.u32());
        if (p.mapped() && p.index() > commit) return false;
    }
    return !in.failed();
}

void CoftlPointer::encode(std::span<std::byte> page, SetId set, std::uint64_t birth) {
    LittleEndianWriter out{page};
    out.u32(magic);
    out.u32(set.value());
    out.u64(birth);
    out.zeros(page.size() - out.written().size());
}

std::uint64_t CoftlVersion::max_bytes(std::uint32_t sets, std::uint32_t virtual_blocks, std::uint32_t pages_per_virtual_block) {
    const std::uint64_t statement = statement_head_bytes + 8 * ((std::uint64_t{pages_per_virtual_block} + 63) / 64);
    return version_header_bytes + std::uint64_t{sets} * link_bytes + virtual_blocks * (chain_bytes + statement);
}

void CoftlVersion::encode(std::vector<std::byte>& to) const {
    std::size_t size = version_header_bytes + free.size() * free_bytes + chains.size() * chain_bytes + links.size() * link_bytes;
    for (const CoftlStatement& s : statements) size += statement_bytes(s);
    to.resize(size);
    LittleEndianWriter out{to};
    out.u32(magic);
    out.u16(format);
    out.u16(clean ? 1 : 0);
    out.u32(width);
    out.u32(sets);
    out.u32(virtual_blocks);
    out.u32(listed);
    out.u64(first_birth);
    out.u32(static_cast<std::uint32_t>(free.size()));
    out.u32(static_cast<std::uint32_t>(chains.size()));
    out.u32(static_cast<std::uint32_t>(links.size()));
    out.u32(static_cast<std::uint32_t>(statements.size()));
    for (const Free& f : free) out.u32(f.set.value() | (f.erased ? erased_bit : 0));
    for (const Chain& c : chains) {
        out.u32(c.vb.value());
        out.u16(static_cast<std::uint16_t>(c.length));
        out.u16(static_cast<std::uint16_t>((c.known ? 1 : 0) | (c.committed ? 2 : 0) | (c.closed ? 4 : 0) | (c.sealed ? 8 : 0)));
        out.u32(c.next_row.value());
    }
    for (const Link& l : links) {
        out.u32(l.set.value());
        out.u64(l.birth);
    }
    for (const CoftlStatement& s : statements) encode_statement(out, s);
    ensure(out.full(), "a version's size and fields agree");
}

std::optional<CoftlVersion> CoftlVersion::decode(std::span<const std::byte> from) {
    LittleEndianReader in{from};
    CoftlVersion v;
    if (in.u32() != magic) return std::nullopt;
    if (const std::uint16_t written = in.u16(); written == 0 || written > format) return std::nullopt;
    v.clean = in.u16() != 0;
    v.width = in.u32();
    v.sets = in.u32();
    v.virtual_blocks = in.u32();
    v.listed = in.u32();
    v.first_birth = in.u64();
    const std::uint32_t free_count = in.u32();
    const std::uint32_t chain_count = in.u32();
    const std::uint32_t link_count = in.u32();
    const std::uint32_t statement_count = in.u32();
    if (std::uint64_t{free_count} * free_bytes + std::uint64_t{chain_count} * chain_bytes > in.left() || link_count > in.left() / link_bytes)
        return std::nullopt;
    for (std::uint32_t i = 0; i < free_count; ++i) {
        const std::uint32_t bits = in.u32();
        v.free.push_back({SetId{bits & ~erased_bit}, (bits & erased_bit) != 0});
        if ((bits & ~erased_bit) >= v.sets) return std::nullopt;
    }
    std::uint64_t linked = 0;
    for (std::uint32_t i = 0; i < chain_count; ++i) {
        Chain c;
        c.vb = VirtualBlockId{in.u32()};
        c.length = in.u16();
        const std::uint16_t flags = in.u16();
        c.known = (flags & 1) != 0;
        c.committed = (flags & 2) != 0;
        c.closed = (flags & 4) != 0;
        c.sealed = (flags & 8) != 0;
        c.next_row = RowId{in.u32()};
        linked += c.length;
        if (c.vb.value() >= v.virtual_blocks || c.length == 0) return std::nullopt;
        v.chains.push_back(c);
    }
    for (std::uint32_t i = 0; i < link_count; ++i) {
        const SetId set{in.u32()};
        v.links.push_back({set, in.u64()});
        if (set.value() >= v.sets) return std::nullopt;
    }
    if (in.failed() || linked != link_count || v.listed > free_count) return std::nullopt;
    if (!decode_statements(in, statement_count, v.statements) || in.left() != 0) return std::nullopt;
    return v;
}

std::size_t CoftlRecord::encoded_size() const {
    std::size_t size = record_header_bytes + drops.size() * drop_bytes;
    for (const CoftlStatement& s : statements) size += statement_bytes(s);
    return size;
}

void CoftlRecord::encode(std::vector<std::byte>& to) const {
    to.resize(encoded_size());
    LittleEndianWriter out{to};
    out.u32(static_cast<std::uint32_t>(drops.size()));
    out.u32(static_cast<std::uint32_t>(statements.size()));
    for (const Drop& d : drops) {
        out.u32(d.vb.value());
        out.u64(d.birth);
    }
    for (const CoftlStatement& s : statements) encode_statement(out, s);
    ensure(out.full(), "a record's size and fields agree");
}

std::optional<CoftlRecord> CoftlRecord::decode(std::span<const std::byte> from) {
    LittleEndianReader in{from};
    CoftlRecord r;
    const std::uint32_t drop_count = in.u32();
    const std::uint32_t statement_count = in.u32();
    if (drop_count > in.left() / drop_bytes) return std::nullopt;
    for (std::uint32_t i = 0; i < drop_count; ++i) {
        const VirtualBlockId vb{in.u32()};
        r.drops.push_back({vb, in.u64()});
    }
    if (!decode_statements(in, statement_count, r.statements) || in.failed() || in.left() != 0) return std::nullopt;
    return r;
}

} // namespace flashlab

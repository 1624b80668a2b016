// The fixed parts of both images: any bytes decode or are refused, and what decodes is what its own encoding says.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/image_generation.h"
#include "fs/format.h"
#include "fs/inode.h"
#include "fs/journal_format.h"
#include "nand/image_layout.h"
#include "nand/page_oob.h"
#include "pram/pram_image_header.h"
#include "pram/redo_record.h"

using namespace flashlab;

namespace {

template <class Part>
void decode(std::span<const std::byte> bytes) {
    if (bytes.size() < Part::encoded_size) return;
    const auto part = Part::decode(bytes.template first<Part::encoded_size>());
    if (!part) return;
    std::array<std::byte, Part::encoded_size> again{};
    part->encode(again);
    const auto twice = Part::decode(again);
    if (!twice) __builtin_trap();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span{data, size});
    (void)ImageHeader::decode(bytes);
    decode<PageOob>(bytes);
    decode<PramImageHeader>(bytes);
    decode<ImageGeneration>(bytes);
    decode<SuperblockIdentity>(bytes);
    decode<JournalSuperblock>(bytes);
    (void)InodeRecord::decode(bytes);
    (void)decode_redo_record(bytes, 7);
    (void)decode_journal_record(bytes, 7);
    if (bytes.size() >= ImageLayout::page_record_bytes) {
        PageRecord record;
        (void)decode_page_record(bytes.first<ImageLayout::page_record_bytes>(), record);
    }
    if (bytes.size() >= ImageLayout::block_record_bytes) {
        BlockRecord record;
        (void)decode_block_record(bytes.first<ImageLayout::block_record_bytes>(), record);
    }
    return 0;
}

#include "tools/drive/image_mender.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <sys/mman.h>

#include "base/crc32c.h"
#include "base/crc_repair.h"
#include "base/image_generation.h"
#include "base/little_endian.h"
#include "nand/image_layout.h"
#include "nand/nand_evidence.h"
#include "nand/pair_backup.h"
#include "pram/image_pram_store.h"
#include "pram/pram_image_header.h"
#include "pram/pram_line_checks.h"
#include "pram/pram_wear.h"
#include "tools/drive/undoable_file.h"

namespace flashlab {

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t header_bytes = ImageHeader::encoded_size;
constexpr std::size_t crc_bytes = sizeof(std::uint32_t);
constexpr std::array<std::uint64_t, 2> pram_generations{64, 128}; ///< behind the state's beginning, pram/FORMAT.md
constexpr std::size_t generation_crc_at = ImageGeneration::encoded_size - crc_bytes;
constexpr std::size_t block_crc_at = ImageLayout::block_record_bytes - crc_bytes;

static_assert(ImageHeader::encoded_size == PramImageHeader::encoded_size);

std::uint32_t crc_of_zeros(std::size_t bytes) { return crc32c(Bytes(bytes)); }

/// A record that reads, and whose spare bytes do, too, where it promises a programmed page.
bool reads(std::span<const std::byte, ImageLayout::page_record_bytes> bytes) {
    PageRecord record;
    if (!decode_page_record(bytes, record)) return false;
    return record.state != CellState::programmed || PageOob::decode(record.oob) || BackupOob::decode(record.oob);
}

} // namespace

class ImageMender::Impl {
public:
    Impl(const std::string& directory, const DeviceConfig& config)
        : nand_{std::filesystem::path{directory} / "nand.img"}, pram_{std::filesystem::path{directory} / "pram.img"}, config_{config} {}

    std::expected<void, std::string> mend() {
        const auto geometry = Geometry::make(config_.ssd.nand.geometry);
        if (!geometry) return std::unexpected(geometry.error());
        mend_header(nand_);
        mend_header(pram_);
        mend_nand(*geometry);
        mend_pram();
        vouch_again(*geometry);
        for (const auto& [file, name] : {std::pair{&nand_, "nand.img"}, std::pair{&pram_, "pram.img"}})
            if (file->failure() != 0) return std::unexpected(fmt::format("{}: {}", name, std::strerror(file->failure())));
        return {};
    }

    UndoableFile nand_, pram_;
    std::uint64_t bits_ = 0;
    std::vector<LostPart> lost_;

private:
    void flip(UndoableFile& file, std::uint64_t at, unsigned bit) {
        Bytes byte = file.read(at, 1);
        byte.front() ^= static_cast<std::byte>(1u << bit);
        file.write(at, byte);
        ++bits_;
    }
    /// A bit of a message at `at`, or of its checksum, wherever that lies.
    void flip(UndoableFile& file, std::uint64_t at, std::uint64_t message_bytes, std::uint64_t crc_at, BitPlace place) {
        const std::uint64_t byte = place / 8;
        flip(file, byte < message_bytes ? at + byte : crc_at + byte - message_bytes, static_cast<unsigned>(place % 8));
    }

    void mend_header(UndoableFile& file) {
        const Bytes header = file.read(0, header_bytes);
        const std::size_t message = header_bytes - crc_bytes;
        const std::uint32_t difference = load_le<std::uint32_t>(std::span{header}.subspan(message)) ^ crc32c(std::span{header}.first(message));
        if (difference == 0 || file.bytes() < header_bytes) return;
        if (const auto place = find_flipped_bit(message, difference)) flip(file, 0, message, message, *place);
    }

    /// A short message with its checksum behind it. False: it stays damaged.
    bool mend_short(UndoableFile& file, std::uint64_t at, std::size_t message, std::uint32_t also, const FlippedBits& flipped) {
        const Bytes bytes = file.read(at, message + crc_bytes);
        const std::uint32_t difference = load_le<std::uint32_t>(std::span{bytes}.subspan(message)) ^ crc32c(std::span{bytes}.first(message)) ^ also;
        if (difference == 0) return true;
        const auto places = flipped.find(difference);
        if (!places) return false;
        for (const BitPlace place : *places) flip(file, at, message, at + message, place);
        return true;
    }

    void mend_generation(UndoableFile& file, std::uint64_t at) {
        const Bytes bytes = file.read(at, ImageGeneration::encoded_size);
        const bool is_new = std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
        if (!is_new) (void)mend_short(file, at, generation_crc_at, 0, generation_bits_);
    }

    void mend_evidence(UndoableFile& file, std::uint64_t at, std::size_t entries) {
        constexpr std::size_t message = ImageEvidence::encoded_size - crc_bytes;
        const Bytes raw = file.read(at, entries * ImageEvidence::encoded_size);
        const FlippedBits flipped{message};
        ImageEvidence entry;
        for (std::size_t i = 0; i < entries; ++i)
            if (const std::size_t from = i * ImageEvidence::encoded_size;
                !ImageEvidence::decode(std::span{raw}.subspan(from).first<ImageEvidence::encoded_size>(), entry))
                (void)mend_short(file, at + from, message, crc_of_zeros(message), flipped);
    }

    void mend_nand(const Geometry& geometry) {
        const ImageLayout layout{geometry};
        const auto header = ImageHeader::decode(nand_.read(0, header_bytes));
        const std::uint64_t length = layout.file_bytes(header ? header->version : ImageHeader::current_version);
        if (nand_.bytes() < layout.payload_at) return; // records are missing: an older version of a page would pass for its newest
        if (nand_.bytes() < length) {
            if (config_.needs_pram()) return; // with its end the image has lost what says that it belongs to this pram.img
            lost_.push_back({"nand.img", fmt::format("bytes {} to {}: they were cut off", nand_.bytes(), length - 1)});
            nand_.extend(length);
            was_cut_ = true;
        }
        mend_generation(nand_, layout.generation_at);
        keeps_evidence_ = header && header->version > ImageHeader::first_version;
        if (keeps_evidence_)
            for (const bool second : {false, true}) mend_evidence(nand_, layout.evidence_at(second), geometry.blocks());
        mend_blocks(geometry, layout);
        mend_pages(geometry, layout);
    }

    void mend_blocks(const Geometry& geometry, const ImageLayout& layout) {
        const std::uint32_t also = crc_of_zeros(block_crc_at);
        const FlippedBits flipped{block_crc_at};
        std::vector<BlockId> damaged;
        BlockRecord most{};
        for (std::uint32_t i = 0; i < geometry.blocks(); ++i) {
            const BlockId block{i};
            BlockRecord record;
            if (!mend_short(nand_, layout.block_record_at(block), block_crc_at, also, flipped))
                damaged.push_back(block);
            else if (const Bytes bytes = nand_.read(layout.block_record_at(block), ImageLayout::block_record_bytes);
                     decode_block_record(std::span{bytes}.first<ImageLayout::block_record_bytes>(), record))
                most.erase_count = std::max(most.erase_count, record.erase_count);
        }
        std::array<std::byte, ImageLayout::block_record_bytes> mended{};
        encode_block_record(most, mended);
        for (const BlockId block : damaged) {
            nand_.write(layout.block_record_at(block), mended);
            changed_blocks_.insert(block.value());
            lost_counts_ = true;
            lost_.push_back({fmt::format("nand.img block {}", block.value()), "its erase count and bad mark"});
        }
    }

    /// The records of a block, then the data that they promise.
    void mend_pages(const Geometry& geometry, const ImageLayout& layout) {
        constexpr std::size_t size = ImageLayout::page_record_bytes;
        for (std::uint32_t i = 0; i < geometry.blocks(); ++i) {
            const Ppn first = geometry.page_of(BlockId{i}, 0);
            const std::uint64_t at = layout.page_record_at(first);
            if (nand_.next_data(at) >= at + geometry.pages_per_block() * size) continue; // never written
            Bytes records = nand_.read(at, geometry.pages_per_block() * size);
            for (std::uint32_t page = 0; page < geometry.pages_per_block(); ++page) {
                const std::span<std::byte, size> bytes{records.data() + page * size, size};
                PageRecord record;
                if (!decode_page_record(bytes, record)) {
                    if (!mend_page_record(at + page * size, bytes)) continue;
                    changed_blocks_.insert(i);
                }
                if (decode_page_record(bytes, record) && record.state == CellState::programmed)
                    mend_data(layout.data_at(Ppn{first.value() + page}), geometry.page_bytes(), record.data_crc);
            }
        }
    }

    /// The check has 24 bits and covers the spare bytes, which have 32 of their own: the one flip after which all of it holds.
    bool mend_page_record(std::uint64_t at, std::span<std::byte, ImageLayout::page_record_bytes> bytes) {
        std::optional<BitPlace> found;
        for (BitPlace place = 0; place < bytes.size() * 8; ++place) {
            const auto bit = static_cast<std::byte>(1u << place % 8);
            bytes[place / 8] ^= bit;
            const bool holds = reads(bytes);
            bytes[place / 8] ^= bit;
            if (holds && found) return false;
            if (holds) found = place;
        }
        if (!found) return false;
        bytes[*found / 8] ^= static_cast<std::byte>(1u << *found % 8);
        flip(nand_, at + *found / 8, static_cast<unsigned>(*found % 8));
        return true;
    }

    void mend_data(std::uint64_t at, std::size_t page_bytes, std::uint32_t crc) {
        const Bytes data = nand_.read(at, page_bytes);
        const std::uint32_t difference = crc ^ crc32c(data);
        if (difference == 0) return;
        const auto place = find_flipped_bit(page_bytes, difference);
        if (place && *place < page_bytes * 8) flip(nand_, at + *place / 8, static_cast<unsigned>(*place % 8)); // its record, with the CRC, is right
    }

    void mend_pram() {
        const Bytes raw = pram_.read(0, header_bytes);
        const auto header = PramImageHeader::decode(std::span{raw}.first<PramImageHeader::encoded_size>());
        if (!header || header->file_bytes() != pram_.bytes()) return;
        for (const std::uint64_t at : pram_generations) mend_generation(pram_, header->state_offset() + at);
        pram_state_at_ = header->state_offset();
        if (!config_.needs_pram()) return;
        for (const bool second : {false, true})
            mend_evidence(pram_, header->evidence_offset(second), pram_parts(pram_wear_regions(header->cell_bytes)));
        mend_lines(*header);
        if (header->checks_wear()) mend_wear(*header);
    }

    /// The lines that a kill left without their sums are not damaged: a private copy of the image settles them first.
    void mend_lines(const PramImageHeader& header) {
        void* mapped = ::mmap(nullptr, header.file_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, pram_.fd(), 0);
        if (mapped == MAP_FAILED) return;
        auto* image = static_cast<std::byte*>(mapped);
        PramLineChecks checks{std::span{image + header.cells_offset(), header.cell_bytes},
                              std::span{reinterpret_cast<std::uint32_t*>(image + header.sums_offset()), pram_lines(header.cell_bytes)},
                              *reinterpret_cast<PramChangeMark*>(image + header.state_offset())};
        checks.settle_mark();
        const std::vector<std::uint64_t> damaged = checks.damaged(0, checks.lines(), checks.lines());
        const std::uint32_t also = crc_of_zeros(pram_line_bytes);
        const FlippedBits flipped{pram_line_bytes};
        for (const std::uint64_t line : damaged) {
            const std::uint64_t at = header.cells_offset() + line * pram_line_bytes, crc_at = header.sums_offset() + line * crc_bytes;
            const std::uint32_t difference =
                load_le<std::uint32_t>(std::span{image + crc_at, crc_bytes}) ^ crc32c(std::span<const std::byte>{image + at, pram_line_bytes}) ^ also;
            const auto places = flipped.find(difference);
            if (!places) continue;
            for (const BitPlace place : *places) flip(pram_, at, pram_line_bytes, crc_at, place);
        }
        ::munmap(mapped, header.file_bytes());
    }

    void mend_wear(const PramImageHeader& header) {
        const std::uint64_t regions = pram_wear_regions(header.cell_bytes);
        const Bytes words = pram_.read(PramImageHeader::wear_offset(), regions * sizeof(std::uint64_t));
        std::vector<std::uint64_t> damaged;
        std::uint64_t most = 0;
        for (std::uint64_t region = 0; region < regions; ++region) {
            const auto word = load_le<std::uint64_t>(std::span{words}.subspan(region * sizeof(std::uint64_t)));
            if (is_sound_wear(word))
                most = std::max(most, wear_count_of(word));
            else
                damaged.push_back(region);
        }
        std::array<std::byte, sizeof(std::uint64_t)> mended{};
        store_le<std::uint64_t>(mended, sealed_wear(most));
        for (const std::uint64_t region : damaged) {
            pram_.write(PramImageHeader::wear_offset() + region * sizeof(std::uint64_t), mended);
            changed_parts_.insert(region / regions_in_pram_part(regions));
            lost_.push_back({fmt::format("pram.img wear counter {}", region), "how often the words of its region were written"});
        }
    }

    /// What was mended is vouched for anew, if all the rest is as it was vouched for. A nand.img without its end gets its generation back from
    /// pram.img, whose root tells whether the records are all there; after a kill it does not, as ever.
    void vouch_again(const Geometry& geometry) {
        if (!keeps_evidence_ || pram_state_at_ == 0) return;
        if (lost_counts_) pram_.change(pram_state_at_ + ImagePramStore::nand_tally_at, Bytes(sizeof(std::uint64_t)));
        const ImageLayout layout{geometry};
        const auto pram = ImagePramStore::open(pram_.path(), PramImageAccess::private_copy);
        auto generation = pram ? (*pram)->generation() : std::unexpected(std::string{});
        const NandEvidence nand{nand_.fd(), geometry};
        const auto blocks = nand.survey();
        if (!generation || !generation->has_evidence || !blocks) return;
        const auto parts = config_.needs_pram() ? (*pram)->survey() : std::vector<ImageEvidence>{};
        const std::uint64_t root = root_of(*blocks, EvidenceOwner::nand) ^ root_of(parts, EvidenceOwner::pram);
        const bool is_as_vouched = generation->is_exact && root == generation->root;
        if (was_cut_ && generation->is_exact && !is_as_vouched && changed_blocks_.empty()) return;
        if (!was_cut_ && !is_as_vouched && !differs_by_mending(nand, **pram, *generation, *blocks, parts)) return;
        generation->root = root;
        const auto encoded = [](const std::vector<ImageEvidence>& evidence) {
            Bytes raw(evidence.size() * ImageEvidence::encoded_size);
            for (std::size_t i = 0; i < evidence.size(); ++i)
                evidence[i].encode(std::span{raw}.subspan(i * ImageEvidence::encoded_size).first<ImageEvidence::encoded_size>());
            return raw;
        };
        nand_.change(layout.evidence_at(generation->second_copy), encoded(*blocks));
        pram_.change((*pram)->header().evidence_offset(generation->second_copy), encoded(parts));
        Bytes raw(ImageGeneration::encoded_size);
        generation->encode(std::span{raw}.first<ImageGeneration::encoded_size>());
        nand_.change(layout.generation_at, raw);
        for (const std::uint64_t at : pram_generations) pram_.change(pram_state_at_ + at, raw);
    }

    /// True: something was changed here, and nothing else is not as vouched for.
    bool differs_by_mending(const NandEvidence& nand, const ImagePramStore& pram, const ImageGeneration& generation,
                            const std::vector<ImageEvidence>& blocks, std::vector<ImageEvidence> parts) const {
        const auto vouched = nand.read(generation.second_copy);
        const auto vouched_parts = config_.needs_pram() ? pram.evidence(generation.second_copy) : std::vector<ImageEvidence>{};
        if ((changed_blocks_.empty() && changed_parts_.empty()) || !vouched || vouched_parts.size() != parts.size()) return false;
        if ((root_of(*vouched, EvidenceOwner::nand) ^ root_of(vouched_parts, EvidenceOwner::pram)) != generation.root) return false;
        bool differs = find_older_part(vouched_parts, parts, generation.is_exact) != parts.size();
        for (std::uint32_t i = 0; i < blocks.size(); ++i) {
            if (blocks[i] == (*vouched)[i]) continue;
            const auto age = nand.age_of(BlockId{i}, (*vouched)[i], blocks[i]);
            if (age && (*age == NandEvidence::Age::damaged || (*age == NandEvidence::Age::later && !generation.is_exact))) continue;
            if (!age || !changed_blocks_.contains(i)) return false;
            differs = true;
        }
        for (const std::size_t part : changed_parts_) parts[part] = vouched_parts[part];
        return differs && find_older_part(vouched_parts, parts, generation.is_exact) == parts.size();
    }

    DeviceConfig config_;
    bool was_cut_ = false;
    bool lost_counts_ = false; ///< of erases: what the tally of nand.img was made of
    bool keeps_evidence_ = false;
    std::uint64_t pram_state_at_ = 0;        ///< 0: pram.img does not decode
    std::set<std::uint32_t> changed_blocks_; ///< whose records were mended, or lost
    std::set<std::size_t> changed_parts_;    ///< of the PRAM, that lost a wear counter
    const FlippedBits generation_bits_{generation_crc_at};
};

ImageMender::ImageMender(const std::string& directory, const DeviceConfig& config) : impl_{std::make_unique<Impl>(directory, config)} {}
ImageMender::~ImageMender() = default;

std::expected<void, std::string> ImageMender::mend() { return impl_->mend(); }
std::uint64_t ImageMender::bits_mended() const { return impl_->bits_; }
const std::vector<LostPart>& ImageMender::lost() const { return impl_->lost_; }
void ImageMender::keep() {
    impl_->nand_.keep();
    impl_->pram_.keep();
}

} // namespace flashlab

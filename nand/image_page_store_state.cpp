/// What an image says of itself: its generation, its version, the evidence of its blocks and their tally.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

#include "nand/host_file.h"
#include "nand/image_page_store.h"

namespace flashlab {

std::expected<ImageGeneration, ImageError> ImagePageStore::generation() const {
    std::array<std::byte, ImageGeneration::encoded_size> raw{};
    if (auto read = read_all(fd_, layout_.generation_at, raw); !read)
        return std::unexpected(
            ImageError{ImageErrorKind::host, fmt::format("nand.img: cannot read its generation: {}", std::strerror(read.error().error_number))});
    auto known = ImageGeneration::decode(raw);
    if (!known) return std::unexpected(ImageError{ImageErrorKind::damaged, fmt::format("nand.img: {}", known.error())});
    return *known;
}

std::expected<void, HostIoError> ImagePageStore::set_generation(const ImageGeneration& generation) {
    std::array<std::byte, ImageGeneration::encoded_size> raw{};
    generation.encode(raw);
    return write_all(fd_, layout_.generation_at, raw);
}

std::expected<void, HostIoError> ImagePageStore::survey_changed(std::span<ImageEvidence> evidence) const {
    for (std::uint32_t i = 0; i < geometry_.blocks(); ++i) {
        if (!changed_[i]) continue;
        const auto now = this->evidence().survey(BlockId{i});
        if (!now) return std::unexpected(now.error());
        evidence[i] = *now;
    }
    return {};
}

std::expected<void, HostIoError> ImagePageStore::upgrade() {
    if (version_ == ImageHeader::current_version) return {};
    if (::ftruncate(fd_, static_cast<off_t>(layout_.total_bytes)) != 0) return std::unexpected(HostIoError{errno});
    std::array<std::byte, ImageHeader::encoded_size> raw{};
    ImageHeader{uuid_, geometry_.config()}.encode(raw);
    if (auto wrote = write_all(fd_, 0, raw); !wrote) return wrote;
    version_ = ImageHeader::current_version;
    return {};
}

void ImagePageStore::tally_into(std::uint64_t& cell, std::span<const ImageEvidence> blocks) {
    tally_cell_ = &cell;
    for (const ImageEvidence& block : blocks) tallied_.push_back({block.count, block.extent & ~evidence_bad_mark, block.written});
    tally_ = 0;
    tally(tally_of(blocks, geometry_.pages_per_block()));
}

/// In one store, so that a kill leaves the old value or the new one.
void ImagePageStore::tally(std::uint64_t grows_by) {
    tally_ += grows_by;
    std::atomic_ref{*tally_cell_}.store(sealed_tally(tally_), std::memory_order_release);
}

void ImagePageStore::end_tally() {
    std::atomic_ref{*tally_cell_}.store(0, std::memory_order_release);
    tallied_.clear();
}

} // namespace flashlab

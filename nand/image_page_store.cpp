#include "nand/image_page_store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/contract.h"
#include "base/file_descriptor.h"
#include "base/file_kind.h"
#include "base/host_io_error.h"
#include "base/little_endian.h"
#include "base/whole_file_lock.h"
#include "nand/host_file.h"

namespace flashlab {

namespace {

bool is_zero(std::span<const std::byte> data) {
    return data.front() == std::byte{0} && std::memcmp(data.data(), data.data() + 1, data.size() - 1) == 0;
}

ImageError host_error(const std::filesystem::path& path, const char* what, int error) {
    return {ImageErrorKind::host, fmt::format("{}: cannot {}: {}{}", path.string(), what, std::strerror(error), host_remedy(error))};
}

ImageError with_path(const std::filesystem::path& path, const ImageError& error) {
    return {error.kind, fmt::format("{}: {}", path.string(), error.message)};
}

std::expected<void, ImageError> lock(int fd, const std::filesystem::path& path, ImageAccess access) {
    const int error = lock_whole_file(fd, access == ImageAccess::read_write ? WholeFileLock::exclusive : WholeFileLock::shared);
    if (error == 0) return {};
    if (is_held_elsewhere(error)) {
        return std::unexpected(
            ImageError{ImageErrorKind::in_use, fmt::format("{}: in use by another process; unmount the device there first", path.string())});
    }
    return std::unexpected(host_error(path, "lock", error));
}

std::expected<ImageHeader, ImageError> header_of(int fd, const std::filesystem::path& path) {
    struct ::stat status {};
    if (::fstat(fd, &status) != 0) return std::unexpected(host_error(path, "stat", errno));
    std::array<std::byte, ImageHeader::encoded_size> raw{};
    const std::size_t there = std::min<std::size_t>(raw.size(), static_cast<std::size_t>(status.st_size));
    const auto head = std::span{raw}.first(there);
    if (auto read = read_all(fd, 0, head); !read) return std::unexpected(host_error(path, "read", read.error().error_number));
    auto header = ImageHeader::decode(head);
    if (!header) return std::unexpected(with_path(path, header.error()));
    const auto geometry = Geometry::make(header->geometry);
    if (!geometry) {
        return std::unexpected(ImageError{ImageErrorKind::damaged, fmt::format("{}: impossible geometry: {}", path.string(), geometry.error())});
    }
    const std::uint64_t needed = ImageLayout{*geometry}.file_bytes(header->version);
    if (static_cast<std::uint64_t>(status.st_size) < needed) {
        return std::unexpected(
            ImageError{ImageErrorKind::truncated,
                       fmt::format("{}: truncated: {} bytes instead of {}; restore it from a copy (of the same time as pram.img, where there is one)",
                                   path.string(), status.st_size, needed)});
    }
    return header;
}

ImageError missing_image(const std::filesystem::path& path) {
    return {ImageErrorKind::missing,
            fmt::format("{}: no such image; restore it from a copy (of the same time as pram.img, where there is one), or make a device with mkfs",
                        path.string())};
}

ImageError no_image(const std::filesystem::path& path, const char* kind) {
    return {ImageErrorKind::foreign, fmt::format("{}: is {}, no image; put the image back, or restore it from a copy", path.string(), kind)};
}

bool same_geometry(const GeometryConfig& a, const GeometryConfig& b) {
    return a.channels == b.channels && a.chips_per_channel == b.chips_per_channel && a.dies_per_chip == b.dies_per_chip &&
           a.planes_per_die == b.planes_per_die && a.blocks_per_plane == b.blocks_per_plane && a.pages_per_block == b.pages_per_block &&
           a.page_bytes == b.page_bytes && a.spare_bytes == b.spare_bytes && a.cell == b.cell;
}

std::string described(const GeometryConfig& g) {
    return fmt::format("{} channels x {} chips x {} dies x {} planes x {} blocks x {} pages of {}+{} bytes", g.channels, g.chips_per_channel,
                       g.dies_per_chip, g.planes_per_die, g.blocks_per_plane, g.pages_per_block, g.page_bytes, g.spare_bytes);
}

} // namespace

std::expected<std::unique_ptr<ImagePageStore>, ImageError> ImagePageStore::create(const std::filesystem::path& path, const Geometry& geometry,
                                                                                  const Uuid& uuid, HostSync sync) {
    FileDescriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    if (file.get() < 0 && errno == EEXIST) {
        return std::unexpected(
            ImageError{ImageErrorKind::exists, fmt::format("{}: exists already; remove it or choose another place", path.string())});
    }
    if (file.get() < 0) return std::unexpected(host_error(path, "create", errno));
    const auto give_up = [&path](ImageError error) {
        ::unlink(path.c_str());
        return std::unexpected(std::move(error));
    };
    if (auto locked = lock(file.get(), path, ImageAccess::read_write); !locked) return give_up(locked.error());
    if (::ftruncate(file.get(), static_cast<off_t>(ImageLayout{geometry}.total_bytes)) != 0) return give_up(host_error(path, "size", errno));
    std::array<std::byte, ImageHeader::encoded_size> raw{};
    const ImageHeader header{uuid, geometry.config()};
    header.encode(raw);
    if (auto wrote = write_all(file.get(), 0, raw); !wrote) return give_up(host_error(path, "write", wrote.error().error_number));
    return std::unique_ptr<ImagePageStore>{new ImagePageStore{file.release(), geometry, header, sync, ImageAccess::read_write}};
}

std::expected<std::unique_ptr<ImagePageStore>, ImageError> ImagePageStore::open(const std::filesystem::path& path, const Geometry& geometry,
                                                                                HostSync sync, ImageAccess access) {
    FileDescriptor file{
        ::open(path.c_str(), (access == ImageAccess::read_write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK)}; // a FIFO blocks nobody
    if (file.get() < 0 && errno == ENOENT) return std::unexpected(missing_image(path));
    if (file.get() < 0) return std::unexpected(host_error(path, "open", errno));
    if (const char* kind = irregular_kind(file.get())) return std::unexpected(no_image(path, kind));
    if (auto locked = lock(file.get(), path, access); !locked) return std::unexpected(locked.error());
    const auto header = header_of(file.get(), path);
    if (!header) return std::unexpected(header.error());
    if (!same_geometry(header->geometry, geometry.config())) {
        return std::unexpected(
            ImageError{ImageErrorKind::other_geometry, fmt::format("{}: has {}, the configuration says {}; use the configuration it was made with",
                                                                   path.string(), described(header->geometry), described(geometry.config()))});
    }
    return std::unique_ptr<ImagePageStore>{new ImagePageStore{file.release(), geometry, *header, sync, access}};
}

std::expected<ImageHeader, ImageError> ImagePageStore::read_header(const std::filesystem::path& path) {
    const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.get() < 0 && errno == ENOENT) return std::unexpected(missing_image(path));
    if (file.get() < 0) return std::unexpected(host_error(path, "open", errno));
    if (const char* kind = irregular_kind(file.get())) return std::unexpected(no_image(path, kind));
    return header_of(file.get(), path);
}

ImagePageStore::ImagePageStore(int fd, const Geometry& geometry, const ImageHeader& header, HostSync sync, ImageAccess access)
    : fd_{fd}, geometry_{geometry}, layout_{geometry}, uuid_{header.uuid}, version_{header.version}, sync_{sync}, changed_(geometry.blocks()),
      waits_for_discard_(geometry.blocks()), hole_from_(geometry.blocks(), not_asked),
      scratch_(std::size_t{geometry.pages_per_block()} * ImageLayout::page_record_bytes), records_{scratch_.size(), records_kept},
      map_{fd, geometry, layout_, access == ImageAccess::read_write} {
    discards_.reserve(most_discards + 1);
}

ImagePageStore::~ImagePageStore() {
    punch(discards_.size());
    ::close(fd_);
}

std::expected<void, HostIoError> ImagePageStore::sync() {
    if (::fdatasync(fd_) != 0) return std::unexpected(HostIoError{errno});
    return {};
}

std::expected<void, HostIoError> ImagePageStore::sync_if_ordered() {
    if (sync_ == HostSync::none) return {};
    return sync();
}

std::expected<void, HostIoError> ImagePageStore::read_data(Ppn page, std::uint32_t offset, std::span<std::byte> to) {
    return read_all(fd_, layout_.data_at(page) + offset, to);
}

/// Is the file a hole from this page to the end of its block? The host is asked once between two erases of a block.
bool ImagePageStore::is_hole(Ppn page) {
    const BlockId block = geometry_.block_of(page);
    std::uint32_t& from = hole_from_[block.value()];
    const std::uint32_t at = geometry_.page_in_block(page);
    if (from == not_asked) {
        const auto end =
            static_cast<off_t>(layout_.data_at(geometry_.page_of(block, 0)) + std::uint64_t{geometry_.pages_per_block()} * layout_.page_bytes);
        const off_t data = ::lseek(fd_, static_cast<off_t>(layout_.data_at(page)), SEEK_DATA);
        from = (data < 0 && errno == ENXIO) || data >= end ? at : no_hole;
    }
    return at >= from; // no number of a page reaches the two special values
}

std::expected<void, HostIoError> ImagePageStore::noted(std::expected<void, HostIoError> written) {
    if (!written && host_errno_ == 0) host_errno_ = written.error().error_number;
    return written;
}

bool ImagePageStore::takes_room(Ppn page, std::span<const std::byte> data) {
    if (is_zero(data) && is_hole(page)) return false;
    const BlockId block = geometry_.block_of(page);
    const std::uint32_t at = geometry_.page_in_block(page);
    if (std::uint32_t& from = hole_from_[block.value()]; at >= from) from = at + 1;
    if (waits_for_discard_[block.value()]) keep_from_discard(page);
    return true;
}

std::expected<void, HostIoError> ImagePageStore::write_data(Ppn page, std::span<const std::byte> data) {
    if (const int refused = injected_error()) return noted(std::unexpected(HostIoError{refused}));
    if (!takes_room(page, data)) return {};
    return noted(write_all(fd_, layout_.data_at(page), data));
}

/// Pages are written in increasing order: what lies before `page` stays until the next erase.
void ImagePageStore::keep_from_discard(Ppn page) {
    const BlockId block = geometry_.block_of(page);
    const auto at = std::ranges::find(discards_, block, &Discard::block);
    if (at == discards_.end()) return;
    at->first = std::max(at->first, geometry_.page_in_block(page) + 1);
    if (at->first < at->end) return;
    discards_.erase(at);
    waits_for_discard_[block.value()] = false;
}

void ImagePageStore::discard_data(Ppn first, std::uint32_t pages) {
    if (pages == 0 || !can_punch_) return;
    const BlockId block = geometry_.block_of(first);
    const std::uint32_t from = geometry_.page_in_block(first);
    if (waits_for_discard_[block.value()]) {
        const auto at = std::ranges::find(discards_, block, &Discard::block);
        discards_.erase(at);
    }
    discards_.push_back({block, from, from + pages});
    waits_for_discard_[block.value()] = true;
    if (discards_.size() > most_discards) punch(most_discards / 2);
}

/// Gives the payload of the `oldest` waiting blocks back to the host. On a file system without holes the bytes stay.
void ImagePageStore::punch(std::size_t oldest) {
    for (std::size_t i = 0; i < oldest; ++i) {
        const Discard& discard = discards_[i];
        waits_for_discard_[discard.block.value()] = false;
        const auto at = static_cast<off_t>(layout_.data_at(geometry_.page_of(discard.block, discard.first)));
        const auto length = static_cast<off_t>(std::uint64_t{discard.end - discard.first} * layout_.page_bytes);
        if (can_punch_ && ::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, length) != 0 && errno == EOPNOTSUPP) can_punch_ = false;
    }
    discards_.erase(discards_.begin(), discards_.begin() + static_cast<std::ptrdiff_t>(oldest));
}

std::expected<PageRecord, HostIoError> ImagePageStore::read_record(Ppn page) {
    const auto records = records_of(geometry_.block_of(page));
    if (!records) return std::unexpected(records.error());
    const std::size_t at = std::size_t{geometry_.page_in_block(page)} * ImageLayout::page_record_bytes;
    PageRecord record;
    if (!decode_page_record(records->subspan(at).first<ImageLayout::page_record_bytes>(), record)) return std::unexpected(HostIoError{EBADMSG});
    return record;
}

/// The page records of a block as the image has them; valid until the next call.
std::expected<std::span<const std::byte>, HostIoError> ImagePageStore::records_of(BlockId block) {
    if (const auto kept = records_.find(block); !kept.empty()) return kept;
    const std::span<std::byte> room = records_.room_for(block);
    const std::span<std::byte> to = room.empty() ? std::span{scratch_} : room;
    if (auto read = read_all(fd_, layout_.page_record_at(geometry_.page_of(block, 0)), to); !read) return std::unexpected(read.error());
    if (!room.empty()) records_.keep(block);
    return to;
}

std::expected<void, HostIoError> ImagePageStore::write_record(Ppn page, const PageRecord& record) {
    if (auto synced = sync_if_ordered(); !synced) return synced;
    std::array<std::byte, ImageLayout::page_record_bytes> raw;
    encode_page_record(record, raw);
    const BlockId block = geometry_.block_of(page);
    // Older programs would not believe the OOB of a page that has a stream.
    if (version_ != ImageHeader::current_version && PageOob::decode(record.oob).value_or(PageOob{}).stream != no_stream)
        if (auto upgraded = upgrade(); !upgraded) return upgraded;
    changed_[block.value()] = true;
    const std::size_t at = std::size_t{geometry_.page_in_block(page)} * ImageLayout::page_record_bytes;
    const auto mapped = map_.admit(block);
    if (!mapped) return noted(std::unexpected(mapped.error()));
    if (!mapped->empty()) {
        RecordMap::store(mapped->subspan(at).first<ImageLayout::page_record_bytes>(), raw);
    } else if (auto wrote = noted(write_all(fd_, layout_.page_record_at(page), raw)); !wrote) {
        records_.forget(block); // part of it may be there
        return wrote;
    }
    records_.note(block, at, raw);
    if (tallied_.empty()) return {};
    Tallied& known = tallied_[block.value()];
    const std::uint32_t end = geometry_.page_in_block(page) + 1;
    const bool is_erased = load_le<std::uint64_t>(std::span{raw}.first<sizeof(std::uint64_t)>()) == 0;
    if (is_erased && end <= known.extent) {
        end_tally();
    } else if (!is_erased && end > known.extent) { // those before it were written, or stay as they are until the erase
        tally(1);
        ++known.written;
        known.extent = end;
    }
    return {};
}

std::expected<void, HostIoError> ImagePageStore::read_block_records(BlockId block, std::span<PageRecord> to) {
    ensure(to.size() == geometry_.pages_per_block(), "read_block_records: room for one block");
    if (auto read = read_all(fd_, layout_.page_record_at(geometry_.page_of(block, 0)), scratch_); !read) return read;
    for (std::size_t i = 0; i < to.size(); ++i) {
        const std::span<const std::byte, ImageLayout::page_record_bytes> one{scratch_.data() + i * ImageLayout::page_record_bytes,
                                                                             ImageLayout::page_record_bytes};
        if (!decode_page_record(one, to[i])) return std::unexpected(HostIoError{EBADMSG});
    }
    return {};
}

std::expected<void, HostIoError> ImagePageStore::erase_records(BlockId block) {
    if (const int refused = injected_error()) return noted(std::unexpected(HostIoError{refused}));
    // Data that were moved out of the block must be durable before the erase. The erase must be durable before new data overwrite the old.
    if (auto synced = sync_if_ordered(); !synced) return synced;
    records_.forget(block);
    changed_[block.value()] = true;
    hole_from_[block.value()] = not_asked;
    std::ranges::fill(scratch_, std::byte{0});
    if (!tallied_.empty()) { // before it: never more than is there
        Tallied& known = tallied_[block.value()];
        tally(-std::uint64_t{std::exchange(known.written, 0)});
        known.extent = 0;
    }
    if (auto wrote = noted(write_all(fd_, layout_.page_record_at(geometry_.page_of(block, 0)), scratch_)); !wrote) return wrote;
    return sync_if_ordered();
}

std::expected<void, HostIoError> ImagePageStore::read_blocks(BlockId first, std::span<BlockRecord> to) {
    std::vector<std::byte> raw(to.size() * ImageLayout::block_record_bytes);
    if (auto read = read_all(fd_, layout_.block_record_at(first), raw); !read) return read;
    for (std::size_t i = 0; i < to.size(); ++i) {
        const std::span<const std::byte, ImageLayout::block_record_bytes> one{raw.data() + i * ImageLayout::block_record_bytes,
                                                                              ImageLayout::block_record_bytes};
        if (!decode_block_record(one, to[i])) return std::unexpected(HostIoError{EBADMSG});
    }
    return {};
}

std::expected<void, HostIoError> ImagePageStore::write_block(BlockId block, const BlockRecord& record) {
    std::array<std::byte, ImageLayout::block_record_bytes> raw;
    encode_block_record(record, raw);
    // Older programs would take the block for one in the cells' own mode, and forget its age.
    if (record.mode || record.age != BlockAge{})
        if (auto upgraded = upgrade(); !upgraded) return upgraded;
    changed_[block.value()] = true;
    if (auto wrote = noted(write_all(fd_, layout_.block_record_at(block), raw)); !wrote || tallied_.empty()) return wrote;
    const std::uint32_t before = std::exchange(tallied_[block.value()].count, record.erase_count);
    if (record.erase_count < before) {
        end_tally();
    } else if (record.erase_count > before) {
        tally(std::uint64_t{record.erase_count - before} * (geometry_.pages_per_block() + 1));
    }
    return {};
}

} // namespace flashlab

#include "nand/record_map.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include <linux/magic.h>

namespace flashlab {

namespace {

/// True: room that is allocated once serves every later write. A file system that copies on write (btrfs;
/// xfs after a reflink) may need new room each time.
bool writes_in_place(int fd) {
    struct statfs host {};
    return ::fstatfs(fd, &host) == 0 && (host.f_type == TMPFS_MAGIC || host.f_type == EXT4_SUPER_MAGIC);
}

} // namespace

RecordMap::RecordMap(int fd, const Geometry& geometry, const ImageLayout& layout, bool is_writable)
    : fd_{fd}, records_at_{layout.pages_at}, block_bytes_{std::size_t{geometry.pages_per_block()} * ImageLayout::page_record_bytes},
      mapped_bytes_{records_at_ + geometry.blocks() * block_bytes_} {
    if (!is_writable || !writes_in_place(fd)) return;
    // The mapping begins at offset 0, which is aligned to any page size of the host.
    void* mapping = ::mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, 0);
    if (mapping == MAP_FAILED) return;
    mapping_ = static_cast<std::byte*>(mapping);
    admitted_.resize(geometry.blocks());
    may_admit_ = true;
}

RecordMap::~RecordMap() {
    if (mapping_ != nullptr) ::munmap(mapping_, mapped_bytes_);
}

std::expected<std::span<std::byte>, HostIoError> RecordMap::admit(BlockId block) {
    if (admitted_.empty()) return std::span<std::byte>{};
    if (admitted_[block.value()]) return records_of(block);
    if (!may_admit_) return std::span<std::byte>{};
    const auto at = static_cast<off_t>(records_at_ + block.value() * block_bytes_);
    int result = 0;
    do result = ::fallocate(fd_, FALLOC_FL_KEEP_SIZE, at, static_cast<off_t>(block_bytes_));
    while (result != 0 && errno == EINTR);
    if (result != 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) { // nowhere in this file, then
        may_admit_ = false;
        return std::span<std::byte>{};
    }
    if (result != 0) return std::unexpected(HostIoError{errno});
    admitted_[block.value()] = true;
    return records_of(block);
}

void RecordMap::store(Record to, std::span<const std::byte, ImageLayout::page_record_bytes> record) {
    std::uint64_t first = 0;
    std::memcpy(&first, record.data(), sizeof first);
    // Records are aligned to their size. Release: a kill, too, finds the stores in this order.
    const std::atomic_ref<std::uint64_t> front{*reinterpret_cast<std::uint64_t*>(to.data())};
    if (front.load(std::memory_order_relaxed) != 0) front.store(page_record_in_change, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_release);
    std::memcpy(to.data() + sizeof first, record.data() + sizeof first, record.size() - sizeof first);
    front.store(first, std::memory_order_release);
}

} // namespace flashlab

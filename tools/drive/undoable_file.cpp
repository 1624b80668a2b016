#include "tools/drive/undoable_file.h"

#include <algorithm>
#include <cerrno>
#include <ranges>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace flashlab {

UndoableFile::UndoableFile(const std::filesystem::path& path) : path_{path}, fd_{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK)} {
    struct stat status = {};
    note(fd_ >= 0 && ::fstat(fd_, &status) == 0);
    bytes_ = bytes_before_ = static_cast<std::uint64_t>(status.st_size);
}

UndoableFile::~UndoableFile() {
    if (!is_kept_) {
        for (const auto& [at, bytes] : replaced_ | std::views::reverse)
            note(::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at)) == static_cast<ssize_t>(bytes.size()));
        if (bytes_ != bytes_before_) note(::ftruncate(fd_, static_cast<off_t>(bytes_before_)) == 0);
    }
    if (fd_ >= 0) ::close(fd_);
}

void UndoableFile::note(bool went_well) {
    if (!went_well && failure_ == 0) failure_ = errno != 0 ? errno : EIO;
}

std::vector<std::byte> UndoableFile::read(std::uint64_t at, std::size_t bytes) {
    std::vector<std::byte> got(bytes);
    note(::pread(fd_, got.data(), bytes, static_cast<off_t>(at)) >= 0);
    return got;
}

std::uint64_t UndoableFile::next_data(std::uint64_t at) const {
    const off_t found = ::lseek(fd_, static_cast<off_t>(at), SEEK_DATA);
    if (found >= 0) return static_cast<std::uint64_t>(found);
    return errno == ENXIO ? bytes_ : at; // a host without holes has data everywhere
}

void UndoableFile::write(std::uint64_t at, std::span<const std::byte> bytes) {
    replaced_.emplace_back(at, read(at, bytes.size()));
    note(::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at)) == static_cast<ssize_t>(bytes.size()));
}

void UndoableFile::change(std::uint64_t at, std::span<const std::byte> bytes) {
    if (!std::ranges::equal(read(at, bytes.size()), bytes)) write(at, bytes);
}

void UndoableFile::extend(std::uint64_t bytes) {
    note(::ftruncate(fd_, static_cast<off_t>(bytes)) == 0);
    bytes_ = bytes;
}

} // namespace flashlab

#include "tools/host/folder_handle.h"

#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace flashlab {

FolderHandle::FolderHandle(std::string path) : name_{std::move(path)}, fd_{::open(name_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)} {}

FolderHandle::~FolderHandle() {
    if (fd_ >= 0) ::close(fd_);
}

std::string FolderHandle::path() const {
    std::error_code error;
    const auto now = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd_), error);
    return fd_ < 0 || error ? name_ : now.string();
}

} // namespace flashlab

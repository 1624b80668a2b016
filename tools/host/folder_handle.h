/// A folder, by whatever name it has.
///
/// Idea       A path may come to mean another folder while a device is open; a descriptor does not.
/// Invariant  path() names the folder that was opened, unless it was deleted.
/// Cost       A descriptor; a system call a question.
/// Power cut  Keeps nothing.
#pragma once

#include <string>
#include <utility>

namespace flashlab {

class FolderHandle {
public:
    FolderHandle() = default;
    explicit FolderHandle(std::string path);
    FolderHandle(FolderHandle&& other) noexcept : name_{std::move(other.name_)}, fd_{std::exchange(other.fd_, -1)} {}
    FolderHandle& operator=(FolderHandle&& other) noexcept {
        std::swap(name_, other.name_);
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~FolderHandle();
    /// Where it lies now; the name it was opened by where that cannot be told.
    [[nodiscard]] std::string path() const;

private:
    std::string name_;
    int fd_ = -1;
};

} // namespace flashlab

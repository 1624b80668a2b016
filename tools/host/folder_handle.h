/// A folder, held by a descriptor instead of by its name.
///
/// Idea       While a device is open, its path may come to mean another folder. A descriptor stays with the folder that was opened.
/// Invariant  path() names the folder that was opened, unless that folder was deleted.
/// Cost       One descriptor, and one system call for each question.
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
    /// Where the folder lies now. Where the host does not tell that: the name by which the folder was opened.
    [[nodiscard]] std::string path() const;

private:
    std::string name_;
    int fd_ = -1;
};

} // namespace flashlab

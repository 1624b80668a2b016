#include "tools/explore/state_directory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <ranges>
#include <set>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace flashlab {

namespace {

constexpr std::size_t chunk_bytes = 64 * page_bytes;
constexpr std::uint64_t sparse_from = 16u << 20;

std::string failed(const std::string& path) { return fmt::format("{}: {}", path, std::strerror(errno)); }

/// The files that have more than one name.
std::set<std::uint64_t> linked_files(const LeftTree& tree) {
    std::vector<std::uint64_t> inos;
    for (const LeftName& name : tree.names) inos.push_back(name.ino);
    std::ranges::sort(inos);
    std::set<std::uint64_t> linked;
    for (auto same = std::ranges::adjacent_find(inos); same != inos.end(); same = std::adjacent_find(std::next(same), inos.end()))
        linked.insert(*same);
    return linked;
}

/// Others are of a state before, or of the check that looked at it. Not every host takes every attribute.
void give_xattrs(const char* path, const std::map<std::string, std::string>& xattrs, bool is_new) {
    std::array<char, 4096> names{};
    const ssize_t bytes = is_new ? 0 : ::llistxattr(path, names.data(), names.size());
    for (ssize_t at = 0; at < bytes;) {
        const std::string name = names.data() + at;
        at += static_cast<ssize_t>(name.size()) + 1;
        if (name.starts_with("user.") && !xattrs.contains(name)) (void)::lremovexattr(path, name.c_str());
    }
    for (const auto& [name, value] : xattrs) (void)::lsetxattr(path, name.c_str(), value.data(), value.size(), 0);
}

/// Whatever its rights are until then: what is in it has to be looked at, and changed.
void open_to_owner(const std::string& directory, mode_t mode) {
    if ((mode & 0700) != 0700) ::chmod(directory.c_str(), (mode & 07777) | 0700);
}

} // namespace

StateDirectory::StateDirectory(const Past& past, std::string path) : past_{past}, path_{std::move(path)}, wanted_(chunk_bytes), found_(chunk_bytes) {}

void StateDirectory::look(const std::string& directory, const std::string& above) {
    const std::unique_ptr<DIR, int (*)(DIR*)> open{::opendir(directory.c_str()), ::closedir};
    if (open == nullptr) return;
    while (const dirent* entry = ::readdir(open.get())) {
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        struct stat found {};
        if (::fstatat(::dirfd(open.get()), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
        present_[above + name] = {found.st_mode, static_cast<std::uint64_t>(found.st_size), found.st_nlink};
        if (!S_ISDIR(found.st_mode)) continue;
        open_to_owner(directory + "/" + name, found.st_mode);
        look(directory + "/" + name, above + name + "/");
    }
}

void StateDirectory::remove_strangers(const LeftTree& tree) {
    const std::set<std::uint64_t> linked = linked_files(tree);
    std::map<std::string, const LeftName*> wanted;
    for (const LeftName& name : tree.names) wanted[name.path] = &name;
    std::vector<std::string> gone;
    for (const auto& [path, present] : present_) {
        const auto name = wanted.find(path);
        const bool fits = name != wanted.end() && (name->second->mode & S_IFMT) == (present.mode & S_IFMT) &&
                          (!S_ISREG(present.mode) || (present.links == 1 && !linked.contains(name->second->ino)));
        if (!fits) gone.push_back(path);
    }
    for (const std::string& path : gone) {
        std::error_code error;
        std::filesystem::remove_all(path_ + "/" + path, error);
        present_.erase(path);
        for (auto below = present_.lower_bound(path + "/"); below != present_.end() && below->first.starts_with(path + "/");)
            below = present_.erase(below);
    }
}

std::expected<void, std::string> StateDirectory::make(const LeftTree& tree) {
    present_.clear();
    if (::mkdir(path_.c_str(), 0700) != 0) { // a check may have moved it away
        struct stat root {};
        if (::lstat(path_.c_str(), &root) != 0 || !S_ISDIR(root.st_mode)) return std::unexpected(path_ + ": is no directory any more");
        open_to_owner(path_, root.st_mode);
    }
    look(path_, "");
    remove_strangers(tree);
    std::map<std::uint64_t, std::string> linked;
    for (const LeftName& name : tree.names)
        if (std::string why = make_name(name, tree, linked); !why.empty()) return std::unexpected(why);
    for (const LeftName& name : tree.names | std::views::reverse) // a directory behind what is in it
        if (S_ISDIR(name.mode))
            if (std::string why = give_attributes(path_ + "/" + name.path, name.mode, name.ino, tree); !why.empty()) return std::unexpected(why);
    const auto root = tree.files.find(root_number);
    if (std::string why = give_attributes(path_, root == tree.files.end() ? 0700 : root->second.mode, root_number, tree); !why.empty())
        return std::unexpected(why);
    return {};
}

/// Of a directory, once all is in it.
std::string StateDirectory::give_attributes(const std::string& full, std::uint32_t mode, std::uint64_t ino, const LeftTree& tree) {
    const auto itself = tree.files.find(ino);
    give_xattrs(full.c_str(), itself == tree.files.end() ? LeftFile{}.xattrs : itself->second.xattrs, false);
    return ::chmod(full.c_str(), mode & 07777) == 0 ? std::string{} : failed(full);
}

std::string StateDirectory::make_name(const LeftName& name, const LeftTree& tree, std::map<std::uint64_t, std::string>& linked) {
    const std::string full = path_ + "/" + name.path;
    const auto found = present_.find(name.path);
    const Present* present = found == present_.end() ? nullptr : &found->second;
    const mode_t mode = name.mode & 07777;
    if (S_ISDIR(name.mode)) {
        if (present == nullptr && ::mkdir(full.c_str(), 0700) != 0) return failed(full);
    } else if (S_ISLNK(name.mode)) {
        ::unlink(full.c_str());
        if (::symlink(name.target.c_str(), full.c_str()) != 0) return failed(full);
    } else if (S_ISFIFO(name.mode)) {
        if (present == nullptr && ::mkfifo(full.c_str(), 0600) != 0) return failed(full);
        if (::chmod(full.c_str(), mode) != 0) return failed(full);
    } else if (S_ISREG(name.mode)) {
        const auto [first, is_first] = linked.emplace(name.ino, full);
        if (!is_first) return ::link(first->second.c_str(), full.c_str()) == 0 ? std::string{} : failed(full);
        return make_file(full, tree.files.at(name.ino), present);
    }
    return {};
}

std::string StateDirectory::make_file(const std::string& full, const LeftFile& file, const Present* present) {
    const mode_t mode = file.mode & 07777;
    const bool is_sparse = file.size > sparse_from && file.pages.size() * page_bytes * 4 < file.size;
    int fd = -1;
    if (present != nullptr && !is_sparse) fd = ::open(full.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    const bool is_new = fd < 0;
    if (is_new) {
        ::unlink(full.c_str());
        fd = ::open(full.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0) return failed(full);
    }
    std::string why = fill(fd, file, is_new ? 0 : present->size);
    give_xattrs(full.c_str(), file.xattrs, is_new);                // while it is the owner's to write
    const bool may_be_dropped = (mode & (S_ISUID | S_ISGID)) != 0; // by what was written
    if (why.empty() && (is_new || may_be_dropped || (present->mode & 07777) != mode) && ::fchmod(fd, mode) != 0) why = std::strerror(errno);
    ::close(fd);
    return why.empty() ? why : full + ": " + why;
}

/// The bytes of the file in [offset, offset + bytes), into wanted_.
void StateDirectory::compose(const LeftFile& file, std::uint64_t offset, std::size_t bytes) {
    std::fill_n(wanted_.begin(), static_cast<std::ptrdiff_t>(bytes), std::byte{0});
    auto page = std::ranges::lower_bound(file.pages, static_cast<std::uint32_t>(offset / page_bytes), {}, &LeftPage::page);
    for (; page != file.pages.end() && page->page * std::uint64_t{page_bytes} < offset + bytes; ++page) {
        std::array<std::byte, page_bytes> content{};
        past_.compose(file.ino, page->page, page->version, content);
        if (page->sectors != 0xff) {
            std::array<std::byte, page_bytes> older{};
            past_.compose(file.ino, page->page, page->older, older);
            for (std::size_t sector = 0; sector < page_bytes / 512; ++sector)
                if ((page->sectors >> sector & 1) == 0) std::memcpy(content.data() + sector * 512, older.data() + sector * 512, 512);
        }
        const std::size_t at = page->page * std::uint64_t{page_bytes} - offset;
        std::memcpy(wanted_.data() + at, content.data(), std::min<std::size_t>(page_bytes, bytes - at));
    }
}

std::string StateDirectory::fill(int fd, const LeftFile& file, std::uint64_t present_bytes) {
    if (present_bytes != file.size && ::ftruncate(fd, static_cast<off_t>(file.size)) != 0) return std::strerror(errno);
    for (std::uint64_t offset = 0; offset < file.size; offset += chunk_bytes) {
        if (offset >= present_bytes) { // holes, as ftruncate() made them: on to the next page that was written
            const auto next = std::ranges::lower_bound(file.pages, static_cast<std::uint32_t>(offset / page_bytes), {}, &LeftPage::page);
            if (next == file.pages.end()) return {};
            offset = std::max(offset, next->page * std::uint64_t{page_bytes} / chunk_bytes * chunk_bytes);
        }
        const std::size_t bytes = std::min<std::uint64_t>(chunk_bytes, file.size - offset);
        compose(file, offset, bytes);
        const bool may_be_there = offset < present_bytes;
        if (may_be_there && ::pread(fd, found_.data(), bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes) &&
            std::memcmp(found_.data(), wanted_.data(), bytes) == 0)
            continue;
        if (!may_be_there &&
            std::ranges::all_of(wanted_.begin(), wanted_.begin() + static_cast<std::ptrdiff_t>(bytes), [](std::byte b) { return b == std::byte{0}; }))
            continue;
        if (::pwrite(fd, wanted_.data(), bytes, static_cast<off_t>(offset)) != static_cast<ssize_t>(bytes)) return std::strerror(errno);
    }
    return {};
}

} // namespace flashlab

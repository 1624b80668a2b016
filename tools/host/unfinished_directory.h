/// A directory that is removed with its content unless it is kept. mkfs and clone build in such a directory, so that a failure leaves nothing behind.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab {

class UnfinishedDirectory {
public:
    explicit UnfinishedDirectory(std::filesystem::path directory) : directory_{std::move(directory)} {}
    UnfinishedDirectory(const UnfinishedDirectory&) = delete;
    UnfinishedDirectory& operator=(const UnfinishedDirectory&) = delete;
    ~UnfinishedDirectory() {
        if (!kept_) remove(directory_);
    }
    void keep() { kept_ = true; }
    /// What killed processes left in `there`, each in a directory called by `prefix` and its number: one may be as large as a drive.
    static void remove_those_of_the_dead(const std::filesystem::path& there, std::string_view prefix) {
        std::error_code error;
        std::vector<std::filesystem::path> left;
        for (std::filesystem::directory_iterator entry{there, error}, end; !error && entry != end; entry.increment(error)) {
            const std::string name = entry->path().filename().string();
            const long process = name.starts_with(prefix) ? std::strtol(name.c_str() + prefix.size(), nullptr, 10) : 0;
            if (process > 0 && ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH) left.push_back(entry->path());
        }
        for (const std::filesystem::path& one : left) std::filesystem::remove_all(one, error);
    }

private:
    /// Also where what ran in it has taken the rights to do so from a directory.
    static void remove(const std::filesystem::path& directory) {
        std::error_code error;
        std::filesystem::remove_all(directory, error);
        if (!error) return;
        open_to_owner(directory);
        std::filesystem::remove_all(directory, error);
    }
    static void open_to_owner(const std::filesystem::path& directory) {
        namespace fs = std::filesystem;
        std::error_code error;
        fs::permissions(directory, fs::perms::owner_all, fs::perm_options::add, error);
        for (fs::directory_iterator entry{directory, error}, end; !error && entry != end; entry.increment(error)) {
            std::error_code unknown;
            if (fs::is_directory(entry->symlink_status(unknown))) open_to_owner(entry->path());
        }
    }

    std::filesystem::path directory_;
    bool kept_ = false;
};

} // namespace flashlab

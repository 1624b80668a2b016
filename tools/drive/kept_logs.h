/// The log and what the daemons wrote belong to the device, not to its images: they stay, although a repair replaces the images.
///
/// Idea       They are renamed while the images are replaced, and back.
/// Invariant  What a killed repair left renamed comes back when the drive is next opened or repaired.
/// Cost       A few renames.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <utility>

namespace flashlab {

class KeptLogs {
public:
    explicit KeptLogs(std::filesystem::path directory) : directory_{std::move(directory)} {
        std::error_code there;
        for (const std::string name : names) std::filesystem::rename(directory_ / name, directory_ / aside(name), there);
    }
    ~KeptLogs() { bring_back(directory_); }
    KeptLogs(const KeptLogs&) = delete;
    KeptLogs& operator=(const KeptLogs&) = delete;

    /// Of a repair that has ended, however it did. A newer log stays.
    static void bring_back(const std::filesystem::path& directory) {
        std::error_code there;
        for (const std::string name : names)
            if (!std::filesystem::exists(directory / name, there)) std::filesystem::rename(directory / aside(name), directory / name, there);
    }

private:
    static constexpr std::array<const char*, 3> names{"events.db", "events.db-wal", "mount.log"};
    static std::string aside(const std::string& name) { return name + ".kept"; }
    std::filesystem::path directory_;
};

} // namespace flashlab

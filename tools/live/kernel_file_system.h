/// A file system of the kernel on a raw drive: ext4, XFS or btrfs on a loop device over the drive's file.
///
/// Idea       The file system's own programs make it and look at it, as a user would call them; the kernel is asked for the rest.
/// Invariant  When the object goes, nothing of it is mounted and its loop device is free, also after a signal and after a power cut below it.
/// Cost       What these programs take. They want root.
/// Power cut  Of the drive below: programs get EIO, and take_away() unmounts what is left. The next mount replays the journal.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/live/loop_device.h"

namespace flashlab {

class KernelFileSystem {
public:
    using Failure = std::optional<std::string>;

    /// `kind` as mount(8) has it; `mkfs_options` for mkfs.KIND. The mount point and a log of what the programs print lie in `work`.
    KernelFileSystem(std::string kind, std::vector<std::string> mkfs_options, const std::filesystem::path& work);
    ~KernelFileSystem() { take_away(); }
    KernelFileSystem(const KernelFileSystem&) = delete;
    KernelFileSystem& operator=(const KernelFileSystem&) = delete;

    /// What this host lacks for it, with the remedy; empty: nothing.
    [[nodiscard]] static std::string why_not(const std::string& kind);
    [[nodiscard]] Failure attach(const std::string& disk);
    [[nodiscard]] Failure make();
    [[nodiscard]] Failure mount();
    /// The file system's own check, which writes nothing; it wants it unmounted, and its journal replayed.
    [[nodiscard]] Failure check();
    [[nodiscard]] Failure unmount();
    /// Unmounts whatever is there, and gives the loop device back.
    void take_away();

    [[nodiscard]] std::string mount_point() const { return mount_point_.string(); }

private:
    [[nodiscard]] Failure call(std::vector<std::string> words);

    std::string kind_, log_;
    LoopDevice loop_;
    std::vector<std::string> mkfs_options_;
    std::filesystem::path mount_point_;
    bool is_mounted_ = false;
};

} // namespace flashlab

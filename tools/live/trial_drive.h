/// A temporary drive on which a user's program runs: made or cloned, mounted, unmounted, removed.
///
/// Idea       The commands of flashlab do the work, as a user would call them; what they print is kept for the message of a failure.
/// Invariant  When the object goes, nothing is mounted and no daemon runs, also after a signal. The folder belongs to the caller.
/// Cost       What mkfs, mount and umount take.
/// Power cut  `powercut` through ask(). A signal ends in one, since nobody wants what the cache holds then.
#pragma once

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/host/subprocess.h"
#include "tools/text/json.h"

namespace flashlab {

class TrialDrive {
public:
    /// What went wrong, as a sentence.
    using Failure = std::optional<std::string>;

    explicit TrialDrive(const std::filesystem::path& work);
    ~TrialDrive();
    TrialDrive(const TrialDrive&) = delete;
    TrialDrive& operator=(const TrialDrive&) = delete;

    /// A new drive; `options` as for mkfs.
    [[nodiscard]] Failure make(const std::vector<std::string>& options);
    /// A clone of the user's, which is never touched.
    [[nodiscard]] Failure make_clone_of(const std::string& device);
    [[nodiscard]] Failure mount(const std::vector<std::string>& options);
    /// Waits until the images are free.
    [[nodiscard]] Failure unmount();
    /// fsck -n, as after a cut.
    [[nodiscard]] Failure check();
    [[nodiscard]] std::expected<Json, std::string> ask(const Json& request);

    /// A program that runs in the mounted folder, with FLASHLAB_MOUNT set; what it prints goes to the log, which begins anew.
    [[nodiscard]] SubprocessCall in_mount(const std::vector<std::string>& words, std::vector<std::pair<std::string, std::string>> environment);
    /// What the last program printed, its end.
    [[nodiscard]] std::string last_words() const;

    [[nodiscard]] std::string device() const { return device_.string(); }
    [[nodiscard]] std::string mount_point() const { return mount_point_.string(); }
    /// Of the command that failed last: what was asked for cannot be.
    [[nodiscard]] bool is_wrong_usage() const { return is_wrong_usage_; }

private:
    [[nodiscard]] Failure flashlab(std::vector<std::string> words, const char* what);

    std::filesystem::path device_, mount_point_;
    std::string log_;
    bool is_wrong_usage_ = false;
    bool is_held_ = false; ///< what a program started has files open, and is not waited for
};

/// A new folder in the place for temporary files, `flashlab-PURPOSE.XXXXXX`; empty: none can be made.
[[nodiscard]] std::string make_work_directory(const std::string& purpose);

} // namespace flashlab

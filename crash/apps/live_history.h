/// The history of a file system that lives: what it answered since all was durable, in memory and bounded.
///
/// Idea       Who needs to know what a cut may leave asks for history() at that moment. It begins with what the changes met (history_base.h).
/// Invariant  After a sync of everything the history is empty, unless somebody changed something meanwhile: a later one will do. At its bound the
///            next write waits for such a sync, which it begins itself. Where old data cannot be known (more than the bound goes with one call, or
///            the drive does not give them back) nothing is told until such a sync: a cut then leaves what the file system below leaves.
/// Cost       The data once more, and for old data that are changed or unlinked one read more.
/// Threading  As the file system below: callers hold their monitor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "crash/apps/history_base.h"
#include "crash/apps/recording_file_system.h"

namespace flashlab {

class LiveHistory {
public:
    using Milliseconds = std::function<std::uint64_t()>; ///< since some point
    LiveHistory(FileSystem& below, std::uint64_t most_bytes, Milliseconds clock);

    [[nodiscard]] FileSystem& fs() { return recorded_; }
    /// The syncs of everything that come from here on are part of a cut and not asked for by anybody.
    void begin_cut() { in_cut_ = true; }
    /// What a cut at this instant has to choose from; it ends with a line of the present.
    /// `at`: a sync of everything that ends later is not over yet.
    [[nodiscard]] std::vector<Operation> history(SimTime at) const;
    [[nodiscard]] std::uint64_t bytes() const { return bytes_ + base_.bytes(); }
    /// Syncs of everything that the bound made necessary.
    [[nodiscard]] std::uint64_t own_syncs() const { return own_syncs_; }

private:
    [[nodiscard]] std::optional<FsError> before(const RecordingFileSystem::Planned& planned);
    [[nodiscard]] std::optional<FsError> sync_first(const FsCall& call);
    void note(Operation operation);
    void clear();
    [[nodiscard]] bool is_blank() const { return base_.is_short(); }

    FileSystem& below_;
    std::uint64_t most_bytes_, bytes_ = 0, own_syncs_ = 0;
    Milliseconds clock_;
    HistoryBase base_;
    RecordingFileSystem recorded_;
    std::vector<Operation> lines_;
    std::uint64_t forgotten_ = 0; ///< lines that clear() took
    std::unique_ptr<SlowCall> own_sync_;
    std::uint64_t changes_ = 0;               ///< all, those of a time without a history too
    std::optional<std::uint64_t> sync_began_; ///< after so many changes
    std::uint64_t own_sync_began_ = 0;
    bool in_cut_ = false, syncs_overlap_ = false, is_synced_ = false;
};

} // namespace flashlab

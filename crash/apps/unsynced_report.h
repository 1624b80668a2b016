/// What of a live history is not durable, by file and by name, and the calls that would make it durable.
///
/// Idea       The lines that a cut could take, sorted by whom they concern. A call is named for each; together they make all of it durable.
/// Invariant  Under every model, after the calls that are named nothing of it can be lost.
/// Cost       One pass over the history.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crash/apps/past.h"
#include "crash/apps/persistence.h"

namespace flashlab {

struct UnsyncedFile {
    struct Range {
        std::uint64_t offset = 0, bytes = 0;
    };
    std::uint64_t ino = 0;
    std::string path;
    std::vector<Range> ranges;
    std::vector<std::string> changes; ///< of size and attributes
    bool is_data_only = true;         ///< fdatasync is enough
};

struct UnsyncedName {
    std::string change;
    std::vector<std::string> directories; ///< to be synced
    std::vector<std::uint64_t> inos;      ///< of these
};

struct UnsyncedReport {
    std::vector<UnsyncedFile> files;
    std::vector<UnsyncedName> names;
};

[[nodiscard]] UnsyncedReport report_unsynced(const Past& past, const Persistence& model);

} // namespace flashlab

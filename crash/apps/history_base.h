/// What was there when a history began: of an old file system, so much as the history touches.
///
/// Idea       A name, a page or an attribute is looked up before the first call that changes it. So what is found is as it was when the history
///            began. lines() tells it as the preparation of a history, which no cut takes back.
/// Invariant  All that a loss of any line of the history would bring back is known, unless `is_short()`.
/// Cost       One look-up for each name, one read for each page of old data that is changed or whose file goes. Nothing for what is new.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "crash/apps/history.h"
#include "fs/file_system.h"

namespace flashlab {

/// A folder that no real path leads to holds what has no known name.
inline constexpr std::uint64_t nameless_folder = ~std::uint64_t{0};
inline constexpr const char* nameless_folder_name = "\x01";

class HistoryBase {
public:
    /// `most_bytes`: more is not read; then the base is short.
    HistoryBase(FileSystem& fs, std::uint64_t most_bytes) : fs_{fs}, most_bytes_{most_bytes} {}

    /// Before a call: looks up what it may change.
    void learn(const FsCall& call, const Operation& planned);
    /// Where an inode was seen last. Whether it is still there is looked up when it matters.
    void note_seen(std::uint64_t ino, std::uint64_t directory, std::string_view name);
    /// Made since the history began, so nothing was there before.
    void note_made(std::uint64_t ino) { made_.insert(ino); }

    /// Was the name learnt, or is it in a directory of the history's own?
    [[nodiscard]] bool knows(std::uint64_t directory, const std::string& name) const {
        return made_.contains(directory) || names_.contains({directory, name});
    }

    [[nodiscard]] std::vector<Operation> lines() const;
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] bool is_short() const { return is_short_; }
    /// Something happened whose past is unknown: the base is short.
    void forgo() { is_short_ = true; }
    void clear();

private:
    using Name = std::pair<std::uint64_t, std::string>;
    struct Object {
        Attributes attributes;
        std::string target{};
        std::map<std::uint32_t, std::string> pages{};
        std::map<std::string, std::optional<std::string>> xattrs{};
        std::vector<Name> names{};
    };
    [[nodiscard]] Object* object(const FsCall& call, std::uint64_t ino);
    [[nodiscard]] std::uint64_t name(const FsCall& call, std::uint64_t directory, const std::string& name);
    void pages(const FsCall& call, std::uint64_t ino, std::uint64_t from, std::uint64_t to);
    void xattr(const FsCall& call, std::uint64_t ino, const std::string& name);
    void whole_if_last(const FsCall& call, std::uint64_t ino);
    void tell(std::uint64_t ino, std::set<std::uint64_t>& told, std::vector<Operation>& lines) const;

    FileSystem& fs_;
    std::uint64_t most_bytes_, bytes_ = 0;
    bool is_short_ = false;
    std::map<std::uint64_t, Object> objects_;
    std::map<Name, std::uint64_t> names_; ///< 0: there was none
    std::set<std::uint64_t> made_;
    std::unordered_map<std::uint64_t, Name> seen_;
};

} // namespace flashlab

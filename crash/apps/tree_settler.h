/// Brings a recovered file system into a state that a weaker one would have left.
///
/// Idea       The recovered tree has at least what the model keeps, or less where its own rules lose more. What has a wrong name is parked in a
///            folder, then each name gets what the state says, then contents, sizes and attributes are compared and mended, then the folder goes.
/// Invariant  Ordinary calls of the file system do it, so its tree is sound at every instant. What the history does not concern stays untouched.
/// Cost       The names and pages that the history concerns, each looked at once; written where they differ.
/// Power cut  Leaves something between the two states; whoever calls this lets no other see the device before the end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "crash/apps/left_state.h"
#include "fs/file_system.h"

namespace flashlab {

class TreeSettler {
public:
    TreeSettler(FileSystem& fs, const Past& past, const LeftState& state, const FsCall& call);

    /// Empty: all is as the state says, and durable. Otherwise what could not be done, the first of it.
    [[nodiscard]] std::string run();
    /// So many names, files and attributes were not as the state says.
    [[nodiscard]] std::uint64_t mended() const { return mended_; }
    [[nodiscard]] SimTime now() const { return call_.now; }

private:
    using Name = std::pair<std::uint64_t, std::string>;
    void park_wrong_names();
    void put_names();
    void put_name(const LeftName& wanted);
    [[nodiscard]] std::uint64_t make(const LeftName& wanted, std::uint64_t directory, const std::string& name);
    void put_content(const LeftFile& wanted);
    void put_pages(const LeftFile& wanted, Ino ino);
    void put_xattrs(const LeftFile& wanted, Ino ino);
    void put_modes();
    void empty(Ino directory);
    [[nodiscard]] std::optional<Attributes> attributes(std::uint64_t real);
    [[nodiscard]] std::uint64_t look_up(std::uint64_t directory, const std::string& name);
    /// The inode that stands for one of the history; 0: there is none.
    [[nodiscard]] std::uint64_t real(std::uint64_t ino);
    void set(Ino ino, const AttributeChange& change, const char* what);
    void rename(std::uint64_t from, const std::string& name, std::uint64_t to, const std::string& to_name);
    void finish(FsResult<std::unique_ptr<SlowCall>> begun, const char* what);
    void failed(const char* what, const FsError& error);

    FileSystem& fs_;
    const Past& past_;
    const LeftTree& tree_;
    std::uint32_t cut_;
    FsCall call_;
    std::map<std::uint64_t, const Operation*> made_;
    std::set<Name> right_;
    std::map<std::uint64_t, std::vector<std::string>> parked_; ///< names in the folder
    std::map<std::uint64_t, std::uint64_t> anew_;              ///< what had to be made again
    std::uint64_t folder_ = 0, parked_count_ = 0, mended_ = 0;
    std::string failure_;
};

} // namespace flashlab

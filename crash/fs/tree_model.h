/// What a file system may show after a power cut: the contract C10 to C15 as a set of allowed states.
///
/// Idea       Operations are noted in the order in which they were issued. The *ordered* ones change names and attributes and set sizes. After a cut
///            at T some prefix of the ordered ones must be there: at least those answered by T, at most those issued by T. For each such prefix the
///            allowed contents are known: every page shows, as a whole,
///            a version that was written to it and is not older than the last finished sync.
/// Invariant  R1 prefix and order (C10, C11). R2 synced versions or newer (C12, C14).
///            R3 a page is one version as a whole, or zeros where a hole was (C13).
///            R4 a size is one that was set, or that of a version whose every page is there.
/// Cost       One copy of a file's bytes a change, shared by all states. Meant for files of some hundred KiB.
/// Power cut  The state seen after a cut becomes the only past.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crash/judges.h"
#include "fs/file_system.h"

namespace flashlab {

using Bytes = std::shared_ptr<const std::string>;

struct ModelOp {
    enum class Kind : std::uint8_t {
        create,
        unnamed, ///< a file without a name: no cut leaves it
        drop,    ///< its last user goes
        link,
        unlink,
        rename,
        mode,
        owner,
        times,
        set_xattr,
        remove_xattr,
        truncate,
        allocate,
        write,
        sync_begin,
        sync_end
    };
    Kind kind = Kind::write;
    SimTime issued;
    SimTime done;
    FileTime wall;
    Ino ino{0};
    Ino parent{0}, parent2{0};
    std::string name, name2; ///< names; name and value of an xattr; name2 also the target of a symbolic link
    std::uint32_t mode = 0, uid = 0, gid = 0, rdev = 0;
    std::uint64_t offset = 0, bytes = 0;
    RenameMode rename = RenameMode::replace;
    FallocateMode allocate = FallocateMode::allocate;
    FileTime modified;
    std::size_t since = 0; ///< sync_end, rename over a name: versions older than this operation are gone
    Bytes after;           ///< the content that programs saw after write, truncate, allocate

    [[nodiscard]] bool is_ordered() const { return kind != Kind::write && kind != Kind::sync_begin && kind != Kind::sync_end && kind != Kind::drop; }
};

struct ModelNode {
    struct Version {
        std::size_t op = 0;
        Bytes bytes;
    };
    std::uint32_t mode = 0, uid = 0, gid = 0, rdev = 0, links = 0;
    std::string target;
    std::map<std::string, std::string> xattrs;
    std::map<std::string, Ino> entries;
    Ino parent{0};
    std::optional<FileTime> modified; ///< none: what unsynced writes made of it
    std::vector<Version> versions;    ///< regular files; what may be seen, oldest first
    std::uint64_t set_size = 0;       ///< the size that was set or synced last

    [[nodiscard]] bool is_directory() const;
    [[nodiscard]] bool is_regular() const;
    [[nodiscard]] bool is_unnamed() const { return links == 0; }
    [[nodiscard]] const std::string& content() const { return *versions.back().bytes; }
};

class TreeModel {
public:
    /// `answered_is_durable`: true: names and attributes are durable when they are answered (metadata on PRAM); false:
    /// when a sync covers them (journal). `judges`: fewer than all only to show that each is needed.
    TreeModel(std::uint32_t unit_bytes, bool answered_is_durable, JudgeSet judges = {});

    /// Notes an operation that was answered without an error; returns its number.
    std::size_t note(ModelOp op);
    /// The tree as programs see it now.
    [[nodiscard]] const std::map<Ino, ModelNode>& now() const { return now_; }
    [[nodiscard]] std::size_t operations() const { return ops_.size(); }

    /// Compares the file system after a cut at `at` with all allowed states, and makes the state found the past. nullopt: the state is allowed.
    [[nodiscard]] Verdict settle_after_cut(FileSystem& fs, SimTime at, SimTime now);
    /// Compares the file system with what programs saw last: after a clean remount, or while running.
    [[nodiscard]] std::optional<std::string> compare_now(FileSystem& fs, SimTime now) const;

private:
    using Nodes = std::map<Ino, ModelNode>;
    /// The content of the file system, read through its interface.
    using Observed = std::map<Ino, ModelNode>;
    void apply(Nodes& nodes, const ModelOp& op, std::size_t number, SimTime at, JudgeSet judges) const;
    void apply_name(Nodes& nodes, const ModelOp& op, std::size_t number) const;
    [[nodiscard]] static ModelNode new_node(const ModelOp& op, std::size_t number);
    void apply_rename(Nodes& nodes, const ModelOp& op, JudgeSet judges) const;
    void apply_attribute(Nodes& nodes, const ModelOp& op) const;
    [[nodiscard]] Nodes state_of(std::size_t prefix, SimTime at, JudgeSet judges) const;
    /// The allowed state that is seen, as these judges allow it; none: `story` says why.
    [[nodiscard]] std::optional<Nodes> find_allowed(const Observed& seen, SimTime at, JudgeSet judges, std::string& story) const;
    [[nodiscard]] static std::optional<std::string> read_back(FileSystem& fs, SimTime now, Observed& out);
    [[nodiscard]] std::optional<std::string> compare(const Nodes& allowed, const Observed& seen, JudgeSet judges) const;
    /// Everything since the last cut, for a failure's text.
    [[nodiscard]] std::string operations_text() const;
    [[nodiscard]] std::optional<std::string> compare_content(const ModelNode& allowed, const std::string& seen) const;

    std::uint32_t unit_bytes_;
    bool answered_is_durable_;
    JudgeSet judges_;
    Nodes past_;
    Nodes now_;
    std::vector<ModelOp> ops_; ///< since the last cut
};

} // namespace flashlab

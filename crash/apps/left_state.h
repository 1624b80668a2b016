/// One state that a power cut may leave: a point of the history, what was lost of it, and the tree that is then there.
///
/// Idea       Losses are asked for line by line. legalise() adds what the model loses with them and drops what it cannot lose; so every list of
///            losses is some legal state, and giving a loss back is always possible.
/// Invariant  Nothing durable is lost (crash/apps/durability.h), and the names form a tree.
/// Cost       One pass over the lines before the cut; a few words a page of the files that are there.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "crash/apps/durability.h"

namespace flashlab {

/// What is lost of one line. `line`: which one.
struct Loss {
    enum class Part : std::uint8_t {
        all,
        data, ///< of a write, without its size
        size, ///< of a write, without its data; of a truncation or a hole, all but the zeros in a page that it changed in part
        page, ///< of a write, this page
        tear, ///< of a write, this page: the sectors outside `sectors`
    };
    std::uint32_t line = 0;
    Part part = Part::all;
    std::uint32_t page = 0;
    std::uint8_t sectors = 0; ///< bit s: sector s has the new bytes
    friend auto operator<=>(const Loss&, const Loss&) = default;
};

struct CutState {
    std::uint32_t cut = 0; ///< so many lines were answered
    std::vector<Loss> losses;
};

struct LeftPage {
    std::uint32_t page = 0, version = no_line;
    std::uint32_t older = no_line; ///< torn: the sectors that are not new
    std::uint8_t sectors = 0xff;
};

struct LeftFile {
    std::uint64_t ino = 0, size = 0;
    std::uint32_t mode = 0;
    std::vector<LeftPage> pages; ///< those that are not zero, in order
    std::map<std::string, std::string> xattrs;
    std::uint64_t id = 0; ///< equal for equal content, size and attributes
};

struct LeftName {
    std::string path;
    std::uint32_t mode = 0; ///< type bits, too
    std::uint64_t ino = 0;
    std::string target; ///< of a symlink
    std::uint64_t parent = 0;
};

struct LeftTree {
    std::vector<LeftName> names;             ///< a directory before what is in it
    std::map<std::uint64_t, LeftFile> files; ///< and directories whose attributes changed, the root among them
    std::uint64_t id = 0;                    ///< equal for equal trees
};

/// A truncation or a hole is lost: may its zeros be in a page that it changed in part all the same? Where data are written in place.
[[nodiscard]] inline bool may_zero_first(const Past& past, const Persistence& model, std::uint32_t line) {
    return model.tears_pages && past.zeroes_in_part(line);
}

class LeftState {
public:
    LeftState(const Past& past, const Persistence& model, CutState wanted)
        : LeftState{past, model, std::make_shared<Durability>(past, model, wanted.cut), wanted} {}
    /// With the Durability of the same cut at hand.
    LeftState(const Past& past, const Persistence& model, std::shared_ptr<const Durability> durable, CutState wanted);

    [[nodiscard]] std::uint32_t cut() const { return wanted_.cut; }
    /// What is really lost: whole lines, or parts of writes.
    [[nodiscard]] const std::vector<Loss>& lost() const { return lost_; }
    [[nodiscard]] const LeftTree& tree() const { return tree_; }

private:
    /// What is lost of one write.
    struct WriteLoss {
        bool data = false, size = false;
        std::vector<Loss> pages; ///< and tears
    };
    using Pages = std::map<std::uint32_t, LeftPage>;
    /// A file while its unsynced lines are gone through.
    struct Growing {
        LeftFile file;
        Pages pages;
        bool grows = true; ///< false: an earlier growth was lost, so no later one is there
    };
    /// Where a write's page goes: into the block that was there; into a new one, which one journal makes part of the file when all of it is written;
    /// or into one that was allocated behind what that journal lost: after a truncation, say, which left the old content as it was.
    enum class BlockOf : std::uint8_t { stays, is_new, is_lost };
    [[nodiscard]] BlockOf block_of(std::uint32_t line, std::uint32_t page, const Growing& file) const;
    void sort_losses();
    void choose_names();
    void make_tree();
    void apply_name(std::uint32_t line);
    void apply_rename(std::uint32_t line);
    void make_file(std::uint64_t ino);
    void start_durable(const FilePast& past, std::uint32_t until, Growing& to) const;
    void change(std::uint32_t line, const FilePast& past, Growing& to);
    void zero_in_part(std::uint32_t line, const FilePast& past, Growing& to) const;
    void write(std::uint32_t line, Growing& to);
    void finish(Growing& from);
    [[nodiscard]] bool is_kept(std::uint32_t line) const; ///< of lines that are no writes
    /// Of writes: has a rename or a close that is there come behind it, which may carry data?
    [[nodiscard]] bool is_before_carrier(std::uint32_t line) const;
    [[nodiscard]] bool is_carried(std::uint32_t line, std::uint32_t page) const;
    /// Of a page in which the write grows the file: may the size come without the bytes?
    [[nodiscard]] bool is_apart(std::uint32_t line, std::uint32_t page) const;
    [[nodiscard]] bool may_take(std::uint64_t directory, const std::string& name, std::uint64_t ino) const;
    [[nodiscard]] bool is_within(std::uint64_t directory, std::uint64_t ancestor) const;
    [[nodiscard]] std::uint64_t at(std::uint64_t directory, const std::string& name) const;
    void put(std::uint64_t directory, const std::string& name, std::uint64_t ino);
    [[nodiscard]] std::uint32_t mode_of(std::uint64_t ino) const;
    void list(std::uint64_t directory, const std::string& above);

    struct Directory {
        std::map<std::string, std::uint64_t> entries;
        std::uint64_t parent = 0;
        std::string name;
    };

    const Past& past_;
    const Persistence& model_;
    std::shared_ptr<const Durability> durable_;
    CutState wanted_;
    std::uint32_t names_until_ = 0; ///< prefix models: lines about names before this one are there
    std::map<std::uint32_t, WriteLoss> write_losses_;
    std::set<std::uint32_t> zeroes_first_;                 ///< lost truncations and holes whose zeros have come all the same
    std::vector<bool> dropped_;                            ///< by line: asked for as a whole
    std::map<std::uint64_t, std::uint32_t> carried_until_; ///< by file: the last rename or close that is there and may carry data
    std::map<std::uint64_t, Directory> directories_;
    std::map<std::uint64_t, const Operation*> made_;
    std::vector<Loss> lost_;
    LeftTree tree_;
};

} // namespace flashlab

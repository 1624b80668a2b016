/// A history that has been read: which inode each line concerns, how large each file was, which writes each page saw.
///
/// Idea       The names are followed once from the first line to the last. Afterwards each line knows its inode, and each page of each file the list
///            of lines that changed it (its versions).
/// Invariant  Version v of a page holds the effect of all lines up to v on that page, as a page cache does: a page is written back as a whole.
/// Cost       The data once, as in the history, and some words a line.
/// Power cut  Keeps nothing. What a cut leaves: crash/apps/left_state.h.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/icl/interval_set.hpp>

#include "crash/apps/history.h"

namespace flashlab {

inline constexpr std::uint64_t root_number = 1;
inline constexpr std::uint32_t page_bytes = 4096;
inline constexpr std::uint32_t no_line = 0xffffffff; ///< as a version: never written, zeros

/// What a line means, beside what stands in it.
struct LineFacts {
    std::uint64_t ino = 0;      ///< whom it concerns: the file moved, unlinked, written
    std::uint64_t replaced = 0; ///< rename: who had the new name; exchange: the other one
    std::uint64_t size_before = 0, size_after = 0;
    bool is_directory = false;
    bool flushes = false; ///< close, after a truncation to nothing
    std::string path, to_path;
};

struct PagePast {
    std::vector<std::uint32_t> lines;
    std::vector<std::uint32_t> fills;       ///< those of `lines` that wrote the page when it had no block: a hole, or behind the end
    mutable std::vector<std::uint64_t> ids; ///< of the contents, 0: not computed yet
};

/// Pages, kept as runs.
using PageRuns = boost::icl::interval_set<std::uint32_t, std::less, boost::icl::right_open_interval<std::uint32_t>>;

struct FilePast {
    std::vector<std::uint32_t> lines;   ///< that change content, size or attributes
    std::vector<std::uint32_t> flushes; ///< at which ext4 starts to write delayed blocks: a rename over a name, a close with `flushes`
    std::map<std::uint32_t, PagePast> pages;
    std::vector<std::pair<std::uint32_t, PageRuns>> reserved; ///< lines of fallocate, and the pages to which each gave a block
};

class Past {
public:
    explicit Past(std::vector<Operation> history);

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(lines_.size()); }
    [[nodiscard]] const Operation& line(std::uint32_t i) const { return lines_[i]; }
    [[nodiscard]] const LineFacts& facts(std::uint32_t i) const { return facts_[i]; }
    /// The first cut: behind the preparation, which ends with the first sync_all.
    [[nodiscard]] std::uint32_t first_cut() const { return first_cut_; }
    /// The lines about names, in order.
    [[nodiscard]] const std::vector<std::uint32_t>& name_lines() const { return name_lines_; }
    /// Null: no line changes this file.
    [[nodiscard]] const FilePast* file(std::uint64_t ino) const;
    /// The pages that a write touches: first and one behind the last.
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> pages_of(std::uint32_t line) const;
    /// Does the line, a truncation or a hole, leave a part of a page that had bytes?
    [[nodiscard]] bool zeroes_in_part(std::uint32_t line) const;
    /// The page as it was after `version`, one of its lines.
    void compose(std::uint64_t ino, std::uint32_t page, std::uint32_t version, std::span<std::byte, page_bytes> to) const;
    /// Equal for equal contents of a page. Not from several threads at once.
    [[nodiscard]] std::uint64_t content_id(std::uint64_t ino, std::uint32_t page, std::uint32_t version) const;
    /// What the line does and to which file, equal for each round of a loop. A file that is renamed later is meant by the name that it gets:
    /// that of a temporary file may be drawn.
    [[nodiscard]] std::string kind(std::uint32_t line) const;
    /// One line of the trace for people, without its number.
    [[nodiscard]] std::string told(std::uint32_t line) const;

private:
    void follow(std::uint32_t i);
    void follow_name(std::uint32_t i);
    void follow_data(std::uint32_t i);
    void follow_blocks(std::uint32_t i);
    [[nodiscard]] std::string path_of(std::uint64_t directory, const std::string& name) const;
    [[nodiscard]] std::uint64_t find(std::uint64_t directory, const std::string& name) const;
    void put(std::uint64_t directory, const std::string& name, std::uint64_t ino);
    void remove(std::uint64_t directory, const std::string& name);
    void apply(std::uint32_t line, std::uint32_t page, std::span<std::byte, page_bytes> to) const;
    [[nodiscard]] bool covers(std::uint32_t line, std::uint32_t page) const;

    struct Node {
        bool is_directory = false, was_emptied = false;
        std::uint64_t size = 0, parent = 0;
        std::string name; ///< the newest
        std::map<std::string, std::uint64_t> entries;
        PageRuns blocks{}; ///< pages that have a block, or will once they are written back
    };

    std::vector<Operation> lines_;
    std::vector<LineFacts> facts_;
    std::vector<std::uint32_t> name_lines_;
    std::unordered_map<std::uint64_t, FilePast> files_;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> renames_; ///< by file
    std::unordered_map<std::uint64_t, Node> nodes_;
    std::uint32_t first_cut_ = 0;
};

} // namespace flashlab

/// What a file system may lose of what nobody synced: the models of --persistence (docs/crash-model.md, "What other file systems leave").
///
/// Idea       A model is a few answers. Who wants another file system adds a line of answers.
/// Invariant  Where sources differ the model takes the weaker promise.
/// Source     docs/crash-model.md names them, answer by answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace flashlab {

/// In which order unsynced changes of names survive.
enum class NameOrder : std::uint8_t {
    all,    ///< all that were answered
    prefix, ///< up to some point: one journal
    any,    ///< any subset that leaves a tree
};
/// What fsync of a file makes durable beside its data and size.
enum class SyncReach : std::uint8_t {
    nothing,     ///< not even its own name
    own_names,   ///< the names of this file, and what they need
    last_change, ///< all changes of names up to the file's last one
    everything,  ///< the same; of a directory all changes of names so far, if it has one of its own that waits
};
/// How the bytes of an unsynced append and the new size come to the device.
enum class AppendRule : std::uint8_t {
    apart,     ///< each without the other; a size without bytes shows zeros
    in_order,  ///< bytes first, page by page, then the size
    by_block,  ///< in order, but apart where the journal was committed behind it
    together,  ///< a page and the size that it gives are one
    by_commit, ///< together, and nothing of a write behind what the journal lost: copy on write
};
/// Which data a rename over a name takes with it, and a close after a truncation to nothing.
enum class CarryRule : std::uint8_t {
    nothing,
    new_blocks, ///< pages for which blocks were still to be found: neither overwritten in place nor fallocated
    everything,
};

struct Persistence {
    std::string_view name;
    NameOrder names;
    SyncReach file_sync;
    AppendRule append;
    CarryRule carries;
    bool tears_pages;           ///< a page in flight may be old in some sectors and new in others
    std::uint32_t names_age_ms; ///< older changes of names are durable; 0: no limit
    std::uint32_t data_age_ms;  ///< older data are durable; 0: no limit
};

/// Does the model have states in which a write's size came and its bytes did not?
[[nodiscard]] constexpr bool size_may_come_alone(const Persistence& model) {
    return model.append == AppendRule::apart || model.append == AppendRule::by_block;
}

/// The model of this name; nothing: there is none.
[[nodiscard]] std::optional<Persistence> find_persistence(std::string_view name);
inline constexpr std::string_view persistence_names = "strict, ext4, xfs, btrfs, posix";

} // namespace flashlab

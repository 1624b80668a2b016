/// The history of a program: every change that a file system answered to it, with the data, in the order of the answers.
///
/// Idea       One run is recorded once. What a power cut could have left at any point of it is made from the history, without running the program
///            again.
/// Invariant  A change stands in the history where it took effect, before its answer left. A promise (a line that the program wrote to
///            FLASHLAB_ACK_FD) stands behind all that was answered before it was written, and before all that was asked for afterwards.
///            A sync stands where it ended. It reaches what stood there when it began; of other threads' lines since then it says nothing. A close
///            stands where the file was given back, some time after close(2) returned; closes_first() puts it where it was called. Histories
///            recorded before this was counted have 0: they say that nothing came meanwhile.
/// Cost       The bytes of the data, and some fifty bytes a change.
/// Power cut  The file of a history that broke off is read up to its last whole record.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab {

enum class Act : std::uint8_t {
    make,       ///< a file, symlink or special file, or a directory: ino, parent, name, mode; data: the target of a symlink
    link,       ///< ino, parent, name
    unlink,     ///< parent, name
    rmdir,      ///< parent, name
    rename,     ///< parent, name, to_parent, to_name
    exchange,   ///< as rename, both names present
    write,      ///< ino, offset, data
    truncate,   ///< ino, bytes: the new size
    zero,       ///< ino, offset, bytes: zeros; the size stays
    extend,     ///< ino, bytes: the size is at least this, but with a `mode` (FALLOC_FL_KEEP_SIZE); offset: from there on each page has a block
    chmod,      ///< ino, mode
    set_xattr,  ///< ino, name, data
    drop_xattr, ///< ino, name
    fsync,      ///< ino: of a file or of a directory; bytes: as of each sync, how many of the lines right before came while it was under way
    fdatasync,  ///< ino, bytes
    sync_all,   ///< bytes. Everything, as `ctl MNT flush` does
    close,      ///< ino: an open for writing was closed; bytes: as of a sync
    promise,    ///< data: one line
};

/// One line of the trace.
struct Operation {
    Act act = Act::sync_all;
    std::uint64_t at_ms = 0; ///< since the recording began
    std::uint64_t ino = 0, parent = 0, to_parent = 0;
    std::uint64_t offset = 0, bytes = 0;
    std::uint32_t mode = 0;
    std::string name{}, to_name{};
    std::string data{};
    std::uint32_t uid = 0, gid = 0; ///< of what was made; not in the file
    std::int64_t done_ns = 0;       ///< of a sync of everything: when it is over; not in the file
};

[[nodiscard]] constexpr bool is_about_names(Act act) {
    return act == Act::make || act == Act::link || act == Act::unlink || act == Act::rmdir || act == Act::rename || act == Act::exchange;
}
[[nodiscard]] constexpr bool is_sync(Act act) { return act == Act::fsync || act == Act::fdatasync || act == Act::sync_all; }

[[nodiscard]] constexpr bool keeps_size(const Operation& extend) { return extend.mode != 0; }

/// The same history with each close before the lines that came while it was under way; its count is 0 then.
[[nodiscard]] std::vector<Operation> closes_first(std::vector<Operation> history);

/// The first bytes of the file of a history.
[[nodiscard]] std::string history_head();
void append_record(std::string& to, const Operation& operation);
/// The error says what the text is instead of a history.
[[nodiscard]] std::expected<std::vector<Operation>, std::string> read_history(std::string_view text);

} // namespace flashlab

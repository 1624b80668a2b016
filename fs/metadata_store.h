/// An ordered store of small records with atomic transactions: all metadata of the file system.
///
/// Idea       Keys are (inode, kind, subkey) in byte order. A transaction sees its own changes and commits as one redo-log record. The implementation
///            on PRAM is a B+tree. Its leaves append records and keep their order in a small slot array, so that an insert changes few words.
/// Invariant  M1 keys are unique and ordered. M2 after a cut a transaction is visible as a whole or not at all. M3 one transaction at a time.
/// Cost       get: O(log n), no allocation. put/erase: about 20 PRAM words each, plus a split now and then.
/// Power cut  Committed transactions survive in order; an open one leaves no trace.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/events.h"
#include "base/id.h"
#include "base/sim_time.h"
#include "fs/fs_types.h"
#include "fs/page_number.h"
#include "ftl/block_device.h"

namespace flashlab {

enum class RecordKind : std::uint8_t {
    inode = 1,        ///< subkey 0
    dirent = 2,       ///< subkey: name hash << 8 | collision index
    extent = 3,       ///< subkey: first file page
    symlink = 4,      ///< subkey: chunk index
    xattr = 5,        ///< subkey: name hash << 16 | chunk index
    orphan = 6,       ///< under Ino 0; subkey: inode without a name
    pending_trim = 7, ///< under Ino 0; subkey: first logical page
    counter = 8,      ///< under Ino 0: next inode number ...
};

struct RecordKey {
    Ino ino{0};
    RecordKind kind = RecordKind::inode;
    std::uint64_t subkey = 0;
    friend auto operator<=>(const RecordKey&, const RecordKey&) = default;
};

/// Largest value of one record. Callers divide longer values into chunks.
inline constexpr std::size_t max_record_bytes = 1024;

/// A place in the order of commits.
struct CommitMark {
    std::uint64_t number = 0;
    SimTime at = sim_start; ///< when it is durable, where the store knows that at once
    friend auto operator<=>(const CommitMark&, const CommitMark&) = default;
};

class MetadataStore {
public:
    virtual ~MetadataStore() = default;

    /// Opens a transaction; ContractViolation when one is open (M3).
    virtual void begin() = 0;
    /// Inserts or replaces a record. ENOSPC when only the reserve is left; the transaction can then only be rolled back. EIO when the medium fails.
    [[nodiscard]] virtual FsResult<void> put(const RecordKey& key, std::span<const std::byte> value) = 0;
    /// True when the key was there.
    [[nodiscard]] virtual FsResult<bool> erase(const RecordKey& key) = 0;
    virtual void roll_back() = 0;
    /// On PRAM the commit is durable when the returned time has passed; in a journal not before make_durable(). Never answers ENOSPC.
    [[nodiscard]] virtual FsResult<SimTime> commit(SimTime now, EventId parent) = 0;
    [[nodiscard]] virtual CommitMark last_commit() const = 0;
    /// The time at which everything up to the mark is durable; sim_never: not until make_durable() is called.
    [[nodiscard]] virtual SimTime durable_at(const CommitMark& mark) const = 0;
    /// Makes everything up to the mark durable; returns the time at which it is. again: the steps for it are under way.
    [[nodiscard]] virtual FsResult<SimTime> make_durable(const CommitMark& mark, SimTime now) = 0;
    /// Makes old commits durable; returns the next wake-up time.
    [[nodiscard]] virtual SimTime tick(SimTime now) = 0;
    /// From now until commit or roll-back, put() may use the reserve, which is kept for unlink, write-back of reserved data, and recovery.
    virtual void use_reserve() = 0;

    /// Gets the value, which is valid until the next change or begin(). False, and an empty span, when there is no such key.
    /// Sees the open transaction.
    [[nodiscard]] virtual bool get(const RecordKey& key, std::span<const std::byte>& value) const = 0;
    /// Visits [from, to) in order until the visitor returns false. The visitor must not change the store.
    using Visitor = std::function<bool(const RecordKey&, std::span<const std::byte>)>;
    virtual void scan(const RecordKey& from, const RecordKey& to, const Visitor& visit) const = 0;
    /// The greatest key that is <= `key` and >= `floor`, if any. It finds the extent that covers a page.
    [[nodiscard]] virtual bool find_at_or_before(const RecordKey& key, const RecordKey& floor, RecordKey& found,
                                                 std::span<const std::byte>& value) const = 0;

    /// Bitmap of data pages, part of the same transactions: 1 = in use.
    [[nodiscard]] virtual std::uint64_t data_pages() const = 0;
    [[nodiscard]] virtual std::uint64_t data_pages_in_use() const = 0;
    [[nodiscard]] virtual bool data_page_in_use(LogicalPage page) const = 0;
    /// First run of free pages at or after `hint` (wrapping), at most `wanted` long; length 0 when none.
    struct PageRun {
        LogicalPage first{0};
        std::uint64_t pages = 0;
    };
    [[nodiscard]] virtual PageRun find_free_run(LogicalPage hint, std::uint64_t wanted) const = 0;
    virtual void set_data_pages(PageRun run, bool in_use) = 0;

    /// Promises this many of the free bytes to coming write-backs: only a transaction that may use the reserve gets them.
    virtual void promise(std::uint64_t bytes) = 0;
    [[nodiscard]] virtual std::uint64_t bytes_total() const = 0;
    [[nodiscard]] virtual std::uint64_t bytes_free() const = 0; ///< outside the reserve and what is promised
    [[nodiscard]] virtual std::vector<CheckProblem> check() const = 0;
};

/// make_durable() of all commits, ahead of the clock: for when nothing else runs. Returns the time at which they are durable.
[[nodiscard]] inline FsResult<SimTime> make_all_durable(MetadataStore& store, SimTime now) {
    for (;;) {
        const auto durable = store.make_durable(store.last_commit(), now);
        if (durable || !durable.error().is_again()) return durable;
        now = durable.error().again;
    }
}

} // namespace flashlab

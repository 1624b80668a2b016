/// A flash translation layer: logical pages onto a NandArray.
///
/// Idea       Each scheme owns its mapping, its RAM and its recovery; what two schemes share lives in ftl/blocks, ftl/cache, ftl/recovery.
///            Ftl is a shell: its public functions check call order and ranges, once for all schemes, then call the scheme's do_ function.
///            The comments of the public functions are the contract; whoever writes a scheme implements the do_ functions so that it holds.
/// Invariant  check() states each scheme's own; all keep D1..D3 of block_device.h at the level of logical pages.
///            E1 recover() is the first call, and is called once. E2 requests come between a recover() that succeeded and shut_down().
///            E3 logical pages, parts, buffers and blocks lie within the shape. Breaking E1 to E3 is a defect of the caller: a ContractViolation.
/// Cost       Calls take runs of logical pages: one virtual call a request, none a page.
/// Power cut  recover() brings the mapping back from flash and PRAM; it is idempotent and may itself be cut.
#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>
#include <vector>

#include "base/contract.h"
#include "base/events.h"
#include "base/id.h"
#include "base/sim_time.h"
#include "ftl/block_device.h"

namespace flashlab {

/// What a failed call means, and what may be called after it. Every call is over when it has returned: nothing of it goes on later.
enum class FtlErrorKind : std::uint8_t {
    /// The data of FtlError::lpn cannot be read any more. Other pages can. A write or a trim is answered so when it had to read such a page.
    lost_page,
    /// Only between the parts of a scheme: there is no block to be had now. No public function of Ftl answers it; a device at its end is read_only.
    no_free_block,
    /// The device takes no more writes and trims: too many blocks have failed, its records have no room, or the image has failed before. Reads go on.
    read_only,
    /// Only of recover(): the records do not parse: damaged, or of another version. Nothing was changed, but a commit that a cut left half done in
    /// PRAM may be complete now.
    foreign,
    /// The host's image could not be read or written; host_errno says why. The device is read_only from then on if it was being changed.
    host_io,
};
struct FtlError {
    FtlErrorKind kind;
    Lpn lpn{0};         ///< of lost_page: a page that is lost, the first or another; of the other kinds it says nothing
    SimTime done;       ///< when the failure is known
    int host_errno = 0; ///< of host_io
};
template <class T>
using FtlResult = std::expected<T, FtlError>;

/// What all schemes count. What one counts besides, its entry declares (ftl/counters.h).
struct FtlCounters {
    std::uint64_t host_pages_read = 0; ///< logical pages, as the next two
    std::uint64_t host_pages_written = 0;
    std::uint64_t host_pages_trimmed = 0; ///< of those, that were mapped
    std::uint64_t gc_jobs = 0;
    std::uint64_t gc_page_copies = 0; ///< flash pages that were programmed for another cause than the host, maps, records and parity
    std::uint64_t retired_blocks = 0;
};

struct FtlSpace {
    std::uint32_t free_blocks = 0;  ///< garbage included: erased or to be erased; those of an SLC cache are not
    std::uint32_t spare_blocks = 0; ///< outside the logical space
    std::uint32_t bad_blocks = 0;
    std::uint64_t mapped_pages = 0; ///< logical ones; those that lie in a cache of the scheme's own come with the next flush
    std::uint32_t spare_at_end = 0; ///< with fewer spare blocks it becomes read-only
    bool is_read_only = false;      ///< it writes no more, whatever the reason
};

struct FtlRecovery {
    /// True after a shut_down() that succeeded on a device that was not read-only, and for a new device that nobody has recovered before.
    /// False after a power cut, after the death of the process, and after a shut_down() that failed.
    bool was_clean = false;
    std::uint64_t pages_scanned = 0;
    SimTime done; ///< requests may be issued from then on
};

enum class BlockUse : std::uint8_t { free, open, data, log, translation, bad, other };
struct BlockStatus {
    BlockUse use = BlockUse::free; ///< what no data can go to, and is not bad, is `other`
    std::uint32_t valid_pages = 0; ///< flash pages of it, of data or maps
};

class MappingSpace;

/// What a device of this configuration has, from its first day to its last.
struct FtlShape {
    std::uint32_t logical_page_bytes = 0;
    std::uint32_t logical_pages = 0;
    std::uint32_t blocks = 0; ///< of the array: what relocate() and status_of() take
};

class Ftl {
public:
    virtual ~Ftl() = default;
    Ftl(const Ftl&) = delete;
    Ftl& operator=(const Ftl&) = delete;

    // What may be asked at any time, also before recover() and after shut_down().
    [[nodiscard]] virtual std::string_view name() const = 0;
    [[nodiscard]] const FtlShape& shape() const { return shape_; }
    [[nodiscard]] std::uint32_t logical_page_bytes() const { return shape_.logical_page_bytes; }
    [[nodiscard]] std::uint32_t logical_pages() const { return shape_.logical_pages; }
    /// True: each write and each trim is durable at the time it returned, without a flush().
    /// False: a write and a trim are promised only once a flush() that was called after they were answered has ended.
    [[nodiscard]] virtual bool durable_when_answered() const { return false; }
    /// Pages, which need not follow each other, that one call of write_each() programs at once: a word line of a die. 1: it does not matter.
    [[nodiscard]] virtual std::uint32_t pages_a_line() const { return 1; }
    /// Pages that a buffer best gives to write_each() together, and not in lines: some maps learn from what comes together.
    [[nodiscard]] virtual std::uint32_t pages_a_batch() const { return pages_a_line(); }
    /// Since this object was made; never decreasing.
    [[nodiscard]] virtual FtlCounters counters() const = 0;
    /// The scheme itself, where this is a decorator around it: whose counters its entry reads.
    [[nodiscard]] virtual const Ftl& undecorated() const { return *this; }
    /// Before recover() it says nothing.
    [[nodiscard]] virtual FtlSpace space() const = 0;
    /// Before recover() it says nothing.
    [[nodiscard]] BlockStatus status_of(BlockId block) const {
        check_block(block);
        return do_status_of(block);
    }
    /// The maps that share the drive's DRAM with the write buffer (ftl/cache/mapping_space.h); null where they lie elsewhere, or always whole in
    /// DRAM. Its functions that change something are requests (E2).
    [[nodiscard]] virtual MappingSpace* mapping_space() { return nullptr; }
    /// DRAM that a map on flash has where nobody divides it: its cache and directory. 0: the maps lie elsewhere, or always whole in DRAM.
    [[nodiscard]] virtual std::uint64_t map_cache_bytes() const { return 0; }

    /// Finds the mapping again. The first call on an object, on a new device too: mkfs leaves all-zero tables, which are an empty device.
    ///
    /// After it, a page is what the last durable write or trim made of it, or what a later one made of it that was not promised yet (C1, C3, C4).
    /// What it has found is durable when it returns: another cut before the next write changes nothing that read() shows.
    /// It may be cut at every instant; the next recover(), of a new object, then finds the same mapping (C6). It may write: records, erased blocks.
    /// If it fails, the object can do nothing more. After foreign the device is as it was; after host_io or lost_page another object may try again.
    [[nodiscard]] FtlResult<FtlRecovery> recover(SimTime now) {
        ensure(stage_ == Stage::made, "E1: recover() is the first call and is called once");
        stage_ = Stage::useless;
        FtlResult<FtlRecovery> found = do_recover(now);
        if (found) stage_ = Stage::running;
        return found;
    }

    /// At least one page. `to` is as long as the pages, or empty where nobody wants the payload. A page that is not mapped reads zeros.
    /// Returns when the data are there; they are of the newest version that was issued before, durable or not.
    /// Nothing that was promised changes. A read may still write: a cached map has to make room.
    /// If it fails, the content of `to` says nothing, not even of the pages that can be read.
    [[nodiscard]] FtlResult<SimTime> read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) {
        check_run(first, pages);
        check_buffer(to.size(), pages);
        return do_read(first, pages, to, io);
    }
    /// The same of at least one byte inside one logical page; `to` is `bytes` long or empty.
    [[nodiscard]] FtlResult<SimTime> read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) {
        check_run(lpn, 1);
        ensure(bytes != 0 && std::uint64_t{offset} + bytes <= shape_.logical_page_bytes, "E3: a part lies in its logical page");
        ensure(to.empty() || to.size() == bytes, "E3: a buffer is as long as the part");
        return do_read_part(lpn, offset, bytes, to, io);
    }
    /// At least one page; `from` is as long as the pages, or empty in runs without payload.
    /// Returns when the write is answered. When it is durable: durable_when_answered(). `from` may change as soon as the call has returned.
    /// After a cut each page of a write that is not durable is old or new, each for itself, never a mixture (C2, C3).
    /// If it fails, each of its pages is old or new; no other page has changed.
    [[nodiscard]] FtlResult<SimTime> write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) {
        check_run(first, pages);
        check_buffer(from.size(), pages);
        return do_write(first, pages, from, io);
    }
    /// write() of pages that need not follow each other, each once; `from` has them in the order of the list.
    [[nodiscard]] FtlResult<SimTime> write_each(std::span<const Lpn> pages, std::span<const std::byte> from, const Io& io) {
        for (const Lpn lpn : pages) check_run(lpn, 1);
        check_buffer(from.size(), static_cast<std::uint32_t>(pages.size()));
        return do_write_each(pages, from, io);
    }
    struct WrittenLine {
        SimTime done;
        std::uint32_t pages = 0;
    };
    /// write_each() of the first of these pages, at least one: as many as one program takes where they go, so that what comes next begins a line.
    [[nodiscard]] FtlResult<WrittenLine> write_line(std::span<const Lpn> pages, std::span<const std::byte> from, const Io& io) {
        for (const Lpn lpn : pages) check_run(lpn, 1);
        check_buffer(from.size(), static_cast<std::uint32_t>(pages.size()));
        return do_write_line(pages, from, io);
    }
    /// At least one page. From its return on the pages are not mapped and read zeros. When that is durable: durable_when_answered().
    /// A cut before brings back pages that were mapped, each for itself; a page that was trimmed and flushed stays so (C4).
    /// If it fails, each of the pages is mapped as before or not at all.
    [[nodiscard]] FtlResult<SimTime> trim(Lpn first, std::uint32_t pages, const Io& io) {
        check_run(first, pages);
        return do_trim(first, pages, io);
    }
    /// Everything that was answered before the call is durable at the time returned. It says nothing of requests that are issued later.
    /// A read-only device may answer read_only: then what was not durable before is not promised. What was durable stays so.
    /// On cells of several bits with paired pages the answer must wait for NandArray::note_durable(), too; the drive asks it, no scheme does.
    [[nodiscard]] FtlResult<SimTime> flush(const Io& io) {
        check_running();
        return do_flush(io);
    }
    /// A slice of background work. Returns when it wants to be called next; sim_never: not before the next request. May be called at any time: a
    /// translation layer that does not run has nothing to do. It changes nothing that read() shows, and what fails in it is told by the next request.
    [[nodiscard]] SimTime idle(SimTime now) { return stage_ == Stage::running ? do_idle(now) : sim_never; }
    /// Cause::wear or scrub: what is valid in the block moves elsewhere, so that the block becomes free. Returns when the copies are there.
    /// Nothing that read() shows changes. Blocks without data of the host, and those that cannot be moved now, are left alone: that is no error.
    [[nodiscard]] FtlResult<SimTime> relocate(BlockId block, SimTime now, Cause cause = Cause::wear) {
        check_running();
        check_block(block);
        return do_relocate(block, now, cause);
    }
    /// Everything that was answered is durable at the time returned, and the next recover() finds all of it in place (FtlRecovery::was_clean).
    /// A cut before that time is a cut like any other. A read-only device keeps what was durable; it need not record that it was shut down.
    /// The last request, whether it succeeds or fails: afterwards only what may be asked at any time is allowed.
    [[nodiscard]] FtlResult<SimTime> shut_down(SimTime now) {
        check_running();
        stage_ = Stage::shut_down;
        return do_shut_down(now);
    }

    // Questions to one that runs. They take no simulated time and change nothing that a cut, a request or another question could show.
    /// False: the page reads zeros. Of a page that nobody has read since the power-on true may be said all the same.
    [[nodiscard]] bool is_mapped(Lpn lpn) const {
        check_run(lpn, 1);
        return do_is_mapped(lpn);
    }
    /// Every invariant, in full; empty = sound. It looks at the scheme's own RAM and PRAM, and at the cells through NandArray's inspect functions, as
    /// they are when everything issued has ended. It may be called between any two requests, with collections and checkpoints under way.
    [[nodiscard]] std::vector<CheckProblem> check() {
        check_running();
        return do_check();
    }

protected:
    explicit Ftl(const FtlShape& shape) : shape_{shape} {}
    /// Of a decorator: it runs if what it decorates does.
    Ftl(const Ftl& below, const FtlShape& shape) : shape_{shape}, stage_{below.stage_} {}

private:
    // What a scheme implements: the calls above, with everything checked that they check.
    [[nodiscard]] virtual FtlResult<FtlRecovery> do_recover(SimTime now) = 0;
    [[nodiscard]] virtual FtlResult<SimTime> do_read(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) = 0;
    [[nodiscard]] virtual FtlResult<SimTime> do_read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to,
                                                          const Io& io) = 0;
    [[nodiscard]] virtual FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) = 0;
    /// Where it does not matter: one after the other.
    [[nodiscard]] virtual FtlResult<SimTime> do_write_each(std::span<const Lpn> pages, std::span<const std::byte> from, const Io& io) {
        SimTime done = io.when;
        for (std::size_t i = 0, bytes = shape_.logical_page_bytes; i < pages.size(); ++i) {
            const auto one = do_write(pages[i], 1, from.empty() ? from : from.subspan(i * bytes, bytes), io);
            if (!one) return one;
            done = std::max(done, *one);
        }
        return done;
    }
    /// Where there are no lines: all of them.
    [[nodiscard]] virtual FtlResult<WrittenLine> do_write_line(std::span<const Lpn> pages, std::span<const std::byte> from, const Io& io) {
        const auto done = do_write_each(pages, from, io);
        if (!done) return std::unexpected(done.error());
        return WrittenLine{*done, static_cast<std::uint32_t>(pages.size())};
    }
    [[nodiscard]] virtual FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) = 0;
    [[nodiscard]] virtual FtlResult<SimTime> do_flush(const Io& io) = 0;
    [[nodiscard]] virtual SimTime do_idle(SimTime now) = 0;
    [[nodiscard]] virtual FtlResult<SimTime> do_relocate(BlockId block, SimTime now, Cause cause) = 0;
    [[nodiscard]] virtual FtlResult<SimTime> do_shut_down(SimTime now) = 0;
    [[nodiscard]] virtual bool do_is_mapped(Lpn lpn) const = 0;
    [[nodiscard]] virtual BlockStatus do_status_of(BlockId block) const = 0;
    [[nodiscard]] virtual std::vector<CheckProblem> do_check() = 0;

    enum class Stage : std::uint8_t { made, running, shut_down, useless };

    void check_running() const { ensure(stage_ == Stage::running, "E2: a request comes after recover() and before shut_down()"); }
    void check_run(Lpn first, std::uint32_t pages) const {
        check_running();
        ensure(pages != 0 && std::uint64_t{first.value()} + pages <= shape_.logical_pages, "E3: at least one page, all in the logical space");
    }
    void check_buffer(std::size_t bytes, std::uint32_t pages) const {
        ensure(bytes == 0 || bytes == std::size_t{pages} * shape_.logical_page_bytes, "E3: a buffer of whole logical pages");
    }
    void check_block(BlockId block) const { ensure(block.value() < shape_.blocks, "E3: a block of the array"); }

    const FtlShape shape_;
    Stage stage_ = Stage::made;
};

} // namespace flashlab

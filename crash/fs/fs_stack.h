/// The whole machine in virtual time: file system over drive over a translation layer over flash and PRAM in memory, to be cut and opened again.
///
/// Idea       The state that a cut leaves is in the two stores. open() builds everything above them anew.
/// Invariant  After cut() or kill() only open() is allowed. Nothing here knows a test framework: errors are texts, so that an explorer can use it.
/// Cost       open() builds every layer; some hundred microseconds on the tiny geometry.
/// Power cut  Cuts of the whole stack are made here.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "crash/scripted_outcomes.h"
#include "fs/file_system.h"
#include "ftl/drive.h"
#include "nand/memory_page_store.h"
#include "pram/memory_pram_store.h"

namespace flashlab {

struct FsStackConfig {
    SsdConfig ssd;
    std::uint64_t ftl_pram_bytes = 512u << 10; ///< the rest of ssd.pram.bytes is the file system's
    FsOptions fs;
    bool journal = false; ///< metadata in a journal on the drive, not on PRAM
};

/// 2 MiB of SLC on two dies, blocks of eight 4 KiB pages, hFTL: collections and trims come quickly.
[[nodiscard]] FsStackConfig tiny_stack();
/// The same with metadata in a journal: 16 MiB of flash, as the journal wants 2 of them at least.
[[nodiscard]] FsStackConfig tiny_journal_stack();

/// Which of the tiny stacks: what `crash explore --metadata` chooses from.
struct FsShape {
    std::string scheme = "hftl";
    bool journal = false;
    std::string cell = "slc"; ///< slc, mlc or tlc
    friend bool operator==(const FsShape&, const FsShape&) = default;
};
/// The tiny stack with as many blocks as the scheme needs. The error is the scheme's reason to refuse it.
[[nodiscard]] std::expected<FsStackConfig, std::string> tiny_stack(const FsShape& shape);

/// Notes when operations of flash and PRAM begin and end: the instants at which a cut can find something in flight.
class InstantRecorder final : public EventSink {
public:
    InstantRecorder() : EventSink{EventLevel::all} {}
    void on(const NandOpEvent& e) override { note(e.start, e.end); }
    void on(const PramWriteEvent& e) override { note(e.start, e.end); }
    /// Sorted, without repetition.
    [[nodiscard]] std::vector<SimTime> instants() const;
    void clear() { at_.clear(); }

private:
    void note(SimTime start, SimTime end);
    std::vector<SimTime> at_;
};

class FsStack {
public:
    /// Makes the file system; on failure `trouble` says why. `cells`: PRAM cells of an earlier stack of the same size. They are wiped, which is
    /// cheaper than new ones.
    FsStack(const FsStackConfig& config, std::string& trouble, std::unique_ptr<MemoryPramStore> cells = nullptr);
    ~FsStack();

    /// Recovers drive and file system. The error says which of the two refused.
    [[nodiscard]] std::expected<void, std::string> open(SimTime now);
    [[nodiscard]] SimTime opened_at() const { return opened_at_; }
    /// The time at which the recovery was done.
    [[nodiscard]] SimTime ready_at() const { return ready_at_; }

    [[nodiscard]] FileSystem& fs() { return *fs_; }
    [[nodiscard]] Ssd& ssd() { return drive_->ssd(); }
    [[nodiscard]] InstantRecorder& recorder() { return events_; }
    /// The size of the drive's logical page.
    [[nodiscard]] std::uint32_t page_bytes() const { return page_bytes_; }

    void settle(SimTime now) { ssd().settle(now); }
    [[nodiscard]] SimTime last_reserved_end() const { return drive_->ssd().last_reserved_end(); }
    /// The power fails at `at`. The outcomes of operations in flight are drawn from `seed`.
    void cut(SimTime at, std::uint64_t seed);
    /// The process is killed: issued operations are complete.
    void kill() { drop(); }
    /// Ends the stack and gives its PRAM cells away, for another stack.
    [[nodiscard]] std::unique_ptr<MemoryPramStore> take_cells() {
        drop();
        return std::move(cells_);
    }
    [[nodiscard]] std::expected<SimTime, std::string> shut_down(SimTime now);
    /// The outcomes of all cuts so far.
    [[nodiscard]] const OutcomeCounts& outcomes() const { return outcomes_; }
    /// The problems that fsck and the drive's own check find, one line each.
    [[nodiscard]] std::vector<std::string> problems();

private:
    void drop();
    [[nodiscard]] std::expected<void, std::string> open_drive(SimTime now);
    [[nodiscard]] PramRange fs_range() const;

    FsStackConfig config_;
    Geometry geometry_;
    MemoryPageStore pages_;
    std::unique_ptr<MemoryPramStore> cells_;
    InstantRecorder events_;
    OutcomeCounts outcomes_;
    std::uint32_t page_bytes_ = 0;
    std::unique_ptr<Drive> drive_;
    std::unique_ptr<FileSystem> fs_;
    SimTime opened_at_ = sim_start;
    SimTime ready_at_ = sim_start;
};

} // namespace flashlab

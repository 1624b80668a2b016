/// The whole machine in virtual time: file system over drive over a translation layer over flash and PRAM in memory, to be cut and opened again.
///
/// Idea       The state that a cut leaves is in the two stores. open() builds everything above them anew.
/// Invariant  After cut() or kill() only open() is allowed. Nothing here knows a test framework: errors are texts, so that an explorer can use it.
/// Cost       open() builds every layer; some hundred microseconds on the tiny geometry. A stack on an image costs what the last program changed.
/// Power cut  Cuts of the whole stack are made here.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "crash/fs/fs_sabotage.h"
#include "crash/judges.h"
#include "crash/scripted_outcomes.h"
#include "fs/file_system.h"
#include "fs/journal_memory.h"
#include "ftl/drive.h"
#include "nand/memory_page_store.h"
#include "pram/memory_pram_store.h"

namespace flashlab {

struct FsStackConfig {
    SsdConfig ssd;
    std::uint64_t ftl_pram_bytes = 512u << 10; ///< the rest of ssd.pram.bytes is the file system's
    FsOptions fs;
    bool journal = false;       ///< metadata in a journal on the drive, not on PRAM
    bool notes_instants = true; ///< FsStack::recorder() hears every operation; an explorer that draws its cuts does not ask it
    bool worn = false;          ///< every logical page was written and trimmed before: blocks are erased before they are used
    bool unnamed = false; ///< programs also make files without a name, which they may link; without, a seed's program is the one that it always was
    // Only to show that each judge is needed: a seeded bug, and fewer judges than all.
    FsSabotage* sabotage = nullptr;
    JudgeSet judges{};
};

/// 2 MiB of SLC on two dies, blocks of eight 4 KiB pages, hFTL: collections and trims come quickly.
[[nodiscard]] FsStackConfig tiny_stack();
/// The same with metadata in a journal: 8 MiB of flash, as the journal wants 2 of them at least.
[[nodiscard]] FsStackConfig tiny_journal_stack();

/// Which of the tiny stacks: what `crash explore --metadata` chooses from.
struct FsShape {
    std::string scheme = "hftl";
    bool journal = false;
    std::string cell = "slc"; ///< slc, mlc or tlc
    std::string variant;      ///< "": a new drive; "buffer": with a volatile write buffer; "worn": FsStackConfig::worn
    friend bool operator==(const FsShape&, const FsShape&) = default;
};
/// The tiny stack with as many blocks as the scheme needs. The error is the scheme's reason to refuse it.
[[nodiscard]] std::expected<FsStackConfig, std::string> tiny_stack(const FsShape& shape);

/// Notes when operations of flash and PRAM begin and end: the instants at which a cut can find something in flight.
class InstantRecorder final : public EventSink {
public:
    InstantRecorder() : EventSink{EventLevel::all} {}
    using EventSink::on;
    void on(const NandOpEvent& e) override { note(e.start, e.end); }
    void on(const PramWriteEvent& e) override { note(e.start, e.end); }
    /// Sorted, without repetition.
    [[nodiscard]] std::vector<SimTime> instants() const;
    void clear() { at_.clear(); }

private:
    void note(SimTime start, SimTime end);
    std::vector<SimTime> at_;
};

/// The cells of a stack: all that outlives a cut. Beside them memory in which the next file system may open.
struct FsCells {
    std::unique_ptr<MemoryPageStore> pages;
    std::unique_ptr<MemoryPramStore> pram;
    std::unique_ptr<JournalMemory> journal_memory{};
};

/// A drive with an empty file system, made once for many programs.
struct FsImage {
    FsCells cells;
    SimTime ready_at = sim_start;
    std::uint32_t page_bytes = 0;
};

class FsStack {
public:
    /// Makes the file system; on failure `trouble` says why.
    FsStack(const FsStackConfig& config, std::string& trouble);
    /// On a copy of `image`. `cells`: of an earlier stack on a copy of the same image; what it has changed is copied, which is cheaper
    /// than all. Empty: new ones.
    FsStack(const FsStackConfig& config, const FsImage& image, FsCells cells);
    ~FsStack();

    /// Recovers drive and file system. The error says which of the two refused.
    [[nodiscard]] std::expected<void, std::string> open(SimTime now);
    [[nodiscard]] SimTime opened_at() const { return opened_at_; }
    /// The time at which the recovery was done.
    [[nodiscard]] SimTime ready_at() const { return ready_at_; }

    [[nodiscard]] FileSystem& fs() { return *fs_; }
    [[nodiscard]] Ssd& ssd() { return drive_->ssd(); }
    [[nodiscard]] InstantRecorder& recorder() { return recorder_; }
    /// The size of the drive's logical page.
    [[nodiscard]] std::uint32_t page_bytes() const { return page_bytes_; }

    void settle(SimTime now) { ssd().settle(now); }
    [[nodiscard]] SimTime last_reserved_end() const { return drive_->ssd().last_reserved_end(); }
    /// The power fails at `at`. The outcomes of operations in flight are drawn from `seed`.
    void cut(SimTime at, std::uint64_t seed);
    /// The process is killed: issued operations are complete.
    void kill() { drop(); }
    /// Ends the stack and gives its cells away, for another stack.
    [[nodiscard]] FsCells take_cells() {
        drop();
        return std::move(cells_);
    }
    /// The empty file system as it is now; the stack has ended.
    [[nodiscard]] FsImage take_image() { return {take_cells(), ready_at_, page_bytes_}; }
    [[nodiscard]] std::expected<SimTime, std::string> shut_down(SimTime now);
    /// The outcomes of all cuts so far.
    [[nodiscard]] const OutcomeCounts& outcomes() const { return outcomes_; }
    /// The problems that fsck and the drive's own check find, one line each.
    [[nodiscard]] std::vector<std::string> problems();
    /// The same, by the judge that found them; only of the judges that the configuration has.
    [[nodiscard]] std::vector<Finding> findings();
    /// A hash of all that the last cut left, before anything was opened.
    [[nodiscard]] std::uint64_t fingerprint() const { return fingerprint_; }

private:
    void drop();
    [[nodiscard]] EventSink& sink_of(const FsStackConfig& config) { return config.notes_instants ? static_cast<EventSink&>(recorder_) : silence_; }
    [[nodiscard]] std::expected<void, std::string> open_drive(SimTime now);
    [[nodiscard]] std::expected<std::unique_ptr<FileSystem>, std::string> open_sabotaged();
    void take_fingerprint();
    /// Writes every logical page and trims all.
    [[nodiscard]] bool wear_out();
    [[nodiscard]] PramRange fs_range() const;

    FsStackConfig config_;
    Geometry geometry_;
    FsCells cells_;
    InstantRecorder recorder_;
    NullEventSink silence_;
    EventSink& events_;
    OutcomeCounts outcomes_;
    std::uint32_t page_bytes_ = 0;
    std::unique_ptr<Drive> drive_;
    std::unique_ptr<BlockDevice> liar_; ///< the sabotage's, around the drive
    std::unique_ptr<FileSystem> fs_;
    std::uint64_t fingerprint_ = 0;
    SimTime opened_at_ = sim_start;
    SimTime ready_at_ = sim_start;
};

} // namespace flashlab

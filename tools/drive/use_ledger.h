/// Where the bytes of programs go: from a program's call over the host's request to the page on flash, by process, by file and by cause.
///
/// Idea       An event sink that stands in front of the log and hears everything. A logical page belongs to the file and the process whose data were
///            written there last; each program of it, a copy of a collection, too, counts for both of them.
/// Invariant  Every byte that the host sent and every page that was programmed counts for exactly one process and one file: what belongs to no file
///            of a program is the file system's or the drive's own. So the columns add up to the counters of the device. A slow request is that of
///            the last writer of what it writes, and of the call that came last where it writes nothing.
/// Cost       12 bytes a logical page, some 300 bytes a file, 20 bytes a page that is written and not on the drive yet. All events are made.
/// Power cut  Belongs to the mount and ends with it.
/// Threading  Inside the monitor.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/log_linear_histogram.h"
#include "fs/use_observer.h"
#include "tools/drive/slow_requests.h"
#include "tools/log/event_taker.h"
#include "tools/text/json.h"

namespace flashlab {

/// What a process or a file caused.
struct UseCounts {
    std::uint64_t calls = 0, failed_calls = 0, syncs = 0;
    std::uint64_t write_bytes = 0;      ///< that programs handed to write(2), or the kernel wrote for them
    std::uint64_t read_bytes = 0;       ///< that came from the mount: the kernel's cache answers what it has
    std::uint64_t host_write_bytes = 0; ///< sent to the drive
    std::array<std::uint64_t, cause_count> nand_pages{};

    void add(const UseCounts& other);
    [[nodiscard]] std::uint64_t all_nand_pages() const;
};

class UseLedger final : public EventTaker<UseLedger, EventSink, AllEvents>, public UseObserver {
public:
    /// The name of the program that a thread of the host runs.
    using NameOfThread = std::function<std::string(std::int32_t)>;
    /// `log` hears what its level asks for.
    UseLedger(EventSink& log, NameOfThread name_of_thread);
    ~UseLedger() override = default;
    /// Before the first write: bytes of a logical page, of a page of the file system, and of a page on flash.
    void begin(std::uint32_t lpn_bytes, std::uint32_t file_page_bytes, std::uint32_t nand_page_bytes);

    void call_began(std::int32_t thread, FsOp op, Ino ino, std::uint64_t offset, std::uint64_t bytes) override;
    void call_ended(std::int32_t thread, FsOp op, Ino ino, std::uint64_t bytes, int error, Duration took) override;
    void named(Ino ino, std::uint64_t generation, Ino parent, std::string_view name) override;
    void data_written(Ino ino, FilePage page, Sector first, std::uint32_t sectors) override;

    /// Processes, files and syncs, greatest first, and the slowest requests. `most`: so many files and syncs; the other files are one row.
    [[nodiscard]] Json report(std::size_t most) const;
    [[nodiscard]] std::optional<FileUse> use_of(Ino ino) const override;

private:
    template <class Body, class Base, class List>
    friend class EventTaker;
    template <class Event>
    void take(const Event& event) {
        log_.on(event);
    }
    void take(const NandOpEvent& event);
    void take(const HostRequestEvent& event);

    using FileIndex = std::uint32_t;
    using ProcessIndex = std::uint32_t;
    struct File {
        Ino ino{0}, parent{0};
        std::uint64_t generation = 0;
        std::string name;
        std::uint32_t last_writer = 0; ///< a process
        UseCounts counts;
    };
    struct Process {
        std::string name;
        std::uint64_t threads = 0;
        UseCounts counts;
        LogLinearHistogram<4> sync_ns;
    };
    struct Owner {
        FileIndex file = no_file;
        ProcessIndex process = kernel;
    };
    struct Syncs {
        std::uint64_t calls = 0;
        std::int64_t all_ns = 0, longest_ns = 0;
    };
    static constexpr FileIndex no_file = 0;     ///< the file system's own
    static constexpr FileIndex drives_file = 1; ///< the drive's own
    static constexpr ProcessIndex kernel = 0;

    [[nodiscard]] FileIndex file_of(Ino ino);
    [[nodiscard]] ProcessIndex process_of(std::int32_t thread, bool may_be_new_program);
    [[nodiscard]] std::string path_of(FileIndex file) const;
    [[nodiscard]] Json counts_as_json(const UseCounts& counts) const;
    void add_processes(Json& out) const;
    void add_files(Json& out, std::size_t most) const;
    void add_syncs(Json& out, std::size_t most) const;
    void add_slow_requests(Json& out) const;
    [[nodiscard]] Owner owner_of(const HostRequestEvent& request) const;

    EventSink& log_;
    NameOfThread name_of_thread_;
    std::uint64_t lpn_bytes_ = 4096, file_page_bytes_ = 4096, nand_page_bytes_ = 4096;
    std::vector<File> files_;
    std::vector<Process> processes_;
    std::unordered_map<std::uint64_t, FileIndex> file_of_ino_; ///< looked up only, as are the next two
    std::unordered_map<std::int32_t, ProcessIndex> process_of_thread_;
    std::unordered_map<std::uint64_t, ProcessIndex> writer_of_page_; ///< file and page: of what is not on the drive yet
    std::vector<Owner> owners_;                                      ///< by logical page
    std::map<std::pair<ProcessIndex, FileIndex>, Syncs> syncs_;
    std::uint64_t host_write_bytes_ = 0;
    Owner caller_; ///< of the call that came last, while it is under way
    SlowRequests slow_;
};

/// The name of the program that a thread of this machine runs: that of its process, not of the thread. "(pid N)" if it is gone.
[[nodiscard]] std::string program_of_thread(std::int32_t thread);

} // namespace flashlab

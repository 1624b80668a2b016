/// Events as rows of an SQLite file: DIR/events.db, or --events FILE.
///
/// Idea       An event is appended to the batch that is being filled. A thread of the log writes full batches with prepared statements, one
///            transaction each. For a mount this thread runs only when a processor is idle (SCHED_IDLE): at an ordinary priority it delayed programs
///            that had just got an answer. The thread gathers batches and then writes all of them: writing a little after each batch delayed answers
///            too often. An idle thread can be starved. So a second, ordinary thread does the work when batches pile up, when they grow old, or when
///            somebody waits for them.
/// Invariant  L1 nothing is dropped silently: a full queue blocks the emitter. L2 a log that cannot be written stops with one message and the device
///            goes on. L3 rows of one table keep the order of their events. L4 after close() the log is a single file. L5 SQLite never runs inside
///            the monitor.
/// Cost       For the emitter a mutex and a copy an event. For the writer 0.15 to 0.4 us a row. On disk 25 to 45 bytes a row.
/// Threading  on(), add_*(), begin_run_at() and change_level() are called inside the monitor. The other public functions are called outside of the
///            monitor, from one thread at a time.
/// Power cut  The file is in WAL mode while live. kill -9 leaves what was committed: the last half second is missing, the last second where the
///            processors are busy.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/events.h"
#include "tools/log/event_taker.h"
#include "tools/log/log_rows.h"
#include "tools/log/sample_base.h"

namespace flashlab {

class EventLogWriter;
struct EventBatch;

struct EventLogConfig {
    std::string path;
    bool is_of_device = false; ///< the log in a device directory: mode 0600, and no symbolic link
    EventLevel level = EventLevel::summary;
    std::uint64_t keep_bytes = std::uint64_t{1} << 30; ///< beyond it the oldest detail rows are deleted
    std::string kind = "mount";
    std::string config_toml{};
    std::string config_hash{};
    std::uint64_t seed = 0;
    SimTime start = sim_start;
    std::uint32_t page_bytes = 4096;
    bool yields = false;                                ///< rows are written when the processors have nothing else to do, as long as that suffices
    std::function<void(const std::string&)> complain{}; ///< called once, on the writer's thread, when the log stops
};

/// A run in the file.
struct LogRun {
    std::int64_t run = 0;
    std::uint64_t id_base = 0;
};

class SqliteEventLog final : public EventTaker<SqliteEventLog, EventSink, AllEvents> {
public:
    /// Opens or makes the file, begins a run, starts the thread. At level none nothing is opened until change_level().
    [[nodiscard]] static std::expected<std::unique_ptr<SqliteEventLog>, std::string> open(EventLogConfig config);
    ~SqliteEventLog() override;

    /// The run begins here, not with the device's power-on: later samples count from this one.
    void begin_run_at(const SampleEvent& base, SampleDetails details);
    /// A sample with what belongs to it.
    void add_sample(const SampleEvent& event, SampleDetails details);
    void add_wear(WearHistogram wear);
    /// Belongs to the last UncorrectableReadEvent, if that has no file yet.
    void add_unreadable_file(UnreadableFile file);
    void add_cut_outcome(CutOutcomeRow row);
    void add_fault(FaultRow row);
    /// Of the run that begin_run_at() has begun.
    void add_load(LoadRow row);
    /// Opens the file and starts the thread if that has not happened yet, or again after a failure: the run goes on, what was lost is counted in it.
    [[nodiscard]] std::expected<void, std::string> make_ready();
    /// Above none only once make_ready() has succeeded. A row tells a level that differs from the one before.
    void change_level(EventLevel level, SimTime now);
    /// Nothing is logged until the level is changed; no row tells that.
    void pause() { set_level(EventLevel::none); }
    /// Returns when everything given so far is committed (or the log has stopped).
    void flush();
    /// The run did not come to its end: close() says so in its row.
    void mark_partial() { is_partial_ = true; }
    /// Flushes, joins the thread, leaves WAL mode: a single file. The destructor does it, too.
    void close();
    /// Empty while the log is well.
    [[nodiscard]] std::string failure() const;

private:
    template <class Body, class Base, class List>
    friend class EventTaker;
    explicit SqliteEventLog(EventLogConfig config);
    /// An event becomes a row of its table, from the table's level on.
    template <class Event>
    void take(const Event& event);
    void take(const SampleEvent& event) { add_sample(event, {}); }
    /// The event as the log tells it.
    template <class Event>
    const Event& as_told(const Event& event) const {
        return event;
    }
    GcJobEvent as_told(GcJobEvent event) const;
    template <class Event>
    void append(std::vector<Event>& (*list)(EventBatch&), Event event);
    enum class Turn : std::uint8_t { when_idle, at_need };
    void write_batches(Turn turn);
    [[nodiscard]] bool is_needed_now() const;
    [[nodiscard]] bool has_work_for(Turn turn) const;
    void wake_writer();
    /// What is being filled waits for a writer from now on.
    void close_batch();
    /// Has what was gathered written, if nothing came since the last look or it has waited for long.
    void look_at_the_clock();
    void begin_gathering(std::chrono::steady_clock::time_point now);
    void join_writers();
    void stop_with(const std::string& why, std::unique_lock<std::mutex>& lock);

    /// Of a batch. Beside a mount few: a thread that is starved in the midst of a batch keeps the other one waiting.
    [[nodiscard]] std::size_t batch_events() const { return config_.yields ? 1024 : 4096; }
    static constexpr std::size_t most_waiting = 65'536; ///< events, in batches; then the emitter waits
    static constexpr std::size_t enough = 16;           ///< batches gathered for the idle moments
    static constexpr std::chrono::milliseconds look_every{100};
    static constexpr std::chrono::milliseconds longest_gathering{500}, longest_waiting{1000};
    static constexpr std::size_t too_many = 32; ///< batches; then, and after longest_waiting, the ordinary thread writes, for so long:
    static constexpr std::chrono::seconds at_least{5};

    EventLogConfig config_;
    EventLevel told_level_; ///< by the last row
    SampleBase base_;
    EventId nameless_ = no_event; ///< request of the last UncorrectableReadEvent, until its file is known
    std::unique_ptr<EventLogWriter> writer_;
    mutable std::mutex mutex_;
    std::array<std::condition_variable, 2> wake_; ///< writers, by turn
    std::condition_variable wake_emitter_;
    std::unique_ptr<EventBatch> filling_;
    std::deque<std::unique_ptr<EventBatch>> waiting_; ///< in order
    std::vector<std::unique_ptr<EventBatch>> empty_;  ///< used again
    std::uint64_t given_ = 0;                         ///< events appended, ever
    std::uint64_t committed_ = 0;
    std::uint64_t wanted_ = 0; ///< somebody waits until so many are committed
    bool writing_ = false;     ///< one thread at a time
    bool gathering_ = true;    ///< nothing is written in idle moments
    std::uint64_t given_at_look_ = 0;
    std::chrono::steady_clock::time_point gathering_since_{}; ///< nothing older waits
    std::chrono::steady_clock::time_point needed_until_{};    ///< the idle moments did not suffice
    bool closing_ = false;
    bool is_partial_ = false;
    bool running_ = false;      ///< somebody takes what is appended
    std::optional<LogRun> run_; ///< once begun, it is continued
    std::string failure_;
    std::vector<std::thread> writers_;
};

} // namespace flashlab

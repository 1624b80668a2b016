#include "tools/log/sqlite_event_log.h"

#include <sched.h>

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "tools/log/event_batch.h"
#include "tools/log/event_log_writer.h"

namespace flashlab {

std::expected<std::unique_ptr<SqliteEventLog>, std::string> SqliteEventLog::open(EventLogConfig config) {
    std::unique_ptr<SqliteEventLog> log{new SqliteEventLog{std::move(config)}};
    if (log->level() == EventLevel::none) return log;
    if (auto started = log->make_ready(); !started) return std::unexpected(started.error());
    return log;
}

SqliteEventLog::SqliteEventLog(EventLogConfig config)
    : EventTaker{config.level}, config_{std::move(config)}, told_level_{config_.level}, filling_{std::make_unique<EventBatch>()} {}

SqliteEventLog::~SqliteEventLog() { close(); }

std::expected<void, std::string> SqliteEventLog::make_ready() {
    std::uint64_t lost = 0;
    {
        const std::lock_guard lock{mutex_};
        if (running_) return {};
        lost = given_ - committed_;
    }
    join_writers(); // where they have failed
    writer_.reset();
    auto writer = EventLogWriter::open(config_, batch_events(), run_, lost);
    if (!writer) return std::unexpected(writer.error());
    writer_ = std::move(*writer);
    run_ = writer_->run();
    {
        const std::lock_guard lock{mutex_};
        committed_ = given_;
        failure_.clear();
        running_ = true;
    }
    writers_.emplace_back([this] { write_batches(Turn::at_need); });
    if (config_.yields) writers_.emplace_back([this] { write_batches(Turn::when_idle); });
    return {};
}

template <class Event>
void SqliteEventLog::append(std::vector<Event>& (*list)(EventBatch&), Event event) {
    std::unique_lock lock{mutex_};
    ++given_;
    if (!running_) return;
    list(*filling_).push_back(std::move(event));
    if (++filling_->events < batch_events()) return;
    close_batch();
    wake_emitter_.wait(lock, [&] { return waiting_.size() * batch_events() < most_waiting || !running_; });
}

void SqliteEventLog::close_batch() {
    if (filling_->events == 0) return;
    waiting_.push_back(std::move(filling_));
    if (empty_.empty()) {
        filling_ = std::make_unique<EventBatch>();
    } else {
        filling_ = std::move(empty_.back());
        empty_.pop_back();
    }
    if (waiting_.size() >= enough) gathering_ = false;
    if (!gathering_ || is_needed_now()) wake_writer();
}

void SqliteEventLog::look_at_the_clock() {
    const auto now = std::chrono::steady_clock::now();
    const bool quiet = given_ == given_at_look_;
    given_at_look_ = given_;
    if (given_ == committed_) {
        begin_gathering(now);
        return;
    }
    if (config_.yields && !quiet && now - gathering_since_ < longest_gathering) return;
    gathering_ = false;
    if (now - gathering_since_ >= longest_waiting) needed_until_ = now + at_least;
    if (filling_->events != 0)
        close_batch(); // wakes the writer, too
    else
        wake_writer();
}

void SqliteEventLog::begin_gathering(std::chrono::steady_clock::time_point now) {
    gathering_ = true;
    gathering_since_ = now;
}

void SqliteEventLog::wake_writer() { wake_[std::to_underlying(is_needed_now() ? Turn::at_need : Turn::when_idle)].notify_one(); }

template <class Event>
void SqliteEventLog::take(const Event& event) {
    if constexpr (std::is_same_v<Event, UncorrectableReadEvent>) nameless_ = event.request;
    if (wants(*table_of<Event>().text.level))
        append(
            +[](EventBatch& batch) -> auto& { return batch.rows_of<Event>(); }, Event{as_told(event)});
}

template <class Body, class Base, class First, class... Rest>
void EventTaker<Body, Base, EventList<First, Rest...>>::on(const First& event) {
    static_cast<Body*>(this)->take(event);
}

/// One that was under way when the run began is this run's from then on.
GcJobEvent SqliteEventLog::as_told(GcJobEvent event) const {
    event.start = std::max(event.start, base_.at());
    return event;
}

void SqliteEventLog::begin_run_at(const SampleEvent& base, SampleDetails details) {
    base_ = SampleBase{base, std::move(details)};
    if (wants(EventLevel::summary))
        append(
            +[](EventBatch& batch) -> auto& { return batch.run_starts; }, base.at);
}

void SqliteEventLog::add_sample(const SampleEvent& event, SampleDetails details) {
    if (!wants(EventLevel::summary)) return;
    append(
        +[](EventBatch& batch) -> auto& { return batch.samples; }, std::pair{base_.since(event), base_.since(std::move(details))});
}

void SqliteEventLog::add_wear(WearHistogram wear) {
    if (wants(EventLevel::summary))
        append(
            +[](EventBatch& batch) -> auto& { return batch.wears; }, std::move(wear));
}

void SqliteEventLog::add_unreadable_file(UnreadableFile file) {
    file.request = std::exchange(nameless_, no_event);
    if (wants(EventLevel::summary))
        append(
            +[](EventBatch& batch) -> auto& { return batch.rows_of<UnreadableFile>(); }, std::move(file));
}

void SqliteEventLog::add_cut_outcome(CutOutcomeRow row) {
    if (wants(EventLevel::summary))
        append(
            +[](EventBatch& batch) -> auto& { return batch.rows_of<CutOutcomeRow>(); }, std::move(row));
}

void SqliteEventLog::add_fault(FaultRow row) {
    if (wants(EventLevel::summary))
        append(
            +[](EventBatch& batch) -> auto& { return batch.rows_of<FaultRow>(); }, std::move(row));
}

void SqliteEventLog::add_load(LoadRow row) {
    if (wants(EventLevel::summary))
        append(
            +[](EventBatch& batch) -> auto& { return batch.rows_of<LoadRow>(); }, std::move(row));
}

void SqliteEventLog::change_level(EventLevel level, SimTime now) {
    if (std::exchange(told_level_, level) != level)
        append(
            +[](EventBatch& batch) -> auto& { return batch.rows_of<LevelRow>(); }, LevelRow{now, level});
    set_level(level);
}

void SqliteEventLog::flush() {
    std::unique_lock lock{mutex_};
    if (!running_) return;
    close_batch();
    const std::uint64_t wanted = wanted_ = given_;
    wake_writer();
    wake_emitter_.wait(lock, [&] { return committed_ >= wanted || !running_; });
}

void SqliteEventLog::join_writers() {
    for (std::thread& writer : writers_) writer.join();
    writers_.clear();
}

void SqliteEventLog::close() {
    if (writers_.empty()) return;
    {
        const std::lock_guard lock{mutex_};
        close_batch();
        closing_ = true;
    }
    for (auto& wake : wake_) wake.notify_one();
    join_writers();
    if (running_)
        if (auto closed = writer_->close(is_partial_ ? EventLogWriter::RunEnd::partial : EventLogWriter::RunEnd::whole); !closed) {
            const std::lock_guard lock{mutex_};
            failure_ = fmt::format("event log {0}: {1}; the last rows lie in {0}-wal: keep the two together", config_.path, closed.error());
            if (config_.complain) config_.complain(failure_);
        }
    running_ = false;
    writer_.reset();
    set_level(EventLevel::none);
}

std::string SqliteEventLog::failure() const {
    const std::lock_guard lock{mutex_};
    return failure_;
}

/// Not what the idle moments have time for.
bool SqliteEventLog::is_needed_now() const {
    return !config_.yields || closing_ || committed_ < wanted_ || waiting_.size() >= too_many || std::chrono::steady_clock::now() < needed_until_;
}

bool SqliteEventLog::has_work_for(Turn turn) const {
    if (!running_ || (closing_ && waiting_.empty())) return true;
    if (writing_ || waiting_.empty()) return false;
    return turn == Turn::at_need ? is_needed_now() : !gathering_ && !is_needed_now();
}

void SqliteEventLog::write_batches(Turn turn) {
    const sched_param no_priority{};
    if (turn == Turn::when_idle) (void)::sched_setscheduler(0, SCHED_IDLE, &no_priority); // refused: then it is an ordinary thread
    std::unique_lock lock{mutex_};
    while (true) {
        if (!wake_[std::to_underlying(turn)].wait_for(lock, look_every, [&] { return has_work_for(turn); })) {
            if (turn == Turn::at_need) // one of the two, so that its looks are as far apart as they seem
                look_at_the_clock();
            continue;
        }
        if (!running_ || waiting_.empty()) return;
        if (waiting_.size() >= too_many) needed_until_ = std::chrono::steady_clock::now() + at_least;
        std::unique_ptr<EventBatch> batch = std::move(waiting_.front());
        waiting_.pop_front();
        writing_ = true;
        wake_emitter_.notify_all();
        lock.unlock();
        const auto written = writer_->write(*batch);
        lock.lock();
        writing_ = false;
        if (!written) return stop_with(written.error(), lock);
        committed_ += batch->events;
        batch->clear();
        empty_.push_back(std::move(batch));
        wake_emitter_.notify_all();
        if (waiting_.empty())
            begin_gathering(std::chrono::steady_clock::now());
        else
            wake_writer();
    }
}

void SqliteEventLog::stop_with(const std::string& why, std::unique_lock<std::mutex>& lock) {
    const std::string said = fmt::format("event log {}: {}; the log stops here, {}", config_.path, why,
                                         config_.kind == "mount" ? "the device goes on; with room again: flashlab ctl MNT set log=summary"
                                                                 : "and what it tells is not all");
    failure_ = said;
    running_ = false;
    filling_->clear();
    waiting_.clear();
    wake_emitter_.notify_all();
    for (auto& wake : wake_) wake.notify_one();
    lock.unlock(); // who hears it may take his time
    if (config_.complain) config_.complain(said);
}

} // namespace flashlab

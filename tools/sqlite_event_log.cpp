#include "tools/sqlite_event_log.h"

#include <chrono>

#include <fmt/format.h>

#include "tools/event_log_writer.h"

namespace flashlab {

void EventBatch::clear() {
    host_requests.clear();
    fs_ops.clear();
    nand_ops.clear();
    gc_jobs.clear();
    pram_writes.clear();
    powers.clear();
    partitions.clear();
    samples.clear();
    wears.clear();
    events = 0;
}

std::expected<std::unique_ptr<SqliteEventLog>, std::string> SqliteEventLog::open(EventLogConfig config) {
    std::unique_ptr<SqliteEventLog> log{new SqliteEventLog{std::move(config)}};
    if (log->level() == EventLevel::none)
        return log;
    if (auto started = log->make_ready(); !started)
        return std::unexpected(started.error());
    return log;
}

SqliteEventLog::SqliteEventLog(EventLogConfig config) : EventSink{config.level}, config_{std::move(config)} {}

SqliteEventLog::~SqliteEventLog() { close(); }

std::expected<void, std::string> SqliteEventLog::make_ready() {
    std::uint64_t lost = 0;
    {
        const std::lock_guard lock{mutex_};
        if (running_)
            return {};
        lost = given_ - committed_;
    }
    if (thread_.joinable()) // it has failed
        thread_.join();
    writer_.reset();
    auto writer = EventLogWriter::open(config_, run_, lost);
    if (!writer)
        return std::unexpected(writer.error());
    writer_ = std::move(*writer);
    run_ = writer_->run();
    {
        const std::lock_guard lock{mutex_};
        committed_ = given_;
        failure_.clear();
        running_ = true;
    }
    thread_ = std::thread{[this] { write_batches(); }};
    return {};
}

template <class Event>
void SqliteEventLog::append(std::vector<Event> EventBatch::* list, Event event) {
    std::unique_lock lock{mutex_};
    wake_emitter_.wait(lock, [&] { return filling_.events < most_waiting || !running_; });
    ++given_;
    if (!running_)
        return;
    (filling_.*list).push_back(std::move(event));
    if (++filling_.events == worth_writing)
        wake_writer_.notify_one();
}

void SqliteEventLog::on(const HostRequestEvent& event) {
    if (wants(EventLevel::requests))
        append(&EventBatch::host_requests, event);
}
void SqliteEventLog::on(const FsOpEvent& event) {
    if (wants(EventLevel::requests))
        append(&EventBatch::fs_ops, event);
}
void SqliteEventLog::on(const NandOpEvent& event) {
    if (wants(EventLevel::all))
        append(&EventBatch::nand_ops, event);
}
void SqliteEventLog::on(const GcJobEvent& event) {
    if (wants(EventLevel::all))
        append(&EventBatch::gc_jobs, event);
}
void SqliteEventLog::on(const PramWriteEvent& event) {
    if (wants(EventLevel::all))
        append(&EventBatch::pram_writes, event);
}
void SqliteEventLog::on(const PowerEvent& event) {
    if (wants(EventLevel::summary))
        append(&EventBatch::powers, event);
}
void SqliteEventLog::on(const PartitionEvent& event) {
    if (wants(EventLevel::summary))
        append(&EventBatch::partitions, event);
}
void SqliteEventLog::on(const SampleEvent& event) { add_sample(event, {}); }

void SqliteEventLog::add_sample(const SampleEvent& event, SampleDetails details) {
    if (wants(EventLevel::summary))
        append(&EventBatch::samples, std::pair{event, std::move(details)});
}

void SqliteEventLog::add_wear(WearHistogram wear) {
    if (wants(EventLevel::summary))
        append(&EventBatch::wears, std::move(wear));
}

void SqliteEventLog::flush() {
    std::unique_lock lock{mutex_};
    if (!running_)
        return;
    flush_wanted_ = true;
    const std::uint64_t wanted = given_;
    wake_writer_.notify_one();
    wake_emitter_.wait(lock, [&] { return committed_ >= wanted || !running_; });
}

void SqliteEventLog::close() {
    if (!thread_.joinable())
        return;
    {
        const std::lock_guard lock{mutex_};
        closing_ = true;
    }
    wake_writer_.notify_one();
    thread_.join();
    running_ = false;
    writer_.reset();
    set_level(EventLevel::none);
}

std::string SqliteEventLog::failure() const {
    const std::lock_guard lock{mutex_};
    return failure_;
}

void SqliteEventLog::write_batches() {
    EventBatch batch;
    std::unique_lock lock{mutex_};
    while (true) {
        wake_writer_.wait_for(lock, std::chrono::milliseconds{100}, [&] { return filling_.events >= worth_writing || flush_wanted_ || closing_; });
        if (closing_ && filling_.events == 0)
            break;
        flush_wanted_ = false;
        if (filling_.events == 0)
            continue;
        std::swap(batch, filling_);
        wake_emitter_.notify_all();
        lock.unlock();
        const auto written = writer_->write(batch);
        lock.lock();
        if (!written)
            return stop_with(written.error(), lock);
        committed_ += batch.events;
        batch.clear();
        wake_emitter_.notify_all();
    }
    lock.unlock();
    writer_->close();
}

void SqliteEventLog::stop_with(const std::string& why, std::unique_lock<std::mutex>& lock) {
    const std::string said = fmt::format("event log {}: {}; the log stops here, the device goes on; with room again: flashlab ctl MNT set log=summary", config_.path, why);
    failure_ = said;
    running_ = false;
    filling_.clear();
    wake_emitter_.notify_all();
    lock.unlock(); // who hears it may take his time
    if (config_.complain)
        config_.complain(said);
}

} // namespace flashlab

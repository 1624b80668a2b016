/// The runs of a shard that are finished, as long as the shard is not: OUTPUT.part.
///
/// Idea       A line of JSON a run, appended by one write. A killed shard goes on from what the file holds.
/// Invariant  One process writes a journal. A line that a kill left without its end is cut off at the next open; a damaged line before others is an
///            error, because something else has written there.
/// Cost       One write of a few kilobytes a run.
/// Power cut  Of the host: lines that it had not written yet are lost, and those runs are made again.
#pragma once

#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "tools/sweep/sweep_record.h"

namespace flashlab {

class SweepJournal {
public:
    /// Makes the file if it is not there. Refused while another process has it.
    [[nodiscard]] static std::expected<SweepJournal, std::string> open(const std::string& path);
    /// What a journal holds, without taking it: for those that only look. A file that is not there holds nothing.
    [[nodiscard]] static std::expected<std::vector<SweepRecord>, std::string> look(const std::string& path);
    SweepJournal(SweepJournal&& other) noexcept
        : path_{std::move(other.path_)}, records_{std::move(other.records_)}, file_{std::exchange(other.file_, -1)} {}
    SweepJournal& operator=(SweepJournal&&) = delete;
    ~SweepJournal();

    [[nodiscard]] const std::vector<SweepRecord>& records() const { return records_; }
    [[nodiscard]] std::expected<void, std::string> append(SweepRecord record);
    /// To be called when all that it holds lies in a database.
    void remove();

private:
    explicit SweepJournal(std::string path) : path_{std::move(path)} {}
    std::string path_;
    std::vector<SweepRecord> records_;
    int file_ = -1;
};

} // namespace flashlab

#include "tools/sweep/sweep_journal.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/whole_file_lock.h"
#include "tools/host/regular_file.h"

namespace flashlab {
namespace {

constexpr std::size_t largest_journal = std::size_t{1} << 32;

struct Content {
    std::vector<SweepRecord> records;
    std::size_t whole_bytes = 0; ///< up to the end of the last whole line
};

std::expected<Content, std::string> content_of(const std::string& path) {
    const auto text = read_regular_file(path, largest_journal);
    if (!text) return std::unexpected(fmt::format("{}: {}", path, text.error()));
    Content content;
    std::size_t line = 1;
    for (std::size_t end = 0; (end = text->find('\n', content.whole_bytes)) != std::string::npos; content.whole_bytes = end + 1, ++line) {
        const auto json = Json::parse(std::string_view{*text}.substr(content.whole_bytes, end - content.whole_bytes));
        auto record = json ? SweepRecord::from_json(*json) : std::unexpected(std::string{"no record of a sweep"});
        if (!record) return std::unexpected(fmt::format("{}:{}: {}; remove this line, and its run is made again", path, line, record.error()));
        content.records.push_back(std::move(*record));
    }
    return content;
}

} // namespace

std::expected<std::vector<SweepRecord>, std::string> SweepJournal::look(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return std::vector<SweepRecord>{};
    auto content = content_of(path);
    if (!content) return std::unexpected(content.error());
    return std::move(content->records);
}

std::expected<SweepJournal, std::string> SweepJournal::open(const std::string& path) {
    SweepJournal journal{path};
    journal.file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (journal.file_ < 0) return std::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
    if (const int error = lock_whole_file(journal.file_, WholeFileLock::exclusive); error != 0) // runs close what they inherit
        return std::unexpected(is_held_elsewhere(error) ? fmt::format("{}: another flashlab sweep run is at work on it: give each its own -o", path)
                                                        : fmt::format("{}: it cannot be locked: {}", path, std::strerror(error)));
    auto content = content_of(path);
    if (!content) return std::unexpected(content.error());
    if (::ftruncate(journal.file_, static_cast<off_t>(content->whole_bytes)) != 0)
        return std::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
    journal.records_ = std::move(content->records);
    return journal;
}

SweepJournal::~SweepJournal() {
    if (file_ >= 0) ::close(file_);
}

std::expected<void, std::string> SweepJournal::append(SweepRecord record) {
    const std::string line = record.to_json().dump() + "\n";
    struct stat before {};
    if (::fstat(file_, &before) != 0) return std::unexpected(fmt::format("{}: {}", path_, std::strerror(errno)));
    const ssize_t written = ::write(file_, line.data(), line.size());
    if (written != static_cast<ssize_t>(line.size())) {
        const int why = written < 0 ? errno : ENOSPC;
        (void)!::ftruncate(file_, before.st_size);
        return std::unexpected(fmt::format("{}: {}: make room and start again, it goes on where it stopped", path_, std::strerror(why)));
    }
    records_.push_back(std::move(record));
    return {};
}

void SweepJournal::remove() { ::unlink(path_.c_str()); }

} // namespace flashlab

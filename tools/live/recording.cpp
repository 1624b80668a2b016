#include "tools/live/recording.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace flashlab {

namespace {
constexpr std::size_t enough = 1u << 20;
} // namespace

std::expected<std::unique_ptr<Recording>, std::string> Recording::open(const std::string& file, FileSystem& below) {
    std::unique_ptr<Recording> recording{new Recording};
    recording->file_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (recording->file_ < 0) return std::unexpected(fmt::format("--record {}: {}; name a file that is not there yet", file, std::strerror(errno)));
    recording->promises_ = ::open((file + ".acks").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC); // seldom there
    recording->buffer_ = history_head();
    Recording* self = recording.get();
    recording->recorded_ = std::make_unique<RecordingFileSystem>(
        below, [self](Operation&& operation) { self->note(std::move(operation)); }, [self] { return self->lines_; },
        [self](const RecordingFileSystem::Planned*) -> std::optional<FsError> {
            self->fetch_promises();
            return std::nullopt;
        });
    return recording;
}

Recording::~Recording() {
    fetch_promises();
    flush();
    for (const int fd : {file_, promises_})
        if (fd >= 0) ::close(fd);
}

void Recording::note(Operation operation) {
    const auto since = std::chrono::steady_clock::now() - began_;
    operation.at_ms = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
    append_record(buffer_, operation);
    ++lines_;
    if (buffer_.size() >= enough) flush();
}

void Recording::fetch_promises() {
    if (promises_ < 0) return;
    std::array<char, 4096> bytes{};
    for (ssize_t got = 0; (got = ::read(promises_, bytes.data(), bytes.size())) > 0;) promised_.append(bytes.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = promised_.find('\n', begin)) != std::string::npos; begin = end + 1)
        note({.act = Act::promise, .data = promised_.substr(begin, end - begin)});
    promised_.erase(0, begin);
}

/// A file that cannot be written any more ends short: whoever reads it sees that the last line is missing.
void Recording::flush() {
    std::size_t done = 0;
    while (!failed_ && done < buffer_.size()) {
        const ssize_t written = ::write(file_, buffer_.data() + done, buffer_.size() - done);
        if (written < 0 && errno == EINTR) continue;
        failed_ = written <= 0;
        if (!failed_) done += static_cast<std::size_t>(written);
    }
    buffer_.clear();
}

} // namespace flashlab

#include "tools/explore/served_check.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fstream>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace flashlab {

namespace {

constexpr std::size_t most_of_a_line = 1 << 16;

/// A process that has ended is no reason to end this one, or to take it for interrupted.
void write_without_signal(int to, std::string_view text) {
    sigset_t pipe, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
    while (!text.empty()) {
        const ssize_t written = ::write(to, text.data(), text.size());
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
        if (written >= 0 || errno == EINTR) continue;
        constexpr timespec at_once{};
        if (errno == EPIPE && sigismember(&before, SIGPIPE) == 0) (void)::sigtimedwait(&pipe, nullptr, &at_once);
        break;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace

bool ServedCheck::start() {
    const auto pipe = [](FileDescriptor& to_read, FileDescriptor& to_write) {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
        to_read.reset(ends[0]);
        to_write.reset(ends[1]);
        return true;
    };
    FileDescriptor asked{-1}, answered{-1}; // the ends of the process, closed here once it has them
    if (!pipe(asked, questions_) || !pipe(answers_, answered)) return false;
    process_ = CheckProcess::start(call_, {.input = asked.get(), .output = answered.get()});
    return process_ != nullptr;
}

void ServedCheck::end_saying(const std::string& why) {
    process_.reset();
    std::ofstream{call_.output, std::ios::app} << why;
}

CheckVerdict ServedCheck::end_without_answer(CheckEnd cut_short) {
    const CheckVerdict verdict = process_->end(cut_short);
    end_saying(cut_short == CheckEnd::passed ? "the check ended without an answer, a line of its standard output\n" : "");
    return cut_short == CheckEnd::passed ? CheckVerdict{CheckEnd::failed, std::max(1, verdict.code)} : verdict;
}

CheckVerdict ServedCheck::ask(const std::string& question) {
    pollfd unasked{answers_.get(), POLLIN, 0};
    if (process_ != nullptr && ::poll(&unasked, 1, 0) != 0) process_.reset();
    if ((unasked.revents & POLLIN) != 0) return {CheckEnd::unclear, 1}; // else it has ended behind its last answer
    const bool is_first = process_ == nullptr;
    if (is_first && !start()) return {CheckEnd::not_started, 127};
    (void)::truncate(call_.output.c_str(), 0); // what was said of the state before; the process appends
    write_without_signal(questions_.get(), question + "\n");
    std::string answer;
    while (answer.find('\n') == std::string::npos) {
        if (const CheckEnd waited = process_->wait(answers_.get()); waited != CheckEnd::passed) return end_without_answer(waited);
        std::array<char, 4096> some{};
        const ssize_t got = ::read(answers_.get(), some.data(), some.size());
        if (got > 0) answer.append(some.data(), static_cast<std::size_t>(got));
        if (got > 0 && answer.size() < most_of_a_line) continue;
        if (is_first || got > 0) return end_without_answer(CheckEnd::passed);
        process_.reset(); // it ended behind its last answer, or of this state: that a new one will show
        return ask(question);
    }
    if (answer == "ok\n") return {CheckEnd::passed, 0};
    end_saying(answer);
    return {answer.find('\n') + 1 == answer.size() ? CheckEnd::failed : CheckEnd::unclear, 1};
}

} // namespace flashlab

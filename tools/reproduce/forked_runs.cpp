#include "tools/reproduce/forked_runs.h"

#include <algorithm>
#include <cerrno>
#include <deque>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/host/child_process.h"

namespace flashlab {
namespace {

/// A child at work, and the end of the pipe that its result comes through.
struct Child {
    std::size_t index = 0;
    pid_t process = -1;
    int pipe = -1;
};

/// `transfer` is ::read or ::write, called until all bytes have passed; false when they cannot.
template <class Byte, class Transfer>
bool pass_all(int file, std::span<Byte> bytes, Transfer transfer) {
    while (!bytes.empty()) {
        const ssize_t n = transfer(file, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return true;
}

std::expected<Child, std::string> start(std::size_t index, std::size_t result_bytes, const ForkedRun& run) {
    int ends[2];
    if (::pipe(ends) != 0) return std::unexpected(fmt::format("no pipe for a run: {}", std::strerror(errno)));
    const pid_t process = start_child([&] {
        ::close(ends[0]);
        std::vector<std::byte> result(result_bytes);
        const bool good = run(index, result) && pass_all(ends[1], std::span<const std::byte>{result}, ::write);
        ::_exit(good ? 0 : 1);
    });
    if (process < 0) {
        ::close(ends[0]);
        ::close(ends[1]);
        return std::unexpected(fmt::format("no process for a run: {}", std::strerror(errno)));
    }
    ::close(ends[1]);
    return Child{index, process, ends[0]};
}

bool finish(const Child& child, std::span<std::byte> result) {
    const bool good = pass_all(child.pipe, result, ::read);
    ::close(child.pipe);
    const int status = wait_for(child.process);
    return good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

void complain_in_child(const std::string& text) {
    const std::string line = text + "\n";
    (void)pass_all(STDERR_FILENO, std::as_bytes(std::span{line}), ::write);
}

std::expected<std::vector<std::byte>, std::string> run_forked(std::size_t runs, std::size_t result_bytes, std::size_t at_once, const ForkedRun& run) {
    std::vector<std::byte> results(runs * result_bytes);
    std::deque<Child> working;
    std::string failure;
    for (std::size_t next = 0; next < runs || !working.empty();) {
        if (next < runs && working.size() < std::max<std::size_t>(at_once, 1) && failure.empty()) {
            auto child = start(next, result_bytes, run);
            if (child)
                working.push_back(*child);
            else
                failure = child.error();
            ++next;
            continue;
        }
        if (working.empty()) break;
        // In order of starting: the pipe holds a result that is ready before its turn.
        const Child child = working.front();
        working.pop_front();
        if (!finish(child, std::span{results}.subspan(child.index * result_bytes, result_bytes)) && failure.empty())
            failure = fmt::format("run {} of {} failed", child.index + 1, runs);
    }
    if (!failure.empty()) return std::unexpected(failure);
    return results;
}

} // namespace flashlab

#include "tools/host/standard_streams.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace flashlab {

void open_missing_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF)
            (void)!::open("/dev/null", O_RDWR); // open() takes the lowest free descriptor: this stream
}

void tell(const std::string& text) { (void)!std::fwrite(text.data(), 1, text.size(), stderr); }

std::optional<std::string> finish_standard_output(int thrown) {
    int why = thrown;
    if (std::fflush(stdout) != 0 && why == 0) why = errno;
    // A network file system may say only at the close that a write failed; the descriptor itself stays.
    const int copy = ::dup(STDOUT_FILENO);
    if (copy >= 0 && ::close(copy) != 0 && why == 0) why = errno;
    if (why == 0 && std::ferror(stdout) == 0) return std::nullopt;
    return fmt::format("standard output: {}: what was printed is not complete; make room there, or name another place, and run it again",
                       why == 0 ? "it could not be written" : std::strerror(why));
}

} // namespace flashlab

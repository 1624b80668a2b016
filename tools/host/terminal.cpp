#include "tools/host/terminal.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace flashlab {

std::size_t terminal_columns() {
    winsize size{};
    if (::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) return size.ws_col;
    const char* const said = std::getenv("COLUMNS");
    if (said == nullptr) return 0;
    const std::string_view text{said};
    std::size_t columns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
    return error == std::errc{} && end == text.data() + text.size() && columns < 10'000 ? columns : 0;
}

} // namespace flashlab

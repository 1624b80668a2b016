#include "tools/cli/commands/known_terminal.h"

#define NCURSES_NOMACROS
#include <ncurses.h>
#include <term.h>
#include <unistd.h>

namespace flashlab {

bool is_known_terminal() {
    int error = 0;
    if (::setupterm(nullptr, STDERR_FILENO, &error) == ERR) return false;
    ::del_curterm(::set_curterm(nullptr));
    return true;
}

} // namespace flashlab

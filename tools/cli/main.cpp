#include "tools/cli/command_line.h"
#include "tools/host/file_size_limit.h"
#include "tools/host/standard_streams.h"

int main(int argc, char** argv) {
    flashlab::open_missing_streams();
    flashlab::let_writes_fail_at_the_size_limit();
    return flashlab::run_command_line(argc, argv);
}

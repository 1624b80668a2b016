#include "tools/cli/command_line.h"
#include "tools/host/standard_streams.h"

int main(int argc, char** argv) {
    flashlab::open_missing_streams();
    return flashlab::run_command_line(argc, argv);
}

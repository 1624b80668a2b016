#include "tools/command_line.h"

int main(int argc, char** argv) {
    return flashlab::run_command_line(argc, argv);
}

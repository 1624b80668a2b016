// The wish for processors that do not sleep, as Linux sees it: /dev/cpu_dma_latency reads back the shortest latency that anybody asks for.
#include "fs/fuse/awake_processors.h"

#include <cstdint>

#include <fcntl.h>
#include <unistd.h>

#include "tests/fuse/wakefulness.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

/// In microseconds. The reader's own wish is the default one, which is none.
std::int32_t shortest_asked_for() {
    const int file = open(wishes_for_wakefulness, O_RDONLY | O_CLOEXEC);
    std::int32_t latency = -1;
    if (file >= 0 && read(file, &latency, sizeof latency) != sizeof latency) latency = -1;
    if (file >= 0) close(file);
    return latency;
}

} // namespace

TEST_CASE("processors are kept awake from the first hold to the first letting go", "[fuse]") {
    if (shortest_asked_for() < 0) {
        WARN("not judged: needs root, and a host with /dev/cpu_dma_latency");
        return;
    }
    AwakeProcessors awake;
    CHECK(!awake.are_held());
    CHECK(wishes_of_this_process() == 0);
    awake.hold();
    awake.hold();
    CHECK(awake.are_held());
    CHECK(shortest_asked_for() == 0);
    CHECK(wishes_of_this_process() == 1);
    awake.let_go();
    awake.let_go();
    CHECK(!awake.are_held());
    CHECK(wishes_of_this_process() == 0);
    {
        AwakeProcessors other;
        other.hold();
        CHECK(wishes_of_this_process() == 1);
    }
    CHECK(wishes_of_this_process() == 0);
}

/// Ten million random operations a scheme, with payload: whatever was written last is what is read, through collections, merges, trims and
/// recoveries.
///
/// Minutes a scheme, so apart from the default run: ctest -L long -R ftl.ten_million, or one scheme with progress:
///   build/release/tests/ftl_tests "[ten-million]" -c fast
#include "tests/support/every_scheme.h"

using namespace flashlab;
using flashlab::test::CutRig;
using flashlab::test::on_every_scheme;
using flashlab::test::tiny_config;

namespace {

constexpr int interval_operations = 5000; // between two ways of losing the power

/// The power goes: in order, by a killed process, by a cut, or by a cut whose recovery is cut, too.
void restart(CutRig& rig, Random& random) {
    switch (random.below(4)) {
    case 0:
        rig.remount_clean();
        break;
    case 1:
        rig.kill();
        break;
    case 2:
        rig.cut(rig.random_moment(random, rig.now), random.next());
        break;
    default:
        rig.cut_twice(rig.random_moment(random, rig.now), random);
        break;
    }
}

void run_operations(CutRig& rig, Random& random, int intervals) {
    for (int interval = 0; interval < intervals; ++interval) {
        CAPTURE(interval);
        for (int i = 1; i <= interval_operations; ++i) {
            rig.step(random);
            rig.check_unit(static_cast<std::uint32_t>(random.below(rig.units())));
            if (i % 64 == 0) rig.settle();
            if (i % 1000 == 0) rig.require_sound();
        }
        rig.check_all();
        rig.settle();
        for (std::uint64_t k = random.below(12); k > 0; --k) rig.step(random); // what a cut may strike
        restart(rig, random);
    }
    rig.check_all();
}

} // namespace

TEST_CASE("random operations and power losses in turn keep every newest version", "[ftl][scheme]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        CutRig rig{config};
        Random random{21};
        run_operations(rig, random, 2);
    });
}

TEST_CASE("ten million random operations keep every newest version", "[.][long][ten-million]") {
    on_every_scheme(tiny_config(), [](const SsdConfig& config) {
        const std::uint64_t seed = 1;
        CAPTURE(seed);
        CutRig rig{config};
        Random random{seed};
        run_operations(rig, random, 10'000'000 / interval_operations);
    });
}

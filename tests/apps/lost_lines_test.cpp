// Goal: what a state tells to be lost is the state: made again from that list it is the same. Shrinking, replay lines and the words of a finding
// rest on it; where it does not hold a failing state would pass as unsteady.
// Method: drawn programs, all models, the states in the explorer's order.
#include <fmt/format.h>

#include "base/random.h"
#include "tests/apps/recorded_program.h"

using namespace flashlab;
using namespace flashlab::test;

TEST_CASE("a state is made again from what it tells to be lost", "[apps][persistence]") {
    const std::string model = GENERATE("ext4", "xfs", "btrfs", "posix");
    const Persistence persistence = *find_persistence(model);
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Random random{seed};
        RecordedProgram p;
        const auto old = p.create("old");
        p.append(old, std::string(10'000, 'o'));
        p.prepared();
        std::vector<std::uint64_t> files{old};
        for (int i = 0; i < 10; ++i) {
            const std::uint64_t file = files[random.below(files.size())];
            switch (random.below(8)) {
            case 0:
                files.push_back(p.create(fmt::format("f{}", i)));
                break;
            case 1:
                p.append(file, std::string(1 + random.below(9000), static_cast<char>('a' + i)));
                break;
            case 2:
            case 3:
                p.write(file, random.below(20'000), std::string(1 + random.below(9000), static_cast<char>('a' + i)));
                break;
            case 4:
                p.truncate(file, random.below(20'000));
                break;
            case 5:
                p.rename(fmt::format("f{}", random.below(10)), "old");
                break;
            case 6:
                p.extend(file, random.below(30'000));
                break;
            default:
                p.fdatasync(file);
            }
        }
        const Past past{p.history()};
        StateOrder order{past, persistence, seed};
        for (int i = 0; i < 400; ++i) {
            const LeftState state{past, persistence, order.next()};
            const LeftState again{past, persistence, CutState{state.cut(), state.lost()}};
            CAPTURE(model, seed, i, state.cut());
            REQUIRE(again.tree().id == state.tree().id);
        }
    }
}

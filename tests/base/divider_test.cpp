#include "base/divider.h"

#include "base/random.h"
#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("a divider divides as the processor does, at every edge and at random", "[base]") {
    const std::uint32_t edges[] = {1, 2, 3, 5, 7, 64, 255, 256, 257, 768, 65'535, 65'536, 65'537, 0x7fff'ffff, 0x8000'0000, 0xffff'fffe, 0xffff'ffff};
    const unsigned seed = 20'260;
    CAPTURE(seed);
    Random random{seed};
    for (const std::uint32_t d : edges) {
        const Divider by{d};
        for (const std::uint32_t k : edges) {
            for (const std::uint32_t n : {k - 1, k, k + 1, k * d - 1, k * d, k * d + 1, static_cast<std::uint32_t>(random.next())}) {
                if (by.divide(n) != n / d || by.remainder(n) != n % d) FAIL(n << " by " << d);
            }
        }
        CHECK(by.divide(0) == 0);
    }
    for (int i = 0; i < 200'000; ++i) {
        const auto d = static_cast<std::uint32_t>(random.next() >> (32 + random.next() % 32)) | 1u;
        const auto n = static_cast<std::uint32_t>(random.next());
        if (Divider{d}.divide(n) != n / d || Divider{d}.remainder(n) != n % d) FAIL(n << " by " << d);
    }
}

TEST_CASE("nothing is divided by zero", "[base]") { CHECK_THROWS_AS(Divider{0}, ContractViolation); }

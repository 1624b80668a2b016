// Goal: the evidence of pram.img tells a part that comes from an older copy, and none that only had a power cut or a kill.
// Method: random words, cut at random with every outcome; against what the image was before, and the reverse.
#include <csignal>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pram/image_pram_store.h"
#include "tests/pram/pram_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// Cells that cannot be written: the process ends at the first store to them.
class ReadOnlyCells final : public PramStore {
public:
    explicit ReadOnlyCells(std::uint64_t bytes)
        : bytes_{bytes}, cells_{static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))} {
        counted = wear_.data();
        std::signal(SIGSEGV, [](int) { ::_exit(counted[0] != 0 ? 0 : 1); });
    }
    ~ReadOnlyCells() override { ::munmap(cells_, bytes_); }
    std::span<std::byte> cells() override { return {cells_, bytes_}; }
    std::span<std::uint64_t> wear() override { return wear_; }

private:
    inline static const volatile std::uint64_t* counted = nullptr;
    std::uint64_t bytes_;
    std::byte* cells_;
    std::array<std::uint64_t, 2> wear_{};
};

} // namespace

TEST_CASE("a word is counted before it changes, so that a kill between the two makes no part look older", "[pram][evidence]") {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ReadOnlyCells store{128u << 10};
        NullEventSink sink;
        Pram pram{small_config(), store, sink, PramUndo::none};
        (void)pram.write(PramUser::ftl, PramAddress{0}, bytes_of({1, 2, 3, 4, 5, 6, 7, 8}), at_ns(0));
        ::_exit(2);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("no cut and no kill makes a part of the PRAM look older than when it was opened; going back does", "[pram][evidence]") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        INFO("seed " << seed);
        const TemporaryDirectory folder;
        const PramConfig config = small_config();
        REQUIRE(ImagePramStore::create(folder / "pram.img", config, {}).has_value());
        Random random{seed};
        for (int session = 0; session < 5; ++session) {
            auto store = ImagePramStore::open(folder / "pram.img");
            REQUIRE(store.has_value());
            const auto vouched = (*store)->survey();
            REQUIRE(vouched.size() == 2);
            RecordingSink sink;
            Pram pram{config, **store, sink, PramUndo::keep};
            SimTime now = at_ns(0);
            for (int step = 0; step < 20; ++step) {
                const auto bytes = random_bytes(random, 8 * (1 + random.below(40)));
                now = pram.write(PramUser::ftl, PramAddress{random.below((64u << 10) / 8) * 8}, bytes, now).end;
            }
            if (session % 2 == 0) {
                FixedOutcome outcome{static_cast<WordOutcome>(random.below(3)), random.next()};
                (void)pram.cut(at_ns(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(ns_since_start(now))))), outcome);
            }
            const auto after = (*store)->survey();
            CHECK(find_older_part(vouched, after, false) == 2);
            CHECK(find_older_part(after, vouched, false) == (after[0] == vouched[0] ? 2 : 0));
            CHECK(find_older_part(vouched, after, true) == (after[0] == vouched[0] ? 2 : 0));
        }
    }
}

TEST_CASE("a PRAM of any size has at most 120 parts, and two copies of their evidence fit the last page of the image", "[pram][evidence]") {
    for (const std::size_t regions : {1u, 2u, 119u, 120u, 121u, 240u, 1024u, 1025u, 16384u, 1'000'003u}) {
        CHECK(pram_parts(regions) <= most_pram_parts);
        CHECK(pram_parts(regions) * regions_in_pram_part(regions) >= regions);
    }
    const PramImageHeader header{.uuid = {}, .cell_bytes = 4096, .word_bytes = 8};
    CHECK(header.evidence_offset(true) + most_pram_parts * ImageEvidence::encoded_size <= header.file_bytes());
    CHECK(header.evidence_offset(false) + most_pram_parts * ImageEvidence::encoded_size <= header.evidence_offset(true));
}

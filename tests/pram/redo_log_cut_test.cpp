// Goal: after a cut at any word, with any outcome, recovery gives the state after some prefix of the transactions, and that prefix holds every
// transaction whose commit time had passed. Method: a model keeps the content after each transaction; the workload is run again for each cut, from a
// ring that has wrapped and is about to wrap again.
#include <algorithm>
#include <optional>

#include "pram/redo_log.h"
#include "tests/pram/pram_fixture.h"
#include "tests/pram/redo_log_fixture.h"
#include "tests/support/catch.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr std::size_t home_bytes = 512;

PramConfig tiny(std::uint32_t word) { return {.bytes = 12u << 10, .word_bytes = word, .word_read = Duration{100}, .word_write = Duration{500}}; }

using Content = std::vector<std::byte>;

Content content_of(const Pram& pram) {
    const auto view = pram.view(PramAddress{home}, home_bytes);
    return {view.begin(), view.end()};
}

PramTransaction some_transaction(Random& random, std::size_t largest) {
    PramTransaction transaction;
    for (std::uint64_t k = 1 + random.below(3); k != 0; --k) {
        const std::size_t size = 1 + random.below(largest);
        transaction.write(PramAddress{home + random.below(home_bytes - size)}, random_bytes(random, size));
    }
    return transaction;
}

struct Run {
    SimTime begin;                ///< recovery before it is over
    std::vector<Content> states;  ///< states[i]: after i transactions
    std::vector<SimTime> durable; ///< durable[i]: commit time of transaction i
};

struct Workload {
    std::uint64_t seed;
    int transactions;
    std::size_t largest; ///< write

    Run run(TestPram& t) const {
        RedoLog log{t.pram, PramUser::fs, ring};
        Random random{seed};
        Run result;
        result.begin = log.recover(sim_start).done;
        result.states.push_back(content_of(t.pram));
        for (int i = 0; i < transactions; ++i) {
            const auto done = log.commit(some_transaction(random, largest), sim_start);
            REQUIRE(done.has_value());
            result.durable.push_back(*done);
            result.states.push_back(content_of(t.pram));
        }
        return result;
    }
};

/// A store whose ring has been round a few times and whose next half is near.
void age(MemoryPramStore& store, std::uint32_t word, std::uint64_t seed) {
    NullEventSink sink;
    Pram pram{tiny(word), store, sink, PramUndo::none};
    RedoLog log{pram, PramUser::fs, ring};
    (void)log.recover(sim_start);
    Random random{seed};
    for (std::uint64_t i = 150 + random.below(50); i != 0; --i) REQUIRE(log.commit(some_transaction(random, 60), sim_start).has_value());
}

/// Which prefix the recovered content is; the newest where two are equal.
std::optional<std::size_t> prefix_of(const Run& run, const Content& content) {
    for (std::size_t i = run.states.size(); i != 0; --i) {
        if (run.states[i - 1] == content) return i - 1;
    }
    return std::nullopt;
}

std::size_t owed_at(const Run& run, SimTime cut) {
    return static_cast<std::size_t>(std::ranges::count_if(run.durable, [cut](SimTime durable) { return durable <= cut; }));
}

/// Cuts recovery itself at `second` of its duration (1/8ths), then recovers again; the content must not depend on it.
Content recover_through_cut(const PramConfig& config, const MemoryPramStore& store, std::uint64_t second, WordOutcome outcome) {
    TestPram first{config, store};
    RedoLog log{first.pram, PramUser::fs, ring};
    const LogRecovery recovery = log.recover(sim_start);
    FixedOutcome outcomes{outcome, second};
    (void)first.pram.cut(sim_time_from_ns(ns_since_start(recovery.done) * static_cast<std::int64_t>(second) / 8), outcomes);
    TestPram again{config, first.own};
    RedoLog log_again{again.pram, PramUser::fs, ring};
    (void)log_again.recover(sim_start);
    return content_of(again.pram);
}

void cut_and_check(const Workload& workload, const PramConfig& config, const MemoryPramStore& aged, SimTime cut, WordOutcome outcome) {
    CAPTURE(ns_since_start(cut), static_cast<int>(outcome), workload.seed);
    TestPram t{config, aged};
    const Run run = workload.run(t);
    FixedOutcome outcomes{outcome, static_cast<std::uint64_t>(ns_since_start(cut))};
    (void)t.pram.cut(cut, outcomes);

    TestPram after{config, t.own};
    RedoLog log{after.pram, PramUser::fs, ring};
    (void)log.recover(sim_start);
    const Content content = content_of(after.pram);
    const auto prefix = prefix_of(run, content);
    REQUIRE(prefix.has_value());
    REQUIRE(*prefix >= owed_at(run, cut));
    const auto eighth = static_cast<std::uint64_t>(ns_since_start(cut)) % 9;
    REQUIRE(recover_through_cut(config, t.own, eighth, outcome) == content);

    // Life goes on: a commit after recovery is found by the next one.
    PramTransaction next;
    next.write_u64(PramAddress{home + 8}, static_cast<std::uint64_t>(ns_since_start(cut)));
    REQUIRE(log.commit(next, sim_start).has_value());
    TestPram later{config, after.own};
    RedoLog later_log{later.pram, PramUser::fs, ring};
    REQUIRE_FALSE(later_log.recover(sim_start).torn_tail);
    REQUIRE(content_of(later.pram) == content_of(after.pram));
}

} // namespace

TEST_CASE("a cut at every word boundary and with every outcome leaves a prefix of the transactions", "[pram][log][cut]") {
    const std::uint32_t word = GENERATE(8u, 2u);
    const std::uint64_t seed = word;
    CAPTURE(word, seed);
    const PramConfig config = tiny(word);
    MemoryPramStore aged{config.bytes};
    age(aged, word, seed);
    const Workload workload{seed, word == 8 ? 4 : 3, word == 8 ? 60u : 12u};
    TestPram measure{config, aged};
    const std::int64_t begin = ns_since_start(workload.run(measure).begin);
    const std::int64_t end = ns_since_start(measure.pram.last_reserved_end());
    // Every time in the workload is a multiple of 100 ns; a word takes 500.
    for (std::int64_t cut = begin; cut <= end; cut += 250) {
        for (const auto outcome : {WordOutcome::old_value, WordOutcome::new_value, WordOutcome::mixed_bits}) {
            cut_and_check(workload, config, aged, sim_time_from_ns(cut), outcome);
        }
    }
}

TEST_CASE("cuts at random times, some while the ring wraps, leave a prefix of the transactions", "[pram][log][cut]") {
    const std::uint64_t seed = GENERATE(range<std::uint64_t>(10, 22));
    const std::uint32_t word = seed % 2 == 0 ? 8 : 4;
    CAPTURE(word, seed);
    const PramConfig config = tiny(word);
    MemoryPramStore aged{config.bytes};
    age(aged, word, seed);
    const Workload workload{seed, 30, 150};
    TestPram measure{config, aged};
    const SimTime begin = workload.run(measure).begin;
    const auto length = static_cast<std::uint64_t>((measure.pram.last_reserved_end() - begin).count());
    Random random{seed};
    for (int i = 0; i < 8; ++i) {
        const auto outcome = static_cast<WordOutcome>(random.below(3));
        cut_and_check(workload, config, aged, begin + Duration{static_cast<std::int64_t>(random.below(length))}, outcome);
    }
}

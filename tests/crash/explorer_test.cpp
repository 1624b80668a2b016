/// The explorer on every scheme: standard workloads with every outcome, drawn ones, and replay ids.
#include "crash/explorer.h"

#include <algorithm>

#include "crash/endurance.h"
#include "crash/tiny_devices.h"
#include "ftl/make_ftl.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

void require_none(const ExploreReport& report) {
    for (const Violation& v : report.violations) UNSCOPED_INFO(v.where.id() << "\n    " << v.what);
    CHECK(report.violations.empty());
}

std::unique_ptr<Explorer> explorer_for(const std::string& scheme, const std::string& device) {
    auto made = Explorer::make(scheme, device);
    if (made) return std::move(*made);
    // Said once for all cell types.
    if (device.ends_with("-slc")) WARN(scheme << " skipped on " << device << ": " << made.error());
    return nullptr;
}

} // namespace

TEST_CASE("every cut of the standard workloads, with every outcome, keeps the contract", "[crash][explore]") {
    const std::string scheme = GENERATE(from_range(all_schemes()));
    DYNAMIC_SECTION(scheme) {
        const auto explorer = explorer_for(scheme, "chip-slc");
        if (!explorer) return;
        ExploreReport report;
        ExploreLimits limits;
        limits.cuts = 1;
        for (const Workload& workload : standard_workloads(explorer->units())) explorer->exhaust(workload, limits, report);
        require_none(report);
        CHECK(report.states > 500);
        for (std::size_t outcome = 0; outcome < OutcomeCounts::first_word; ++outcome) {
            INFO(OutcomeCounts::names[outcome]);
            CHECK((report.outcomes.counts[outcome] > 0) == (OutcomeCounts::names[outcome] != "T6")); // one bit a cell: no pairs
        }
    }
}

TEST_CASE("cuts that damage paired pages, too, take nothing that was flushed", "[crash][explore][pairs]") {
    const std::string scheme = GENERATE(from_range(all_schemes()));
    const std::string device = GENERATE("chip-mlc", "chip-tlc");
    DYNAMIC_SECTION(scheme << " " << device) {
        const auto explorer = explorer_for(scheme, device);
        if (!explorer) return;
        ExploreReport report;
        ExploreLimits limits;
        limits.states = 20'000;
        explorer->exhaust(*Workload::parse("w0x5.f/w1.f.w2x2.t0.f.w0+1000.W3.f"), limits, report);
        require_none(report);
        for (const std::size_t outcome : {4u, 5u, 6u, 10u, 11u}) {
            if (scheme == "hftl" && outcome >= OutcomeCounts::first_erase) continue; // its PRAM words use the states up before the first erase
            INFO(OutcomeCounts::names[outcome]);
            CHECK(report.outcomes.counts[outcome] > 0);
        }
    }
}

TEST_CASE("every cut in the recovery from every cut of a short workload keeps the contract", "[crash][explore]") {
    const std::string scheme = GENERATE(from_range(all_schemes()));
    DYNAMIC_SECTION(scheme) {
        const auto explorer = explorer_for(scheme, "chip-slc");
        if (!explorer) return;
        ExploreReport report;
        ExploreLimits limits;
        limits.states = 60'000;
        explorer->exhaust(*Workload::parse("w0x3.f/w1.t2.w0+1000.f"), limits, report);
        require_none(report);
        CHECK(report.second_cuts > 0);
    }
}

TEST_CASE("drawn workloads, cuts and outcomes keep the contract on every tiny device", "[crash][explore]") {
    const std::string scheme = GENERATE(from_range(all_schemes()));
    DYNAMIC_SECTION(scheme) {
        Random random{20};
        for (const std::string& device : tiny_devices()) {
            CAPTURE(device);
            const auto explorer = explorer_for(scheme, device);
            if (!explorer) continue;
            ExploreReport report;
            for (int i = 0; i < 6; ++i) explorer->sample(Workload::random(random.next(), 24, explorer->units()), 40, random, {}, report);
            require_none(report);
        }
    }
}

TEST_CASE("cuts that once broke the contract keep it", "[crash][replay]") {
    const std::string id = GENERATE(
        as<std::string>{},
        // Two blocks given back in RAM while the record of the trims that freed them was under way, both free ones written on: none left.
        "page_map:chip-tlc:w0x16.r457791x23/w10.q1.i.w8x2+39055.t1x8.w9.p14:84994103-0:85994104-",
        // A flush that found nothing to do was answered while an earlier one still wiped the heads of pages in PRAM that it promised as well.
        "page_map:kept-slc:w5x2.W1x2.q4x2.f+17123.t18.f:5446894-0",
        // A page newer than the ceiling of sequences that PRAM keeps, in a slot that the first recovery closed before it raised the ceiling.
        "hftl:wide-slc:w0x128.r975773x165.f/i+144452.q11.w91.p31x4.w15x2+180290.f.w7x5+267452.f+294105.w29x2.w26x2.w21x2.W121x4.w28x2."
        "t14x2+243344.t1x6+153609.w59x2+335077.w8+127213.w0x3+194628.w102.f+148457.f.w9+380806.W14+397400.t21x7+187837:502710406-130:504635107-0");
    CAPTURE(id);
    const auto where = CrashCase::parse(id);
    REQUIRE(where.has_value());
    const auto explorer = explorer_for(where->scheme, where->device);
    REQUIRE(explorer);
    CHECK(explorer->replay(*where).value_or("") == "");
}

TEST_CASE("an exploration repeats to the last count", "[crash][explore]") {
    ExploreReport first, second;
    for (ExploreReport* report : {&first, &second}) {
        const auto explorer = explorer_for("hftl", "wide-mlc");
        Random random{5};
        explorer->sample(Workload::random(4, 20, explorer->units()), 200, random, {}, *report);
        explorer->exhaust(*Workload::parse("w0x2.f/w1"), {.cuts = 1, .go_on = {}}, *report);
    }
    CHECK(first.states == second.states);
    CHECK(first.outcomes.counts == second.outcomes.counts);
    CHECK(first.recovery.longest() == second.recovery.longest());
}

TEST_CASE("rewinding a run backwards and tearing a copy leaves what a cut leaves", "[crash][explore]") {
    const std::string name = GENERATE(from_range(tiny_devices()));
    auto config = tiny_device(name, "hftl");
    for (const char* other : {"coftl", "log_block", "page_map", "leaftl", "learnedftl", "sftl"}) // shapes of theirs
        if (!config) config = tiny_device(name, other);
    REQUIRE(config.has_value());
    const auto make = [&] { return std::move(*CrashDevice::make(*config, Payload::keep, UndoPolicy::keep)); };
    const auto run = [](CrashDevice& device) {
        SimTime now = device.power_on(sim_start)->done;
        const std::uint32_t sectors = device.plan().logical_page_bytes / sector_bytes;
        std::vector<std::byte> page(device.plan().logical_page_bytes);
        Random random{3};
        for (int i = 0; i < 90; ++i) {
            for (auto& b : page) b = static_cast<std::byte>(random.next());
            const Sector at{random.below(device.plan().logical_pages) * sectors};
            const auto done =
                random.chance(1, 6) ? device.ssd().trim(at, sectors, now) : device.ssd().write(at, sectors, page, WriteDurability::fua, now);
            REQUIRE(done.has_value());
            now = random.chance(1, 2) ? *done : now;
        }
    };
    OutcomeCounts counts;
    ScriptedOutcomes outcomes{counts};
    const auto rewound = make();
    const auto copy = make();
    run(*rewound);
    std::vector<SimTime> moments;
    rewound->append_moments(moments);
    std::ranges::sort(moments, std::greater{});
    for (std::size_t i = 0; i < moments.size(); i += 37) {
        const SimTime at = moments[i] + Duration{1};
        REQUIRE(rewound->rewind(at).has_value());
        copy->copy_stores(*rewound);
        Random draw{i};
        outcomes.begin(at, {}, &draw);
        REQUIRE(rewound->tear(at, outcomes, outcomes, *copy).has_value());
        const std::string script = outcomes.script();
        const auto plain = make();
        run(*plain);
        outcomes.begin(at, script, nullptr);
        REQUIRE(plain->cut(at, outcomes, outcomes).has_value());
        CAPTURE(name, i, script);
        CHECK(plain->fingerprint() == copy->fingerprint());
    }
}

TEST_CASE("a copy of the stores equals the original, whatever changed on either side since the last copy", "[crash][explore]") {
    const auto config = tiny_device("chip-slc", "hftl");
    const auto original = std::move(*CrashDevice::make(*config, Payload::keep, UndoPolicy::keep));
    const auto copy = std::move(*CrashDevice::make(*config, Payload::keep, UndoPolicy::keep));
    Random random{8};
    SimTime now = original->power_on(sim_start)->done;
    std::vector<std::byte> page(512);
    for (int i = 0; i < 300; ++i) {
        page[0] = static_cast<std::byte>(i);
        now = *original->ssd().write(Sector{random.below(original->plan().logical_pages)}, 1, page, WriteDurability::volatile_ok, now);
        if (!random.chance(1, 3)) continue;
        copy->copy_stores(*original);
        CHECK(copy->fingerprint() == original->fingerprint());
        if (random.chance(1, 2)) continue;
        const SimTime on = copy->power_on(now)->done;
        REQUIRE(copy->ssd().write(Sector{0}, 1, page, WriteDurability::volatile_ok, on).has_value());
        copy->power_off();
        CHECK(copy->fingerprint() != original->fingerprint());
    }
}

TEST_CASE("hundreds of cuts in a row on one image leak nothing", "[crash][endure]") {
    const std::string scheme = GENERATE(from_range(all_schemes()));
    DYNAMIC_SECTION(scheme) {
        for (const std::string& device : {std::string{"chip-slc"}, std::string{"wide-tlc"}}) {
            const auto endured = endure_cuts(scheme, device, 2000, 1);
            if (!endured) FAIL(device << ": " << endured.error());
            CHECK(endured->cuts == 2000);
            CHECK(endured->fills == 4);
            CHECK_FALSE(endured->leaks());
        }
    }
}

TEST_CASE("a leak is what is missing in every late fill, not in one", "[crash][endure]") {
    EnduranceReport report{.fills = 9, .first_free_blocks = 9, .last_free_blocks = {2, 6, 3}};
    CHECK_FALSE(report.leaks());
    report.last_free_blocks = {2, 5, 3};
    CHECK(report.leaks());
}

TEST_CASE("a hundred thousand cuts in a row on one image leak nothing", "[.][long]") {
    for (const std::string& scheme : all_schemes()) {
        const auto endured = endure_cuts(scheme, "chip-slc", 100'000, 1);
        if (!endured) FAIL(scheme << ": " << endured.error());
        CHECK_FALSE(endured->leaks());
    }
}

TEST_CASE("every cut of the standard workloads and of all their recoveries, and 100,000 drawn states, keep the contract", "[.][long]") {
    const std::string scheme = GENERATE(from_range(all_schemes()));
    DYNAMIC_SECTION(scheme) {
        const auto explorer = explorer_for(scheme, "chip-slc");
        if (!explorer) return;
        ExploreReport report;
        for (const Workload& workload : standard_workloads(explorer->units())) explorer->exhaust(workload, {}, report);
        WARN(scheme << ": " << report.states << " states, " << report.second_cuts << " of them cuts of recovery");
        require_none(report);
        Random random{1};
        for (const std::string& device : tiny_devices()) {
            CAPTURE(device);
            const auto drawing = explorer_for(scheme, device);
            for (ExploreReport drawn; drawing && drawn.states < 6000 && drawn.violations.empty();) {
                drawing->sample(Workload::random(random.next(), 24, drawing->units()), 200, random, {}, drawn);
                require_none(drawn);
            }
        }
    }
}

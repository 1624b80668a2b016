#include "tools/grade/grade_checks.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "crash/default_exploration.h"
#include "crash/endurance.h"
#include "crash/shrink.h"
#include "crash/tiny_devices.h"
#include "tools/grade/grade_rig.h"
#include "tools/grade/isolated.h"

namespace flashlab {

namespace {

using Found = std::optional<GradeFound>;
constexpr std::uint64_t cuts_in_a_row = 1'500;
constexpr std::uint64_t states_to_shrink = 200'000;

Found found_of(const std::optional<std::string>& wrong) { return wrong ? Found{GradeFound{*wrong}} : std::nullopt; }

/// The body on each tiny device that the scheme accepts, until one is wrong. chip-slc has to be among them.
Found on_tiny_devices(const GradeSubject& subject, const std::function<std::optional<std::string>(const SsdConfig&)>& body) {
    for (const std::string& name : tiny_devices()) {
        const auto config = tiny_device(name, subject.scheme);
        if (!config && name == "chip-slc") return GradeFound{fmt::format("refuses the drive chip-slc: {}", config.error())};
        if (!config) continue;
        if (auto wrong = body(*config)) return GradeFound{fmt::format("on {}: {}", name, *wrong)};
    }
    return std::nullopt;
}

/// The workloads without any cut, on each tiny device: every answer, check() and every page, as the explorer asks them.
Found runs(const GradeSubject& subject, const std::function<std::vector<std::string>(std::uint32_t units)>& workloads) {
    for (const std::string& name : tiny_devices()) {
        const auto explorer = Explorer::make(subject.scheme, name);
        if (!explorer && name == "chip-slc") return GradeFound{fmt::format("refuses the drive chip-slc: {}", explorer.error())};
        if (!explorer) continue;
        for (const std::string& text : workloads((*explorer)->units())) {
            CrashCase run{.scheme = subject.scheme, .device = name, .workload = Workload::parse(text).value(), .cuts = {}};
            if (auto wrong = (*explorer)->replay(run)) return GradeFound{fmt::format("on {}: {}", name, *wrong), run.id()};
        }
    }
    return std::nullopt;
}

bool same_plan(const FtlPlan& a, const FtlPlan& b) {
    return a.groups == b.groups && a.spare_blocks == b.spare_blocks && a.meta_blocks == b.meta_blocks && a.logical_pages == b.logical_pages &&
           a.logical_page_bytes == b.logical_page_bytes && a.pram_bytes == b.pram_bytes && a.warnings == b.warnings &&
           a.effective_spare_blocks == b.effective_spare_blocks && a.expected_waf == b.expected_waf && a.closed_form_waf == b.closed_form_waf &&
           a.is_paced == b.is_paced && a.pram_buffer_bytes == b.pram_buffer_bytes;
}

/// Numbers that mkfs prints, beside each other and the flash.
std::optional<std::string> impossible(const FtlPlan& plan, std::uint32_t blocks) {
    if (plan.spare_blocks == 0 || plan.spare_blocks > blocks) return fmt::format("plan() has {} spare blocks of {}", plan.spare_blocks, blocks);
    if (plan.effective_spare_blocks > plan.spare_blocks)
        return fmt::format("plan() has {} effective spare blocks, of {} spare ones", plan.effective_spare_blocks, plan.spare_blocks);
    for (const double waf : {plan.expected_waf, plan.closed_form_waf})
        if (waf != 0 && !(waf >= 1)) return fmt::format("plan() expects a write amplification of {}; 0 says that there is no closed form", waf);
    return std::nullopt;
}

Found plans(const GradeSubject& subject) {
    return on_tiny_devices(subject, [](const SsdConfig& config) -> std::optional<std::string> {
        const Geometry geometry = *Geometry::make(config.nand.geometry);
        const auto plan = plan_ftl(config, geometry), again = plan_ftl(config, geometry);
        if (!plan || !again || !same_plan(*plan, *again)) return "plan() answers the same question in two ways";
        const std::uint64_t bytes = std::uint64_t{plan->logical_pages} * plan->logical_page_bytes;
        if (bytes == 0 || plan->logical_page_bytes % sector_bytes != 0) return "plan() promises no pages, or pages that are not whole sectors";
        const std::uint64_t physical = std::uint64_t{geometry.blocks()} * geometry.pages_per_block() * config.nand.geometry.page_bytes;
        if (bytes >= physical) return fmt::format("plan() promises {} bytes on a flash of {}", bytes, physical);
        return impossible(*plan, geometry.blocks());
    });
}

Found starts_empty(const GradeSubject& subject) {
    return on_tiny_devices(subject, [](const SsdConfig& config) {
        GradeRig rig{config};
        rig.compare();
        return rig.wrong();
    });
}

Found takes_requests(const GradeSubject& subject) {
    return runs(subject, [&](std::uint32_t units) {
        std::vector<std::string> all;
        for (std::uint64_t i = 0; i < 3; ++i) {
            Workload drawn = Workload::random(subject.seed + i, 150, units);
            std::erase_if(drawn.steps, [](const WorkloadStep& step) { return step.kind == WorkloadStep::Kind::shut_down; });
            all.push_back(drawn.text());
        }
        return all;
    });
}

/// check() after every single request, not only at the end.
Found stays_sound(const GradeSubject& subject) {
    return on_tiny_devices(subject, [&](const SsdConfig& config) {
        GradeRig rig{config};
        Random random{subject.seed};
        for (int i = 0; i < 300 && !rig.wrong(); ++i) {
            rig.step(random);
            rig.look();
        }
        rig.compare();
        return rig.wrong();
    });
}

/// What reports are made of: space(), status_of(), counters(), is_mapped().
Found tells_the_truth(const GradeSubject& subject) {
    return on_tiny_devices(subject, [&](const SsdConfig& config) {
        GradeRig rig{config};
        Random random{subject.seed};
        for (int i = 0; i < 400 && !rig.wrong(); ++i) {
            rig.step(random);
            if (i % 100 == 49) rig.kill();
            if (i % 100 == 99) {
                rig.restart_cleanly();
                rig.compare(); // what is mapped is known for certain once it was read
            }
            rig.audit();
        }
        for (int i = 0; i < 1'500 && !rig.wrong(); ++i) { // long enough for collections of all blocks
            rig.step(random);
            if (i % 10 == 0) rig.audit();
        }
        return rig.wrong();
    });
}

Found takes_overwrites(const GradeSubject& subject) {
    return runs(subject, [](std::uint32_t units) {
        return std::vector{fmt::format("w0x{0}/r1x{1}.g0x{0}", units, 10 * units), fmt::format("w0x{0}.w0x{0}.w0x{0}/w0x{0}.g0x{0}", units),
                           fmt::format("w0x{0}/r5x{1}+1000.f.g0x{0}", units, 4 * units)};
    });
}

Found trims(const GradeSubject& subject) {
    return runs(subject, [](std::uint32_t units) {
        return std::vector{fmt::format("w0x{0}/t0x{0}.g0x{0}.w0x{0}.g0x{0}", units), fmt::format("w0x{0}.t1x2.f/r3x{0}.t0x5.f.g0x{0}", units)};
    });
}

Found shuts_down(const GradeSubject& subject) {
    return on_tiny_devices(subject, [&](const SsdConfig& config) {
        GradeRig rig{config};
        Random random{subject.seed};
        for (int i = 0; i < 6 && !rig.wrong(); ++i) {
            for (int k = 0; k < 25; ++k) rig.step(random);
            rig.restart_cleanly();
            rig.compare();
        }
        return rig.wrong();
    });
}

Found survives_a_kill(const GradeSubject& subject) {
    return on_tiny_devices(subject, [&](const SsdConfig& config) {
        GradeRig rig{config};
        Random random{subject.seed};
        for (int i = 0; i < 8 && !rig.wrong(); ++i) {
            for (std::uint64_t k = random.below(50); k > 0; --k) rig.step(random);
            rig.kill();
        }
        return rig.wrong();
    });
}

Found relocates(const GradeSubject& subject) {
    return on_tiny_devices(subject, [&](const SsdConfig& config) {
        GradeRig rig{config};
        rig.write(0, std::max(1u, rig.units() / 2));
        for (std::uint32_t b = 0; !rig.wrong() && b < rig.device().array().geometry().blocks(); ++b) {
            rig.relocate(BlockId{b});
            if (b % 5 == 0) rig.compare();
        }
        rig.compare();
        return rig.wrong();
    });
}

/// What is remembered outside of the object, in a variable that all drives share, is seen here at the latest.
Found keeps_drives_apart(const GradeSubject& subject) {
    return on_tiny_devices(subject, [&](const SsdConfig& config) {
        GradeRig one{config}, other{config};
        Random first{subject.seed}, second{subject.seed + 1};
        for (int i = 0; i < 60 && !one.wrong() && !other.wrong(); ++i) {
            one.step(first);
            other.step(second);
            if (i % 20 == 19) other.kill();
        }
        one.kill();
        one.compare();
        other.compare();
        return one.wrong() ? one.wrong() : other.wrong();
    });
}

/// Twice here, and once in a process of its own, which has another number.
Found repeats_itself(const GradeSubject& subject) {
    constexpr IsolationLimits limits{};
    return on_tiny_devices(subject, [&](const SsdConfig& config) -> std::optional<std::string> {
        const auto run = [&]() -> std::string {
            GradeRig rig{config};
            Random random{subject.seed};
            for (int i = 0; i < 150; ++i) {
                rig.step(random);
                rig.read_any(random);
            }
            return rig.wrong() ? *rig.wrong() : fmt::format("{} {}", rig.device().fingerprint(), ns_since_start(rig.now()));
        };
        const std::string first = run();
        if (first.find_first_not_of("0123456789 ") != std::string::npos) return first;
        const auto cells_of = [](const std::string& said) { return said.substr(0, said.find(' ')); };
        const auto differs = [&](const std::string& said, std::string_view when) -> std::optional<std::string> {
            if (said == first) return std::nullopt;
            return fmt::format("the same requests {} {}", cells_of(said) != cells_of(first) ? "leave other bytes" : "take another simulated time",
                               when);
        };
        if (const auto other = differs(run(), "the second time")) return other;
        const auto elsewhere = isolated(run, limits);
        return elsewhere ? differs(*elsewhere, "in another process") : std::optional{elsewhere.error()};
    });
}

/// A large buffer hands over lists as long as the layer asks for, which no tiny drive has room for.
Found takes_long_lists(const GradeSubject& subject) {
    auto config = tiny_device("chip-slc", subject.scheme);
    if (!config) return GradeFound{fmt::format("refuses the drive chip-slc: {}", config.error())};
    GeometryConfig& geometry = config->nand.geometry;
    geometry.blocks_per_plane = std::max(64u, geometry.blocks_per_plane);
    geometry.pages_per_block = 16;
    config->dram.write_buffer_bytes = std::uint64_t{192} * geometry.page_bytes;
    GradeRig rig{*config};
    for (Random random{subject.seed}; const std::uint32_t count : {rig.units(), 1u, 150u, 400u, 150u}) {
        for (std::uint32_t i = 0; i < count && !rig.wrong(); ++i)
            rig.write(count == rig.units() ? i : static_cast<std::uint32_t>(random.below(rig.units())), 1);
        rig.flush();
        rig.compare();
        rig.kill();
    }
    return found_of(rig.wrong());
}

/// Pages that were flushed lie on flash: as many programs as pages, where no write buffer merges them.
Found writes_to_flash(const GradeSubject& subject) {
    const auto config = tiny_device("chip-slc", subject.scheme);
    if (!config) return GradeFound{fmt::format("refuses the drive chip-slc: {}", config.error())};
    GradeRig rig{*config};
    for (std::uint32_t unit = 0; unit < rig.units(); ++unit) rig.write(unit, 1);
    rig.flush();
    if (rig.wrong()) return found_of(rig.wrong());
    const auto& programs = rig.device().array().counters().programs;
    const auto programmed = std::accumulate(std::begin(programs), std::end(programs), std::uint64_t{0});
    if (programmed < rig.units()) return GradeFound{fmt::format("{} pages were written and flushed with {} programs", rig.units(), programmed)};
    return std::nullopt;
}

/// Some programs and erases fail; of the blocks with the scheme's own records one at most, which is what their ring has to spare.
class DrawnFaults final : public NandFaults {
public:
    static constexpr int most = 6;
    DrawnFaults(GradeRig& rig, std::uint64_t seed) : rig_{rig}, random_{seed} { rig.device().set_faults(this); }
    ~DrawnFaults() override { rig_.device().set_faults(nullptr); }
    bool program_fails(Ppn page) override { return fails(rig_.device().geometry().block_of(page)); }
    bool erase_fails(BlockId block) override { return fails(block); }

private:
    bool fails(BlockId block) {
        if (left_ == 0 || !random_.chance(1, 40)) return false;
        if (rig_.device().ftl().status_of(block).use == BlockUse::other && records_failed_++ != 0) return false;
        --left_;
        return true;
    }
    GradeRig& rig_;
    Random random_;
    int left_ = most;
    int records_failed_ = 0;
};

Found survives_failing_blocks(const GradeSubject& subject) {
    auto config = tiny_device("chip-slc", subject.scheme);
    if (!config) return GradeFound{fmt::format("refuses the drive chip-slc: {}", config.error())};
    config->nand.geometry.blocks_per_plane = std::max(24u, config->nand.geometry.blocks_per_plane * 2);
    config->nand.geometry.pages_per_block = 8;
    config->ftl.reserved_permille = 400;
    for (std::uint64_t seed = subject.seed; seed < subject.seed + 4; ++seed) {
        GradeRig rig{*config};
        if (rig.wrong()) return found_of(rig.wrong());
        {
            const DrawnFaults faults{rig, seed};
            Random random{seed};
            for (int i = 0; i < 400 && !rig.wrong(); ++i) {
                rig.step(random);
                rig.look();
                rig.audit(DrawnFaults::most);
            }
            rig.compare();
        }
        rig.restart_cleanly();
        rig.compare();
        rig.audit();
        if (rig.wrong()) return GradeFound{fmt::format("while programs and erases fail: {}", *rig.wrong())};
    }
    return std::nullopt;
}

Found survives_power_cuts(const GradeSubject& subject) {
    ExploreReport report;
    const ExploreLimits limits{.cuts = 2, .states = subject.states, .violations = 1, .go_on = {}};
    const auto devices = explore_by_default(subject.scheme, subject.seed, {.exhausted = subject.states / 2, .drawn = subject.states}, limits, report);
    if (!devices) return GradeFound{devices.error()};
    if (report.violations.empty()) return std::nullopt;
    Violation first = report.violations.front();
    if (auto explorer = Explorer::make(subject.scheme, first.where.device)) first = shrink(**explorer, first, states_to_shrink);
    return GradeFound{first.what, first.where.id()};
}

Found leaks_nothing(const GradeSubject& subject) {
    for (const char* device : {"chip-slc", "wide-mlc"}) {
        if (!tiny_device(device, subject.scheme)) continue;
        const auto endured = endure_cuts(subject.scheme, device, cuts_in_a_row, subject.seed);
        if (!endured) return GradeFound{fmt::format("on {}, after cuts in a row: {}", device, endured.error())};
        if (endured->leaks())
            return GradeFound{fmt::format("on {}: {} cuts leave a full drive with {} free blocks where it had {}", device, endured->cuts,
                                          endured->least_free_blocks, endured->first_free_blocks)};
    }
    return std::nullopt;
}

} // namespace

std::span<const GradeCheck> grade_checks() {
    static constexpr std::array checks{
        GradeCheck{"plan", "plan() is pure, and promises less than the flash holds", plans},
        GradeCheck{"new", "a new drive reads zeros", starts_empty},
        GradeCheck{"requests", "reads show the newest version, after any writes, parts of pages, trims and flushes", takes_requests},
        GradeCheck{"sound", "check() finds nothing after any single request", stays_sound},
        GradeCheck{"truth", "space(), status_of(), is_mapped() and counters say what is so", tells_the_truth},
        GradeCheck{"overwrites", "a full drive takes ten fills of overwrites", takes_overwrites},
        GradeCheck{"trims", "trimmed pages read zeros", trims},
        GradeCheck{"shutdown", "a clean shutdown keeps everything, and is remembered", shuts_down},
        GradeCheck{"kill", "the death of the process loses nothing that was promised", survives_a_kill},
        GradeCheck{"relocation", "relocate() keeps every page", relocates},
        GradeCheck{"apart", "two drives do not know of each other", keeps_drives_apart},
        GradeCheck{"lists", "long lists of pages out of a large write buffer lose nothing", takes_long_lists},
        GradeCheck{"same", "the same requests give the same bytes and times", repeats_itself},
        GradeCheck{"flash", "what is flushed was programmed", writes_to_flash},
        GradeCheck{"failures", "failing programs and erases lose nothing", survives_failing_blocks},
        GradeCheck{"cuts", "a power cut at any instant keeps C1 to C9", survives_power_cuts},
        GradeCheck{"leaks", "power cuts in a row leak no block", leaks_nothing},
    };
    return checks;
}

} // namespace flashlab

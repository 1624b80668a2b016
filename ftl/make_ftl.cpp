#include "ftl/make_ftl.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ftl/admit_scheme.h"
#include "ftl/blocks/separation_policies.h"
#include "ftl/blocks/victim_policies.h"
#include "ftl/cache/pram_slots.h"
#include "ftl/host/arbiter.h"
#include "nand/factory_bad_blocks.h"
#include "nand/pair_backup.h"
#include "nand/seen_blocks.h"

namespace flashlab {

#define SCHEME(name) const Scheme& name##_scheme();
#include "ftl/schemes.def"
#undef SCHEME

std::uint32_t factory_bad_blocks(const NandConfig& nand, std::uint32_t blocks) {
    std::uint32_t bad = 0;
    // Of a striped array, or one with parity: the members of a block are several blocks of the chips, and one bad member is enough.
    if (nand.rain == 0 && nand.striping == 1 && backup_blocks_per_die(nand) == 0) { // nothing but the draws: millions on a large drive
        for (const BlockId block : ids<BlockId>(blocks)) bad += is_bad_from_factory(block, nand.seed, nand.factory_bad_per_million) ? 1 : 0;
        return bad;
    }
    const SeenBlocks seen{nand};
    for (const BlockId block : ids<BlockId>(blocks)) bad += seen.is_set_aside(block) ? 1 : 0;
    return bad;
}

std::span<const Scheme* const> schemes() {
    // clang-format off
    static const std::vector<const Scheme*> all{
#define SCHEME(name) &name##_scheme(),
#include "ftl/schemes.def"
#undef SCHEME
    };
    // clang-format on
    return all;
}

std::vector<std::string> all_schemes() {
    std::vector<std::string> names;
    for (const Scheme* scheme : schemes()) names.emplace_back(scheme->name);
    return names;
}

std::expected<const Scheme*, std::string> find_scheme(std::string_view name) {
    for (const Scheme* scheme : every_scheme())
        if (scheme->name == name) return scheme;
    return std::unexpected(fmt::format("unknown ftl.scheme '{}'; there are: {}", name, fmt::join(all_schemes(), ", ")));
}

std::vector<const Scheme*> every_scheme() {
    std::vector<const Scheme*> all{schemes().begin(), schemes().end()};
    all.insert(all.end(), admitted_schemes().begin(), admitted_schemes().end());
    return all;
}

std::vector<const Option*> declared_options() {
    std::vector<const Option*> all;
    const auto add = [&](OptionList list) {
        for (const Option* option : list)
            if (std::ranges::find(all, option->key, &Option::key) == all.end()) all.push_back(option);
    };
    for (const Scheme* scheme : schemes()) add(scheme->options);
    for (const VictimPolicyEntry& policy : victim_policies()) add(policy.options);
    for (const SeparationPolicyEntry& policy : separation_policies()) add(policy.options);
    for (const ArbiterEntry& arbiter : arbiters()) add(arbiter.options);
    for (const Scheme* scheme : admitted_schemes()) add(scheme->options);
    return all;
}

CounterValues own_counters(const Ftl& ftl) {
    CounterValues values;
    if (const auto scheme = find_scheme(ftl.name()))
        for (const Counter& counter : (*scheme)->counters) // of what nobody asks for by name, from its first count on
            if (const std::uint64_t value = counter.read(ftl.undecorated()); value != 0 || counter.has_own_place)
                values.emplace_back(&counter, value);
    return values;
}

namespace {

std::expected<void, std::string> check_arbiter(const HostLinkConfig& link) {
    if (find_named(arbiters(), link.arbiter) == nullptr)
        return std::unexpected(fmt::format("unknown host_link.arbiter '{}'; there are: {}", link.arbiter, fmt::join(names_of(arbiters()), ", ")));
    if (link.slots == 0 && link.arbiter != arbiters().front().name)
        return std::unexpected(fmt::format("host_link.arbiter is {}: with host_link.slots = 0 no command waits, and nothing is left to choose; set "
                                           "host_link.slots to the commands that the drive works on at once",
                                           link.arbiter));
    return {};
}

/// Pairs, whole word lines, page types and modes: what excludes what.
std::expected<void, std::string> check_programs(const NandConfig& nand) {
    const Media media{nand};
    for (const CellType mode : {CellType::slc, CellType::mlc, CellType::tlc})
        if (media.has(mode) && media.of(mode).pages == 0)
            return std::unexpected(
                fmt::format("nand.pages_per_block is {}: such a block holds no page in a mode of fewer bits (nand.slc_*, nand.mlc_*, "
                            "nand.tlc_*); set it higher",
                            nand.geometry.pages_per_block));
    if (!media.is_single() && nand.options.paired_pages)
        return std::unexpected("nand.paired_pages = 1 and a mode of fewer bits: pairs are those of the cells' own mode; give one of the two up");
    if (!nand.options.one_shot) return {};
    if (nand.options.paired_pages)
        return std::unexpected(
            "nand.one_shot and nand.paired_pages = 1: a word line that is programmed at once has no pairs; set one of the two to 0");
    if (nand.timing.lsb_program + nand.timing.csb_program + nand.timing.msb_program != Duration{0})
        return std::unexpected("nand.one_shot = 1: a word line has one time, nand.page_program_ns; set nand.lsb_program_ns and its sisters to 0");
    return {};
}

/// A page of the chip that holds several pages.
std::expected<void, std::string> check_subpages(const SsdConfig& config, const Scheme& scheme) {
    const NandConfig& nand = config.nand;
    const std::uint32_t subpages = nand.options.subpages;
    if (subpages == 1) return {};
    const auto refused = [&](std::string_view why) { return std::unexpected(fmt::format("nand.subpages is {}: {}", subpages, why)); };
    if (!scheme.has_key("nand.subpages"))
        return refused(fmt::format("{} programs page by page; set it to 1, or ftl.scheme to page_map or hftl", scheme.name));
    if (nand.geometry.pages_per_block % subpages != 0)
        return refused(fmt::format("nand.pages_per_block counts subpages and is no multiple of it ({}); set one", nand.geometry.pages_per_block));
    if (config.ftl.mapping_unit_pages != 1) return refused("what is mapped is a subpage; set ftl.mapping_unit_pages to 1");
    if (nand.striping != 1) return refused("superpages have no subpages; set nand.striping to 1");
    if (nand.options.paired_pages) return refused("pages in pairs are guarded one by one; set nand.paired_pages to 0");
    return {};
}

/// Dies that share parity.
std::expected<void, std::string> check_rain(const SsdConfig& config, const Scheme& scheme) {
    const NandConfig& nand = config.nand;
    if (nand.rain == 0) return {};
    const auto refused = [&](std::string_view why) { return std::unexpected(fmt::format("nand.rain is {}: {}", nand.rain, why)); };
    if (!scheme.has_key("nand.rain"))
        return refused(fmt::format("{} leaves pages of its blocks out, whose rows would have no parity; set it to 0, or ftl.scheme to one that maps "
                                   "pages",
                                   scheme.name));
    if (nand.striping != 1) return refused("a superpage lies on several dies already; set nand.striping to 1");
    if (nand.options.paired_pages) return refused("pages in pairs are guarded one by one; set nand.paired_pages to 0");
    if (!Media{nand}.is_single()) return refused("rows have as many pages in all blocks; set nand.slc_page_program_ns and its sisters to 0");
    if (nand.pages_a_program() > line_of_rows(nand))
        return refused(fmt::format("a row has whole word lines, and nand.pages_per_block ({}) is no multiple of their {} pages; set it, or "
                                   "nand.one_shot to 0",
                                   nand.geometry.pages_per_block, nand.pages_a_program()));
    return {};
}

std::expected<void, std::string> check_errors(const SsdConfig& config) {
    const bool scrubs = config.ftl.scrub_retries != 0 || config.ftl.scrub_days != 0;
    if (!scrubs) return {};
    if (!config.nand.errors.are_on())
        return std::unexpected(
            "ftl.scrub_retries and ftl.scrub_days: without bit errors there is nothing to scrub; set nand.cell_errors, or both to 0");
    if (config.nand.striping != 1)
        return std::unexpected("ftl.scrub_retries and ftl.scrub_days: blocks are scrubbed one by one; set nand.striping to 1, or both to 0");
    return {};
}

/// Without what lies beside the scheme.
std::expected<FtlPlan, std::string> plan_scheme(const SsdConfig& config, const Geometry& geometry) {
    const auto scheme = find_scheme(config.ftl.scheme);
    if (!scheme) return std::unexpected(scheme.error());
    if (config.nand.options.paired_pages && config.nand.striping != 1)
        return std::unexpected("nand.paired_pages = 1: pages are guarded on plain chips only; set nand.striping to 1");
    if (auto able = check_programs(config.nand); !able) return std::unexpected(able.error());
    if (auto able = check_errors(config); !able) return std::unexpected(able.error());
    if (auto able = check_subpages(config, **scheme); !able) return std::unexpected(able.error());
    if (auto able = check_rain(config, **scheme); !able) return std::unexpected(able.error());
    if (config.ftl.separation != "none" && !(*scheme)->separates) {
        std::vector<std::string_view> able;
        for (const Scheme* other : schemes())
            if (other->separates) able.push_back(other->name);
        return std::unexpected(
            fmt::format("ftl.separation is {}: {} writes where its map says and has nothing to separate; {} have. Set ftl.separation to none",
                        config.ftl.separation, config.ftl.scheme, fmt::join(able, ", ")));
    }
    if (const std::uint32_t stripe = config.nand.stripe_bytes; stripe != 0 && geometry.page_bytes() % stripe != 0)
        return std::unexpected(fmt::format("nand.stripe_bytes is {}: stripes fill a page of {} bytes; set a divisor of it, or 0 for whole pages",
                                           stripe, geometry.page_bytes()));
    if (auto known = check_arbiter(config.host_link); !known) return std::unexpected(known.error());
    const auto seen = config.nand.rain == 0 ? geometry.striped(config.nand.striping) : geometry.with_parity(config.nand.rain);
    if (!seen) return std::unexpected(seen.error());
    return (*scheme)->plan(config, *seen);
}

} // namespace

std::expected<FtlPlan, std::string> plan_ftl(const SsdConfig& config, const Geometry& geometry) {
    auto plan = plan_scheme(config, geometry);
    if (!plan || config.dram.pram_buffer_bytes == 0) return plan;
    if (config.nand.options.paired_pages)
        return std::unexpected(
            "pram.write_buffer_bytes and nand.paired_pages = 1: a page that leaves PRAM would be durable on flash before its pair is "
            "guarded; set one of the two to 0");
    constexpr std::uint64_t unit = 4096;
    const std::uint32_t pages = PramSlots::pages_in(config.dram.pram_buffer_bytes, plan->logical_page_bytes, plan->logical_pages);
    plan->pram_buffer_bytes = PramSlots::bytes_for(pages, plan->logical_page_bytes);
    plan->pram_bytes = (plan->pram_bytes + unit - 1) / unit * unit + plan->pram_buffer_bytes;
    return plan;
}

std::expected<std::unique_ptr<Ftl>, std::string> make_ftl(const SsdConfig& config, NandArray& array, Pram* pram, PramRange pram_range,
                                                          EventSink& events) {
    const auto scheme = find_scheme(config.ftl.scheme);
    if (!scheme) return std::unexpected(scheme.error());
    if (auto able = check_rain(config, **scheme); !able) return std::unexpected(able.error()); // nand.one_shot is a key of the mount
    const auto plan = (*scheme)->plan(config, array.geometry());
    if (!plan) return std::unexpected(plan.error());
    auto made = (*scheme)->make({config, *plan, array, pram, pram_range, events});
    if (made && *made == nullptr) return std::unexpected(fmt::format("scheme '{}': make() has made nothing", (*scheme)->name));
    return made;
}

WriteMemory write_memory_of(const SsdConfig& config, const NandArray& array, const Ftl& ftl) {
    const auto scheme = find_scheme(config.ftl.scheme);
    if (!scheme || (*scheme)->write_memory == nullptr) return {};
    const auto plan = (*scheme)->plan(config, array.geometry());
    return plan ? (*scheme)->write_memory(config, *plan, array.geometry(), ftl) : WriteMemory{};
}

} // namespace flashlab

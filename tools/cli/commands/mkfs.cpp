/// flashlab mkfs: makes a drive on disk.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "ftl/make_ftl.h"
#include "tools/cli/command_options.h"
#include "tools/cli/progress.h"
#include "tools/drive/config_file.h"
#include "tools/drive/device_directory.h"
#include "tools/drive/device_plan.h"
#include "tools/drive/device_presets.h"
#include "tools/host/complaint.h"
#include "tools/host/host_memory.h"
#include "tools/host/interruption.h"
#include "tools/live/live_mount.h"
#include "tools/run/device_choice.h"
#include "tools/run/run_device.h"
#include "tools/run/virtual_device.h"
#include "tools/text/printable.h"
#include "tools/text/sizes.h"
#include "tools/text/table.h"

namespace flashlab {
namespace {

struct MkfsOptions {
    std::string directory;
    std::optional<std::string> preset, config_file, ftl, metadata;
    std::optional<std::uint64_t> size_bytes, seed;
    std::string label;
    std::vector<std::string> settings;
    std::string precondition;
    bool dry_run = false, force = false, quiet = false, raw = false;
    OutputFormat format = OutputFormat::table;
};

std::expected<ConfigSources, std::string> sources_of(const MkfsOptions& o) {
    ConfigSources sources{.preset = o.preset, .file = o.config_file, .environment = flashlab_environment(), .settings = o.settings};
    using Option = std::tuple<const char*, const char*, std::optional<std::string>>;
    for (const auto& [option, key, value] :
         {Option{"--ftl", "ftl.scheme", o.ftl}, Option{"--metadata", "fs.metadata", o.raw ? std::optional<std::string>{"none"} : o.metadata},
          Option{"--seed", "nand.seed", o.seed ? std::optional{fmt::format("{}", *o.seed)} : std::nullopt}})
        if (value)
            if (auto added = add_option_setting(sources, option, key, *value); !added) return std::unexpected(added.error());
    return sources;
}

/// The default device is 4 GiB; any other keeps the geometry it was described with, unless a size is asked for.
std::optional<std::uint64_t> wanted_size(const MkfsOptions& o, const DeviceConfig& config, const std::vector<std::string>& asked) {
    if (o.size_bytes) return o.size_bytes;
    const auto preset = find_device_preset(config.ssd.preset);
    const bool untouched = preset && config.ssd.nand.geometry == preset->config.nand.geometry;
    const bool is_described = std::ranges::find(asked, "nand.blocks_per_plane") != asked.end();
    if (takes_default_size(config.ssd.preset) && untouched && !is_described) return default_device_bytes;
    return std::nullopt;
}

/// The reserve counts blocks of so many of the chips'.
std::uint32_t chip_blocks_together(const DevicePlan& plan) { return std::max(1u, plan.config.ssd.nand.rain) * plan.config.ssd.nand.striping; }

Json amplification(double waf) { return waf == 0 ? Json{} : Json{std::round(waf * 1e3) / 1e3}; }

Json report(const std::string& directory, const DevicePlan& plan, bool made) {
    const auto& g = plan.config.ssd.nand.geometry;
    return Json::object({{"directory", directory},
                         {"made", made},
                         {"preset", plan.config.ssd.preset},
                         {"ftl", plan.config.ssd.ftl.scheme},
                         {"metadata", plan.config.metadata},
                         {"size_bytes", plan.logical_bytes},
                         {"channels", g.channels},
                         {"groups", plan.ftl.groups},
                         {"blocks", std::uint64_t{g.channels} * g.chips_per_channel * g.dies_per_chip * g.planes_per_die * g.blocks_per_plane},
                         {"blocks_together", chip_blocks_together(plan)},
                         {"spare_blocks", plan.ftl.spare_blocks},
                         {"effective_spare_blocks", plan.ftl.effective_spare_blocks},
                         {"expected_waf", amplification(plan.ftl.expected_waf)},
                         {"closed_form_waf", amplification(plan.ftl.closed_form_waf)},
                         {"disk_bytes", plan.pram_bytes + 8192},
                         {"disk_bytes_at_most", plan.nand_bytes + plan.pram_bytes},
                         {"pram_bytes", plan.config.needs_pram() ? plan.pram_bytes : 0},
                         {"ram_bytes", plan.ram_bytes}});
}

void print_human(const std::string& directory, const DevicePlan& plan, bool made) {
    const auto& g = plan.config.ssd.nand.geometry;
    fmt::print("{}: {} of {}, translation layer {}{}\n", printable_line(directory), human_size(plan.logical_bytes), plan.config.ssd.preset,
               plan.config.ssd.ftl.scheme,
               plan.config.in_journal() ? ", metadata in a journal"
               : plan.config.is_raw()   ? ", no file system"
                                        : "");
    fmt::print("  flash  {} channels x {} chips x {} dies x {} planes x {} blocks x {} pages of {}\n", g.channels, g.chips_per_channel,
               g.dies_per_chip, g.planes_per_die, g.blocks_per_plane, g.pages_per_block, format_size(g.page_bytes));
    const double blocks =
        1.0 * g.channels * g.chips_per_channel * g.dies_per_chip * g.planes_per_die * g.blocks_per_plane / chip_blocks_together(plan);
    const auto percent = [blocks](std::uint32_t spare) { return 100.0 * spare / blocks; };
    fmt::print("  spare  {} of {:.0f} blocks ({:.1f} %), {} of them for collection; {} write points\n", plan.ftl.spare_blocks, blocks,
               percent(plan.ftl.spare_blocks), plan.ftl.effective_spare_blocks, plan.ftl.groups);
    fmt::print("  needs  disk {} now, {} when full; PRAM {}; RAM about {} while mounted\n", human_size(plan.pram_bytes + 8192),
               human_size(plan.nand_bytes + plan.pram_bytes), plan.config.needs_pram() ? human_size(plan.pram_bytes) : "none",
               human_size(plan.ram_bytes));
    if (made) fmt::print("mount it with: flashlab mount {}{} MNT\n", plan.config.is_raw() ? "--as-file " : "", directory);
}

/// The file that `replay --device` uses takes nearly all space; of it so much is written.
std::expected<void, std::string> precondition_drive(const std::string& directory, const Precondition& what, std::uint64_t seed) {
    DeviceChoice choice;
    choice.directory = directory;
    auto on = RunDevice::open(choice, {.kind = "mkfs", .default_bytes = 0});
    if (!on) return std::unexpected(on.error().text);
    const auto space = (*on)->sectors();
    if (!space) return std::unexpected(space.error());
    Progress progress{"writes before the first mount"};
    const auto done = precondition(*space, what, precondition_seed(seed), space->begin, [&](std::uint64_t written) { progress.at(written); });
    if (!done) return std::unexpected(done.error());
    return (*on)->close(*done);
}

int run_mkfs(const MkfsOptions& o) {
    const auto given = sources_of(o);
    if (!given) return complain("mkfs: " + given.error(), exit_usage);
    const ConfigSources& sources = *given;
    const std::vector<std::string> asked = asked_keys(sources);
    const auto before = parse_precondition(o.precondition);
    if (!before) return complain(before.error(), exit_usage);
    const auto config = gather_config(sources);
    if (!config) return complain(config.error(), exit_usage);
    const auto plan = plan_device(*config, wanted_size(o, *config, asked), asked);
    if (!plan) return complain(fmt::format("mkfs {}: {}", o.directory, with_origin(plan.error(), sources)), exit_usage);
    if (auto good = check_precondition(*before, plan->config.ssd); !good) return complain("mkfs: " + good.error(), exit_usage);
    if (auto fits = check_dram_fits(plan->config); !fits)
        return complain(fmt::format("mkfs {}: {}", o.directory, with_origin(fits.error(), sources)), exit_usage);
    if (auto there = check_host_memory(plan->ram_bytes); !there)
        return complain(fmt::format("mkfs {}: mounted it would take about {} of memory, but {}: give a smaller --size, or less memory for caches "
                                    "(dram.size, dram.write_buffer_bytes, the scheme's own: flashlab info --keys)",
                                    o.directory, human_size(plan->ram_bytes), there.error()),
                        exit_usage);
    if (const auto free = wait_for_unmounted(o.directory, DeviceAccess::use); !free) return complain(fmt::format("mkfs: {}", free.error()));
    const ExistingDevice existing = o.force ? ExistingDevice::replace : ExistingDevice::refuse;
    if (auto free = check_device_target(o.directory, existing); !free) return complain(fmt::format("mkfs: {}", free.error()));
    for (const auto& warning : plan->ftl.warnings)
        if (!o.quiet) complain(fmt::format("warning: {}", warning));
    const Interruption interruption;
    const auto finish = [&](const std::string& made) {
        return before->fill_percent != 0 ? precondition_drive(made, *before, o.seed.value_or(1)) : std::expected<void, std::string>{};
    };
    if (!o.dry_run)
        if (auto made = make_device_directory(o.directory, *plan, o.label, existing, finish); !made)
            return complain(fmt::format("mkfs: {}", made.error()));
    if (o.format != OutputFormat::table)
        fmt::print("{}", shown(o.format, report(o.directory, *plan, !o.dry_run)));
    else if (!o.quiet)
        print_human(o.directory, *plan, !o.dry_run);
    return exit_done;
}

} // namespace

void add_mkfs(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_mkfs, "mkfs", "Make a simulated drive, which is a directory, and a file system on it",
                              "flashlab mkfs /tmp/disk --size 1G");
    c.add_option("DIR", o.directory, "Directory to make; new or empty")->required();
    c.add_option("--preset", o.preset, "A known device (flashlab presets)");
    c.add_option("--config", o.config_file, "TOML file of configuration keys");
    add_size(c, "--size", o.size_bytes, "Logical size, up to the next whole row of blocks; 4G for the default device");
    c.add_option("--ftl", o.ftl, translation_layers());
    auto* metadata = c.add_option("--metadata", o.metadata, "Where metadata live: pram (default), or journal: on the drive itself");
    auto* label = c.add_option("--label", o.label, "Label of the file system");
    c.add_flag("--raw", o.raw, "No file system: the whole drive is one file for a kernel or a virtual machine (mount --as-file, serve)")
        ->excludes(metadata)
        ->excludes(label);
    c.add_option("--seed", o.seed, "Number from which bad blocks and bit errors are drawn: the same seed gives the same drive");
    c.add_option("--set", o.settings, "KEY=VALUE of a configuration key (flashlab info --keys)")->allow_extra_args(false);
    c.add_option("--precondition", o.precondition,
                 "Age the drive: fill:90,random:2x fills 90 % and overwrites that twice at random. The pages are the file replay.data, of zeros, "
                 "which take no disk");
    c.add_flag("-n,--dry-run", o.dry_run, "Make nothing; print geometry, spare blocks, and the disk and memory that it would need");
    c.add_flag("--force", o.force, "Replace a device that is there. All its files are lost");
    add_format(c, o.format, "One JSON object");
    c.add_flag("-q,--quiet", o.quiet, "Print nothing but errors");
}

} // namespace flashlab

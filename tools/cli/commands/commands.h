/// The commands: each takes plain options, prints, and returns its exit code. Options are filled by tools/cli/command_line.cpp.
///
/// Idea       What they return and where they print: tools/host/complaint.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/host/complaint.h"
#include "tools/run/device_choice.h"
#include "tools/run/trace_input.h"
#include "tools/text/table.h"

namespace flashlab {

struct MkfsOptions {
    std::string directory;
    std::optional<std::string> preset, config_file, ftl, metadata;
    std::optional<std::uint64_t> size_bytes, seed;
    std::string label;
    std::vector<std::string> settings;
    std::string precondition;
    bool dry_run = false, force = false, quiet = false;
    OutputFormat format = OutputFormat::table;
};

struct MountOptions {
    std::string directory, mount_point;
    std::string latency = "off";
    std::optional<std::string> log; ///< summary; none for a read-only mount
    std::uint64_t log_keep_bytes = std::uint64_t{1} << 30;
    std::vector<std::string> options;  ///< -o, commas already split
    std::vector<std::string> settings; ///< --set
    bool foreground = false, read_only = false;
    bool sloppy = false; ///< -s of mount(8): unknown -o words are passed over
    bool fake = false;   ///< -f of mount(8): everything but the mount itself
};

struct FsckOptions {
    std::string directory;
    bool look_only = false, repair = false, data = false, quiet = false;
    OutputFormat format = OutputFormat::table;
};

struct CtlOptions {
    std::string target, action;
    std::vector<std::string> arguments; ///< of set: key=value
    std::uint64_t seed = 1;
    OutputFormat format = OutputFormat::table;
};

struct QueryOptions {
    std::string target, sql;
    OutputFormat format = OutputFormat::table;
    bool schema = false, views = false;
};

struct BenchOptions {
    DeviceChoice device;
    std::string level = "device", rw = "randwrite", random_distribution = "uniform";
    std::uint64_t block_bytes = 4096, io_bytes = std::uint64_t{64} << 20;
    std::uint32_t iodepth = 1, rwmixread = 50;
    std::string precondition, warm_up;
    bool until_steady = false;
    std::uint64_t seed = 1;
    OutputFormat format = OutputFormat::table;
};

struct ReplayOptions {
    TraceInput input;
    DeviceChoice device;
    std::string speed = "open", precondition, warm_up;
    bool until_steady = false;
    bool wrap = false, compact = false;
    OutputFormat format = OutputFormat::table;
    std::uint64_t seed = 1;
};

struct TraceCommandOptions {
    TraceInput input;
    std::optional<std::string> convert, output;
    OutputFormat format = OutputFormat::table;
};

struct CrashExploreOptions {
    std::string ftl = "hftl", workload = "standard";
    std::string metadata = "none"; ///< pram, journal: a file system above the drive
    std::string shape, cell;      ///< empty: chip and slc; all of them when states are drawn
    std::uint64_t states = 0;     ///< 0 = every one
    std::uint64_t in_a_row = 0;   ///< cuts on one image instead
    std::uint32_t cuts = 2;
    std::uint64_t seed = 1;
    bool shrinks = true;
    OutputFormat format = OutputFormat::table;
};

struct CrashTortureOptions {
    std::vector<std::string> command;
    std::string check;            ///< for sh -c, in the mount; empty: fsck and a mount are the check
    std::string device;           ///< cloned; empty: a new one of the following
    std::string ftl, metadata, size = "256M";
    std::string latency = "off";
    std::string replay;           ///< a kept copy instead
    std::string keep;             ///< where copies of failed states go; empty: here
    std::uint64_t cuts = 10, seed = 1;
    double within_s = 2;          ///< a cut comes at most so long after the mount
    OutputFormat format = OutputFormat::table;
};

struct ReproduceOptions {
    std::vector<std::string> ids, traces; ///< traces: NAME=FILE
    bool quick = false;
    OutputFormat format = OutputFormat::table;
    unsigned jobs = 0; ///< cores; 0: all
    std::optional<std::string> html;
    std::string trace_folder;
};

struct UmountOptions {
    std::string target;
    double timeout_s = 600; ///< for the daemon to write back, and for others to let go of the mount
};

/// Of snapshot and clone.
struct CopyOptions {
    std::string from, to;
    bool remove = false;
    OutputFormat format = OutputFormat::table;
};

[[nodiscard]] int run_mkfs(const MkfsOptions& options);
[[nodiscard]] int run_mount(const MountOptions& options);
[[nodiscard]] int run_remount(const std::string& mount_point, const std::vector<std::string>& options);
[[nodiscard]] int run_umount(const UmountOptions& options);
[[nodiscard]] int run_fsck(const FsckOptions& options);
enum class InfoShow : std::uint8_t { usage, config, keys };
[[nodiscard]] int run_info(const std::string& target, InfoShow show, OutputFormat format);
[[nodiscard]] int run_presets(const std::string& name, OutputFormat format);
[[nodiscard]] int run_smart(const std::string& target, OutputFormat format);
[[nodiscard]] int run_ctl(const CtlOptions& options);
[[nodiscard]] int run_query(const QueryOptions& options);
[[nodiscard]] int run_bench(const BenchOptions& options);
[[nodiscard]] int run_replay(const ReplayOptions& options);
[[nodiscard]] int run_trace(const TraceCommandOptions& options);
[[nodiscard]] int run_compare(const std::vector<std::string>& paths, OutputFormat format);
[[nodiscard]] int run_reproduce(const ReproduceOptions& options);
[[nodiscard]] int run_crash_explore(const CrashExploreOptions& options);
[[nodiscard]] int run_crash_explore_file_system(const CrashExploreOptions& options);
[[nodiscard]] int run_crash_replay_file_system(const std::string& id, OutputFormat format);
[[nodiscard]] int run_crash_replay(const std::string& id, OutputFormat format);
[[nodiscard]] int run_crash_torture(const CrashTortureOptions& options);
[[nodiscard]] int run_crash_selftest(const std::string& ftl, std::uint64_t states, std::uint64_t seed, OutputFormat format);
[[nodiscard]] int run_snapshot(const CopyOptions& options);
[[nodiscard]] int run_clone(const CopyOptions& options);

} // namespace flashlab

/// flashlab import: a drive and its loads from the configurations of other tools.
#include <cerrno>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

#include "tools/cli/command_options.h"
#include "tools/cli/commands/bench_load.h"
#include "tools/drive/config_file.h"
#include "tools/drive/device_plan.h"
#include "tools/host/aside_file.h"
#include "tools/host/complaint.h"
#include "tools/imports/imported.h"
#include "tools/text/table.h"
#include "tools/workloads/random_distribution.h"

namespace flashlab {
namespace {

struct ImportOptions {
    std::string file, workload, directory;
    OutputFormat format = OutputFormat::table;
};

std::string_view name_of(ImportNote::Kind kind) {
    return kind == ImportNote::Kind::taken ? "taken" : kind == ImportNote::Kind::nearly ? "nearly" : "no counterpart";
}

std::expected<void, std::string> write_new(const std::string& path, const std::string& text, bool is_program) {
    auto file = AsideFile::make(path, AsideFile::Existing::refused);
    if (!file) return std::unexpected(file.error());
    if (const auto written = file->write(text); !written) return written;
    if (const auto whole = file->commit(); !whole) return whole;
    if (is_program && ::chmod(path.c_str(), 0755) != 0) return std::unexpected(fmt::format("{}: {}", path, std::generic_category().message(errno)));
    return {};
}

/// Why bench would not run it; empty: it would.
std::string why_no_load(const ImportedLoad& load) {
    BenchOptions bench;
    for (std::size_t i = 0; i + 1 < load.command.size(); ++i) {
        if (load.command[i] == "--queue") bench.queues.push_back(load.command[i + 1]);
        if (load.command[i] == "--random-distribution") bench.random_distribution = load.command[i + 1];
    }
    if (const auto known = parse_distribution(bench.random_distribution); !known) return known.error();
    const auto queues = bench.queues.empty() ? std::vector<BenchOptions>{} : loads_of_queues(bench);
    return queues ? "" : queues.error();
}

int write_imported(const ImportOptions& o, const std::string& origin, const Imported& imported) {
    const std::string drive = device_toml(imported, origin);
    if (!imported.keys.empty()) {
        DeviceConfig config;
        if (const auto good = apply_toml(config, drive, o.directory + "/device.toml"); !good)
            return complain(fmt::format("import: {}: a value does not fit a drive of FlashLab's: {}", origin, good.error()), exit_usage);
        if (const auto plan = plan_device(config, std::nullopt); !plan)
            return complain(fmt::format("import: {}: its values together make no drive of FlashLab's: {}", origin, plan.error()), exit_usage);
    }
    for (const ImportedLoad& load : imported.loads)
        if (const std::string why = why_no_load(load); !why.empty())
            return complain(fmt::format("import: {}: {}: bench cannot play it: {}", origin, load.title, why), exit_usage);
    if (::mkdir(o.directory.c_str(), 0777) != 0 && errno != EEXIST)
        return complain(fmt::format("import: {}: {}", o.directory, std::generic_category().message(errno)));
    std::expected<void, std::string> done;
    if (!imported.keys.empty()) done = write_new(o.directory + "/device.toml", drive, false);
    if (done && !imported.loads.empty())
        done = write_new(o.directory + "/load.sh", load_script(imported, origin, imported.keys.empty() ? "" : "device.toml"), true);
    if (!done) return complain("import: " + done.error());
    Table table{{"", "setting", "value", "here"}};
    Json notes{Json::Array{}};
    for (const auto kind : {ImportNote::Kind::taken, ImportNote::Kind::nearly, ImportNote::Kind::left_out})
        for (const ImportNote& note : imported.notes) {
            if (note.kind != kind) continue;
            table.add({std::string{name_of(kind)}, note.setting, note.value, note.what});
            notes.push(Json::object({{"kind", std::string{name_of(kind)}}, {"setting", note.setting}, {"value", note.value}, {"here", note.what}}));
        }
    if (o.format != OutputFormat::table) {
        fmt::print("{}", shown(o.format, Json::object({{"settings", std::move(notes)}}), table));
        return exit_done;
    }
    fmt::print("{}\n", table.to_text());
    if (!imported.keys.empty()) fmt::print("Drive: {}/device.toml, for --config of mkfs, bench and replay.\n", o.directory);
    if (!imported.loads.empty()) fmt::print("Loads: sh {}/load.sh ({}).\n", o.directory, imported.loads.size());
    return exit_done;
}

int run_mqsim(const ImportOptions& o) {
    const auto imported = import_mqsim(o.file, o.workload);
    return imported ? write_imported(o, o.file, *imported) : complain("import mqsim: " + imported.error(), exit_usage);
}
int run_fio(const ImportOptions& o) {
    const auto imported = import_fio(o.file);
    return imported ? write_imported(o, o.file, *imported) : complain("import fio: " + imported.error(), exit_usage);
}
int run_femu(const ImportOptions& o) {
    const auto imported = import_femu(o.file);
    return imported ? write_imported(o, o.file, *imported) : complain("import femu: " + imported.error(), exit_usage);
}

} // namespace

void add_import(CLI::App& app, Action& action) {
    CLI::App& import = add_command(app, "import", "A drive and its loads from a configuration of MQSim, fio or FEMU",
                                   "flashlab import mqsim ssdconfig.xml workload.xml -o mine && sh mine/load.sh\n"
                                   "  flashlab import fio job.fio -o mine\n"
                                   "  flashlab import femu run-blackbox.sh -o mine");
    import.require_subcommand(1);
    const auto add_output = [](CLI::App& c, ImportOptions& o) {
        c.add_option("-o,--output", o.directory, "Directory for device.toml and load.sh; it may exist, they may not")->required()->type_name("DIR");
        add_format(c, o.format, "One JSON object: what became of each setting");
    };
    {
        auto [c, o] = add_command(import, action, run_mqsim, "mqsim", "MQSim: its SSD, and its IO scenarios",
                                  "flashlab import mqsim ssdconfig.xml workload.xml -o mine");
        c.add_option("SSDCONFIG", o.file, "ssdconfig.xml")->required();
        c.add_option("WORKLOAD", o.workload, "workload.xml");
        add_output(c, o);
    }
    {
        auto [c, o] = add_command(import, action, run_fio, "fio", "fio: a job file", "flashlab import fio job.fio -o mine");
        c.add_option("JOB", o.file, "Job file")->required();
        add_output(c, o);
    }
    {
        auto [c, o] =
            add_command(import, action, run_femu, "femu", "FEMU: the options of its device", "flashlab import femu run-blackbox.sh -o mine");
        c.add_option("FILE", o.file, "A file with -device femu,KEY=VALUE,...")->required();
        add_output(c, o);
    }
}

} // namespace flashlab

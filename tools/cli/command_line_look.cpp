#include "tools/cli/command_line_look.h"

#include "tools/cli/command_options.h"
#include "tools/cli/commands/look.h"

namespace flashlab {

void add_look(CLI::App& app, std::function<int()>& action) {
    static LsOptions list;
    auto& ls = add_command(app, "ls", "List a folder of a drive that is not mounted", "flashlab ls /tmp/disk:/home -l");
    ls.add_option("TARGET", list.target, "DIR, or DIR:PATH")->required();
    ls.add_flag("-l,--long", list.is_long, "Mode, links, owner, size and time, too");
    ls.add_flag("-R,--recursive", list.recursive, "The folders below, too");
    add_format(ls, list.format, "An array of objects", "Comma-separated values");
    ls.callback([&action] { action = [] { return run_ls(list); }; });

    static std::vector<std::string> targets;
    auto& cat = add_command(app, "cat", "Print files of a drive that is not mounted", "flashlab cat /tmp/disk:/etc/motd");
    cat.add_option("TARGETS", targets, "DIR:PATH of each")->required();
    cat.callback([&action] { action = [] { return run_cat(targets); }; });

    static CpOptions copy;
    auto& cp = add_command(app, "cp", "Copy files out of a drive that is not mounted", "flashlab cp -r /tmp/disk:/home saved");
    cp.add_option("FROM", copy.from, "DIR:PATH")->required();
    cp.add_option("TO", copy.to, "A new name, or a folder; nothing that is there is replaced")->required();
    cp.add_flag("-r,--recursive", copy.recursive, "A folder with all that is in it");
    cp.callback([&action] { action = [] { return run_cp(copy); }; });

    static DumpOptions dumped;
    auto& dump = add_command(app, "dump", "A flash page or block as it lies in the image", "flashlab dump /tmp/disk --block 7");
    dump.add_option("DIR", dumped.directory, "Device directory, not mounted")->required();
    auto* page = dump.add_option("--page", dumped.page, "Physical page: state, and what its spare bytes say");
    dump.add_option("--block", dumped.block, "Physical block: its erase count, and all its pages")->excludes(page);
    dump.add_flag("--data", dumped.data, "of --page: the bytes, too")->needs(page);
    add_format(dump, dumped.format, "One JSON object");
    dump.callback([&action] { action = [] { return run_dump(dumped); }; });
}

} // namespace flashlab

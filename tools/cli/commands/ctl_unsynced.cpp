#include "tools/cli/commands/ctl_unsynced.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <sys/stat.h>

namespace flashlab {

namespace {

namespace fs = std::filesystem;

/// Paths of inodes, relative to the mount, found by walking it from outside: the file system keeps no way back from an inode to its names.
std::map<std::uint64_t, std::string> paths_of(const std::string& mount_point, std::map<std::uint64_t, std::string> wanted) {
    std::size_t missing = wanted.size();
    std::error_code error;
    fs::recursive_directory_iterator walk{mount_point, fs::directory_options::skip_permission_denied, error};
    for (; missing != 0 && !error && walk != fs::recursive_directory_iterator{}; walk.increment(error)) {
        struct stat status {};
        if (::lstat(walk->path().c_str(), &status) != 0) continue;
        const auto found = wanted.find(status.st_ino);
        if (found == wanted.end() || !found->second.empty()) continue;
        found->second = walk->path().lexically_relative(mount_point).string();
        --missing;
    }
    return wanted;
}

bool has_path(const Json& file) { return !file["path"].text().empty() && !file["path"].text().starts_with("(inode"); }

/// The answer with paths and calls; of each range a line for programs that want a list.
Json completed(const Json& answer, const std::string& mount_point) {
    std::map<std::uint64_t, std::string> wanted;
    for (const Json& file : answer["files"].items())
        if (!has_path(file)) wanted[file["ino"].number()];
    const auto paths = paths_of(mount_point, wanted);
    Json files{Json::Array{}}, flat{Json::Array{}};
    for (const Json& file : answer["files"].items()) {
        std::string path = has_path(file) ? file["path"].text() : paths.at(file["ino"].number());
        if (path.empty()) continue; // unlinked: nobody can lose it
        for (const Json& range : file["ranges"].items())
            flat.push(Json::object({{"path", path}, {"ino", file["ino"]}, {"offset", range["offset"]}, {"bytes", range["bytes"]}}));
        files.push(Json::object({{"path", path},
                                 {"ino", file["ino"]},
                                 {"ranges", file["ranges"]},
                                 {"changes", file["changes"]},
                                 {"calls", Json{Json::Array{fmt::format("{}({})", file["call"].text(), path)}}}}));
    }
    return Json::object({{"persistence", answer["persistence"]},
                         {"metadata", answer["metadata"]},
                         {"unsynced", std::move(flat)},
                         {"files", std::move(files)},
                         {"names", answer["names"]}});
}

std::string calls_of(const Json& item) {
    std::string calls;
    for (const Json& call : item["calls"].items()) calls += (calls.empty() ? "" : ", ") + call.text();
    return calls;
}

/// A directory a line, what is in it below, and beside it the call.
void print_tree(const Json& report) {
    struct Line {
        std::string text, call;
    };
    std::map<std::string, std::vector<Line>> directories;
    for (const Json& name : report["names"].items()) {
        const std::string call = name["calls"].items().front().text();
        directories[call.substr(6, call.size() - 7)].push_back({"  " + name["change"].text(), calls_of(name)});
    }
    for (const Json& file : report["files"].items()) {
        const std::string path = file["path"].text();
        const auto slash = path.rfind('/');
        auto& lines = directories[slash == std::string::npos ? "." : path.substr(0, slash)];
        lines.push_back({"  " + path.substr(slash == std::string::npos ? 0 : slash + 1), calls_of(file)});
        for (const Json& range : file["ranges"].items())
            lines.push_back({fmt::format("    {}+{}", range["offset"].dump(), range["bytes"].dump()), ""});
        for (const Json& change : file["changes"].items()) lines.push_back({"    " + change.text(), ""});
    }
    std::size_t width = 0;
    for (const auto& [directory, lines] : directories)
        for (const Line& line : lines) width = std::max(width, line.text.size());
    for (const auto& [directory, lines] : directories) {
        fmt::print("{}/\n", directory);
        for (const Line& line : lines) fmt::print("{:<{}}{}{}\n", line.text, line.call.empty() ? 0 : width, line.call.empty() ? "" : "  ", line.call);
    }
    if (directories.empty()) fmt::print("nothing: all that was answered is durable\n");
    if (report["persistence"].text() == "strict" && report["metadata"].text() == "journal")
        fmt::print("changes of names and attributes may wait for the journal, 5 s at most: any fsync makes them durable\n");
}

} // namespace

void print_unsynced(const Json& answer, const std::string& mount_point, OutputFormat format) {
    const Json report = completed(answer, mount_point);
    if (format == OutputFormat::table) return print_tree(report);
    Table table{{"path", "ino", "offset", "bytes"}};
    for (const Json& range : report["unsynced"].items())
        table.add({range["path"].text(), range["ino"].dump(), range["offset"].dump(), range["bytes"].dump()});
    fmt::print("{}", shown(format, report, table));
}

} // namespace flashlab

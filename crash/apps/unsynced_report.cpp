#include "crash/apps/unsynced_report.h"

#include <algorithm>
#include <map>

#include "crash/apps/history_base.h"
#include "crash/apps/state_order.h"

namespace flashlab {

namespace {

std::string directory_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

void merge(std::vector<UnsyncedFile::Range>& ranges, std::uint64_t size) {
    std::ranges::sort(ranges, {}, &UnsyncedFile::Range::offset);
    std::vector<UnsyncedFile::Range> merged;
    for (const auto& range : ranges) {
        const std::uint64_t end = std::min(range.offset + range.bytes, size);
        if (range.offset >= end) continue; // a truncate has taken it
        if (merged.empty() || merged.back().offset + merged.back().bytes < range.offset)
            merged.push_back({range.offset, end - range.offset});
        else
            merged.back().bytes = std::max(merged.back().bytes, end - merged.back().offset);
    }
    ranges = std::move(merged);
}

/// A path of a history without the folder of what has no known name.
std::string told_path(const std::string& path) {
    std::string told = path;
    const std::string folder = std::string{nameless_folder_name} + "/#";
    for (std::size_t at = 0; (at = told.find(folder, at)) != std::string::npos;) {
        std::size_t end = at + folder.size();
        while (end < told.size() && told[end] >= '0' && told[end] <= '9') ++end;
        const std::string name = "(inode " + told.substr(at + folder.size(), end - at - folder.size()) + ")";
        told.replace(at, end - at, name);
        at += name.size();
    }
    return told;
}

} // namespace

UnsyncedReport report_unsynced(const Past& past, const Persistence& model) {
    const UnsyncedLines unsynced = find_unsynced(past, model, past.size());
    std::map<std::uint64_t, UnsyncedFile> files;
    UnsyncedReport report;
    const auto file_of = [&](std::uint32_t line) -> UnsyncedFile& {
        UnsyncedFile& file = files[past.facts(line).ino];
        file.ino = past.facts(line).ino;
        file.path = told_path(past.facts(line).path);
        return file;
    };
    for (const std::uint32_t line : unsynced.writes) file_of(line).ranges.push_back({past.line(line).offset, past.line(line).data.size()});
    for (const std::uint32_t i : unsynced.names) {
        const Operation& line = past.line(i);
        const LineFacts& facts = past.facts(i);
        if (!is_about_names(line.act)) {
            UnsyncedFile& file = file_of(i);
            file.changes.push_back(past.told(i));
            file.is_data_only = file.is_data_only && line.act == Act::truncate;
            continue;
        }
        UnsyncedName name{.change = past.told(i), .directories = {told_path(directory_of(facts.path))}, .inos = {line.parent}};
        const bool moves = line.act == Act::rename || line.act == Act::exchange;
        if (moves && line.to_parent != line.parent) {
            name.directories.push_back(told_path(directory_of(facts.to_path)));
            name.inos.push_back(line.to_parent);
        }
        report.names.push_back(std::move(name));
    }
    for (auto& [ino, file] : files) {
        const FilePast* of = past.file(ino);
        merge(file.ranges, of == nullptr ? ~std::uint64_t{0} : past.facts(of->lines.back()).size_after);
        if (!file.ranges.empty() || !file.changes.empty()) report.files.push_back(std::move(file));
    }
    return report;
}

} // namespace flashlab

#include "fs/fuse/mount_table_watch.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace flashlab {

namespace {

constexpr const char* table_of_this_namespace = "/proc/self/mountinfo";

bool has_word(const std::string& words, std::string_view wanted) {
    std::istringstream in{words};
    for (std::string word; std::getline(in, word, ',');)
        if (word == wanted) return true;
    return false;
}

} // namespace

std::optional<TableEntry> entry_in_table(const std::string& line, const std::string& number) {
    std::istringstream in{line};
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (words.size() < 6 || words[2] != number) return std::nullopt;
    const std::string& of_place = words[5];
    const auto behind = std::ranges::find(words, "-"); // then type, source, options of the whole mount
    if (words.end() - behind < 4) return std::nullopt;
    return TableEntry{.read_only = has_word(behind[3], "ro"),
                      .access_times = has_word(of_place, "noatime")    ? AccessTimes::kept
                                      : has_word(of_place, "relatime") ? AccessTimes::relative
                                                                       : AccessTimes::strict};
}

MountTableWatch::~MountTableWatch() {
    if (table_ >= 0) close(table_);
}

void MountTableWatch::begin(const std::string& mount_point) {
    struct statx status {};
    if (statx(AT_FDCWD, mount_point.c_str(), AT_STATX_DONT_SYNC, 0, &status) != 0) return; // sends no request
    number_ = fmt::format("{}:{}", status.stx_dev_major, status.stx_dev_minor);
    table_ = open(table_of_this_namespace, O_RDONLY | O_CLOEXEC);
}

std::optional<TableEntry> MountTableWatch::look() const {
    std::ifstream table{table_of_this_namespace};
    for (std::string line; std::getline(table, line);)
        if (const auto entry = entry_in_table(line, number_)) return entry;
    return std::nullopt;
}

} // namespace flashlab

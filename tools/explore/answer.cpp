#include "tools/explore/answer.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crash/apps/state_order.h"

namespace flashlab {

namespace {

namespace fs = std::filesystem;

constexpr const char* printed = "standard output";
constexpr const char* of_file = "file ";
constexpr const char* begin_of_text = "(text)";
constexpr const char* begin_of_other = "(no text)"; ///< of one store's many files each counts
constexpr const char* complaint = "last line of standard error";
constexpr std::uintmax_t most_text = 256 << 10; ///< of a file, and of what is printed: more is told by its beginning
constexpr std::size_t most_watched = 500;
constexpr std::size_t most_told = 3, most_shown = 160;

std::string begin_of(const std::string& file) {
    std::ifstream in{file, std::ios::binary};
    std::string text(most_text, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

bool is_text(const std::string& text) {
    return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' && c != '\r'; });
}

std::vector<std::string> lines_of(std::string text, const std::string& directory) {
    for (std::size_t at = 0; (at = text.find(directory, at)) != std::string::npos;) text.replace(at, directory.size(), ".");
    std::istringstream in{text};
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

/// Of one state's answer only: what the other lacks, both sorted.
std::vector<std::string> only_in(const std::vector<std::string>& one, const std::vector<std::string>& other) {
    std::vector<std::string> lines;
    std::ranges::set_difference(one, other, std::back_inserter(lines));
    return lines;
}
std::vector<std::string> sorted(std::vector<std::string> lines) {
    std::ranges::sort(lines);
    return lines;
}

std::string told_lines(const char* word, const std::vector<std::string>& lines) {
    if (lines.empty()) return {};
    std::string text = fmt::format("it {}", word);
    for (std::size_t i = 0; i < std::min(most_told, lines.size()); ++i)
        text += fmt::format("{} \"{}\"", i == 0 ? "" : ",", lines[i].size() > most_shown ? lines[i].substr(0, most_shown) + "..." : lines[i]);
    return lines.size() > most_told ? text + fmt::format(" and {} more", lines.size() - most_told) : text;
}

template <class Look>
void for_files(const std::string& directory, const Look& look) {
    std::error_code error;
    for (auto entry = fs::recursive_directory_iterator{directory, fs::directory_options::skip_permission_denied, error};
         entry != fs::recursive_directory_iterator{}; entry.increment(error)) {
        if (error) return;
        if (entry->symlink_status(error).type() == fs::file_type::regular) look(entry->path().string());
    }
}

std::string kind_in(const std::string& directory, const std::string& path) { return kind_of_file(path.substr(directory.size() + 1)); }

constexpr timespec long_ago{1, 0};

void set_back(const std::string& path) {
    const std::array<timespec, 2> times{long_ago, timespec{0, UTIME_OMIT}};
    (void)::utimensat(AT_FDCWD, path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
}
bool was_read(int fd) {
    struct stat found {};
    return ::fstat(fd, &found) == 0 && found.st_atim.tv_sec != long_ago.tv_sec;
}
bool keeps_access_times(const std::string& directory) {
    const std::string file = directory + ".atime";
    std::ofstream{file} << "x";
    set_back(file);
    (void)begin_of(file);
    const int fd = ::open(file.c_str(), O_PATH | O_CLOEXEC);
    const bool keeps = fd >= 0 && was_read(fd);
    if (fd >= 0) ::close(fd);
    ::unlink(file.c_str());
    return keeps;
}

} // namespace

std::string kind_of_file(const std::string& path) {
    return path.find_first_of("/0123456789") == std::string::npos ? path : kind_of_path(path); // "db" is no shelf of a store
}

Answer read_answer(const CheckVerdict& verdict, const CheckCall& call, const FileKinds& files) {
    Answer answer{verdict, {}};
    answer.lines[printed] = lines_of(begin_of(call.output), call.directory);
    if (verdict.code != 0)
        if (auto lines = lines_of(begin_of(call.errors), call.directory); !lines.empty()) answer.lines[complaint] = {std::move(lines.back())};
    if (files.empty()) return answer;
    std::vector<std::string> paths;
    for_files(call.directory, [&](std::string path) { paths.push_back(std::move(path)); });
    std::ranges::sort(paths);
    for (const std::string& path : paths) {
        const std::string kind = kind_in(call.directory, path), text = files.contains(kind) ? begin_of(path) : "";
        if (!files.contains(kind)) continue;
        auto& lines = answer.lines[of_file + kind];
        lines.emplace_back(is_text(text) ? begin_of_text : begin_of_other);
        if (is_text(text)) std::ranges::move(lines_of(text, call.directory), std::back_inserter(lines));
    }
    return answer;
}

std::vector<std::string> AnswerMasks::masked(const std::string& source, std::vector<std::string> lines) const {
    const auto found = masks_.find(source);
    if (found == masks_.end()) return lines;
    const Mask& mask = found->second;
    if (mask.is_ignored) return {};
    for (std::string& line : lines)
        if (std::string kind = kind_of_path(line); mask.kinds.contains(kind)) line = std::move(kind);
    return mask.is_sorted ? sorted(std::move(lines)) : lines;
}

void AnswerMasks::learn(const Answer& one, const Answer& other) {
    std::set<std::string> sources;
    for (const Answer* answer : {&one, &other})
        for (const auto& [source, lines] : answer->lines) sources.insert(source);
    for (const std::string& source : sources) {
        const auto lines_in = [&](const Answer& answer) {
            const auto found = answer.lines.find(source);
            return masked(source, found == answer.lines.end() ? std::vector<std::string>{} : found->second);
        };
        if (lines_in(one) == lines_in(other)) continue;
        const auto a = sorted(lines_in(one)), b = sorted(lines_in(other));
        Mask& mask = masks_[source];
        for (const auto& lines : {only_in(a, b), only_in(b, a)})
            for (const std::string& line : lines) mask.kinds.insert(kind_of_path(line));
        if (lines_in(one) != lines_in(other)) mask.is_sorted = true;
        if (lines_in(one) != lines_in(other)) mask.is_ignored = true;
    }
}

std::string AnswerMasks::shown(const Answer& answer) const {
    std::string text = fmt::format("ended with {}", answer.verdict.code);
    for (const auto& [source, lines] : answer.lines)
        for (const std::string& line : masked(source, lines)) {
            const bool goes_on = source.starts_with(of_file) && line != begin_of_text && line != begin_of_other;
            text += goes_on ? " | " + line : "\n" + (source == printed ? "" : source + ": ") + line;
        }
    return text + "\n";
}

bool answers_as(const std::string& shown, const std::string& legal) {
    if (shown == legal) return true;
    auto here = lines_of(shown, "\n\n"), there = lines_of(legal, "\n\n");
    const auto is_file = [](const std::string& line) { return line.starts_with(of_file); };
    const auto files_here = std::ranges::stable_partition(here, std::not_fn(is_file)),
               files_there = std::ranges::stable_partition(there, std::not_fn(is_file));
    std::ranges::sort(files_here);
    std::ranges::sort(files_there);
    return std::ranges::equal(here.begin(), files_here.begin(), there.begin(), files_there.begin()) && std::ranges::includes(files_here, files_there);
}

std::vector<std::string> AnswerMasks::told() const {
    std::vector<std::string> all;
    for (const auto& [source, mask] : masks_)
        all.push_back(fmt::format("{}: {}", source,
                                  mask.is_ignored  ? "not compared at all"
                                  : mask.is_sorted ? "compared without its order, and without the numbers of some lines"
                                                   : fmt::format("of {} kinds of lines numbers are not compared", mask.kinds.size())));
    return all;
}

Json AnswerMasks::to_json() const {
    Json masks{Json::Array{}};
    for (const auto& [source, mask] : masks_) {
        Json kinds{Json::Array{}};
        for (const std::string& kind : mask.kinds) kinds.push(kind);
        masks.push(Json::object({{"source", source}, {"kinds", std::move(kinds)}, {"is_sorted", mask.is_sorted}, {"is_ignored", mask.is_ignored}}));
    }
    return masks;
}

AnswerMasks AnswerMasks::from_json(const Json& json) {
    AnswerMasks masks;
    for (const Json& one : json.items()) {
        Mask& mask = masks.masks_[one["source"].text()];
        mask.is_sorted = one["is_sorted"].truth();
        mask.is_ignored = one["is_ignored"].truth();
        for (const Json& kind : one["kinds"].items()) mask.kinds.insert(kind.text());
    }
    return masks;
}

AnswerDifference difference_of(const std::string& shown, const std::string& legal) {
    const auto here = sorted(lines_of(shown, "\n\n")), there = sorted(lines_of(legal, "\n\n"));
    const auto lacks = only_in(there, here), has = only_in(here, there);
    const std::string lacks_text = told_lines("lacks", lacks), has_text = told_lines("has", has);
    return {lacks.size() + has.size(), lacks_text + (lacks.empty() || has.empty() ? "" : "; ") + has_text};
}

ReadFiles::ReadFiles(const std::string& directory) : is_told_{keeps_access_times(directory)} {
    for_files(directory, [&](const std::string& path) {
        if (watched_.size() == most_watched) return;
        set_back(path);
        const int fd = ::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC); // of the file, also when its name goes to another
        if (fd >= 0) watched_.push_back({kind_in(directory, path), fd});
    });
}

ReadFiles::~ReadFiles() {
    for (const Watched& file : watched_) ::close(file.fd);
}

FileKinds ReadFiles::kinds() const {
    FileKinds kinds;
    for (const Watched& file : watched_)
        if (!is_told_ || was_read(file.fd)) kinds.insert(file.kind);
    return kinds;
}

} // namespace flashlab

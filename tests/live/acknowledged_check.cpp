/// acknowledged_check DIR ACKNOWLEDGED SEED [pram|journal]: after recovery, is every acknowledged record there, and nothing that was never written?
/// With metadata in a journal, directories and renames are promised by the fsync after them only.
#include <algorithm>
#include <fstream>

#include "tests/live/acknowledged_records.h"

namespace {

using namespace live;

struct Acknowledged {
    std::uint64_t mkdir = 0, append = 0, rename = 0;
};

Acknowledged read_acknowledgements(const std::string& path) {
    Acknowledged last;
    std::ifstream lines{path};
    std::string what;
    std::uint64_t number = 0;
    while (lines >> what >> number) {
        (what == "mkdir" ? last.mkdir : what == "append" ? last.append : last.rename) = number;
    }
    return last;
}

/// Acknowledged records stand whole and in order; behind them only a piece of the next one or zeros (C12, C13).
void check_log(const std::string& directory, std::uint64_t seed, std::uint64_t acknowledged) {
    if (acknowledged == 0 && ::access((directory + "/log").c_str(), F_OK) != 0) {
        return; // the cut came before the first record
    }
    const std::vector<unsigned char> log = read_file(directory + "/log");
    std::size_t at = 0;
    for (std::uint64_t number = 1; number <= acknowledged; ++number) {
        const std::vector<unsigned char> expected = record(seed, number);
        if (log.size() - at < expected.size()) {
            fail("log ends at byte " + std::to_string(log.size()) + ": acknowledged record " + std::to_string(number) + " is not there whole");
        }
        const auto [ours, theirs] = std::mismatch(expected.begin(), expected.end(), log.begin() + static_cast<std::ptrdiff_t>(at));
        if (ours != expected.end()) {
            fail("acknowledged record " + std::to_string(number) + " is damaged at byte " + std::to_string(theirs - log.begin()) + " of the log");
        }
        at += expected.size();
    }
    const std::vector<unsigned char> next = record(seed, acknowledged + 1);
    if (log.size() - at > next.size()) {
        fail("the log is longer than anything that was written");
    }
    for (std::size_t i = 0; at + i < log.size(); ++i) {
        if (log[at + i] != next[i] && log[at + i] != 0) {
            fail("foreign byte behind the acknowledged records at byte " + std::to_string(at + i) + " of the log");
        }
    }
}

/// The replaced file is a whole version, the acknowledged one or the one after it (C14).
void check_replaced(const std::string& directory, std::uint64_t seed, std::uint64_t acknowledged) {
    if (::access((directory + "/state").c_str(), F_OK) != 0) {
        if (acknowledged != 0) {
            fail("the renamed file is missing, version " + std::to_string(acknowledged) + " was acknowledged");
        }
        return;
    }
    const std::vector<unsigned char> content = read_file(directory + "/state");
    if (content != replaced_content(seed, acknowledged) && content != replaced_content(seed, acknowledged + rename_every)) {
        fail("the renamed file is neither version " + std::to_string(acknowledged) + " nor the next one (" + std::to_string(content.size()) +
             " bytes)");
    }
}

/// Directories answered without any sync are there, removed ones are not (C11). `unanswered_rmdir`: its removal was asked for, perhaps not answered.
void check_directories(const std::string& directory, std::uint64_t acknowledged, std::uint64_t unanswered_rmdir) {
    struct stat attributes {};
    for (std::uint64_t number = 1; number <= acknowledged; ++number) {
        const bool there = ::stat(directory_name(directory, number).c_str(), &attributes) == 0;
        const bool maybe_removed = number == unanswered_rmdir;
        const bool expected = number + directories_kept > acknowledged;
        if (there != expected && !maybe_removed) {
            fail("directory " + std::to_string(number) + (there ? " came back" : " is missing") + ", acknowledged up to " +
                 std::to_string(acknowledged));
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    const bool in_journal = argc == 5 && std::string{argv[4]} == "journal";
    if (argc != 4 && argc != 5) {
        live::fail("usage: acknowledged_check DIR ACKNOWLEDGED SEED [pram|journal]");
    }
    const std::string directory = argv[1];
    const std::uint64_t seed = live::number_argument(argv[3]);
    const Acknowledged last = read_acknowledgements(argv[2]);
    check_log(directory, seed, last.append);
    if (in_journal) { // the fsync of round n covers its directory and the replacements of the rounds before
        check_replaced(directory, seed, last.append == 0 ? 0 : (last.append - 1) / rename_every * rename_every);
        check_directories(directory, last.append, last.append < directories_kept ? 0 : last.append + 1 - directories_kept);
    } else {
        check_replaced(directory, seed, last.rename);
        check_directories(directory, last.mkdir, last.mkdir < directories_kept ? 0 : last.mkdir - directories_kept);
    }
    std::printf("acknowledged_check: %llu records, %llu directories, version %llu of the renamed file: all there\n",
                static_cast<unsigned long long>(last.append), static_cast<unsigned long long>(last.mkdir),
                static_cast<unsigned long long>(last.rename));
    return 0;
}

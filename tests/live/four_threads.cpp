// Four threads with a file each and one that they share, whose syncs overlap, to find out what a power cut takes (docs/torture.md).
//
//   four_threads write ROUNDS [FORGETS]
//       in the directory it runs in. Each round of a thread appends a record to its own file and writes its sector of the shared one, syncs both, and
//       promises "THREAD ROUND". Thread FORGETS, if given, does not sync its own file.
//   four_threads check
//       exit 1: what was promised is not there
#include <array>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace {

constexpr int threads = 4;
constexpr std::size_t record_bytes = 512; // a sector: old or new as a whole
using Record = std::array<char, record_bytes>;

Record record_of(int thread, int round) {
    Record record{};
    record.fill(static_cast<char>('a' + round % 26));
    std::snprintf(record.data(), record.size(), "thread %d round %d", thread, round);
    return record;
}

std::string own_file(int thread) { return "own." + std::to_string(thread); }
off_t sector_of(int thread) { return thread * static_cast<off_t>(5 * record_bytes); } // two threads a page of 4 KiB, and one page of both

[[noreturn]] void give_up(const char* what) {
    std::perror(what);
    std::_Exit(9);
}

int write_all(int rounds, int forgets) {
    const char* told = std::getenv("FLASHLAB_ACK_FD");
    const int promises = told == nullptr ? 1 : std::atoi(told);
    const int shared = open("shared", O_CREAT | O_RDWR, 0644), directory = open(".", O_RDONLY | O_DIRECTORY);
    std::array<int, threads> own{};
    for (int i = 0; i < threads; ++i) own[static_cast<std::size_t>(i)] = open(own_file(i).c_str(), O_CREAT | O_WRONLY | O_APPEND, 0644);
    if (shared < 0 || directory < 0 || fsync(directory) != 0) give_up("open");
    std::barrier together{threads};
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i)
        running.emplace_back([&, i] {
            const int file = own[static_cast<std::size_t>(i)];
            for (int round = 1; round <= rounds; ++round) {
                together.arrive_and_wait(); // so that the syncs of one round overlap
                const Record record = record_of(i, round);
                if (write(file, record.data(), record.size()) != static_cast<ssize_t>(record.size())) give_up("write");
                if (pwrite(shared, record.data(), record.size(), sector_of(i)) != static_cast<ssize_t>(record.size())) give_up("pwrite");
                if (i != forgets && fsync(file) != 0) give_up("fsync");
                if (fdatasync(shared) != 0) give_up("fdatasync");
                const std::string line = std::to_string(i) + " " + std::to_string(round) + "\n";
                if (write(promises, line.data(), line.size()) != static_cast<ssize_t>(line.size())) give_up("promise");
            }
        });
    running.clear();
    return 0;
}

int check() {
    std::array<int, threads> promised{};
    std::ifstream acks{std::getenv("FLASHLAB_ACKS")};
    for (int thread = 0, round = 0; acks >> thread >> round;) promised.at(static_cast<std::size_t>(thread)) = round;
    for (int i = 0; i < threads; ++i) {
        const int last = promised[static_cast<std::size_t>(i)];
        std::ifstream own{own_file(i), std::ios::binary}, shared{"shared", std::ios::binary};
        Record found{};
        for (int round = 1; round <= last; ++round) {
            if (own.read(found.data(), found.size()) && found == record_of(i, round)) continue;
            std::printf("own.%d has not what was promised of round %d\n", i, round);
            return 1;
        }
        if (last == 0) continue;
        int thread = -1, round = 0;
        shared.seekg(sector_of(i));
        const bool there = shared.read(found.data(), found.size()) && std::sscanf(found.data(), "thread %d round %d", &thread, &round) == 2;
        if (there && thread == i && round >= last && found == record_of(i, round)) continue;
        std::printf("shared: thread %d promised round %d, and round %d is there\n", i, last, round);
        return 1;
    }
    return 0;
}

} // namespace

int main(int count, char** words) {
    const std::string what = count > 1 ? words[1] : "";
    if (what == "check") return check();
    if (what == "write" && count > 2) return write_all(std::atoi(words[2]), count > 3 ? std::atoi(words[3]) : -1);
    return 2;
}

// A small store of records, to find out what it believes after a failed fsync (docs/faults.md).
//
//   retrying_store write FILE ACKS RECORDS believing|rewriting
//       appends records one by one; each is acknowledged in ACKS, outside the drive, once fsync has returned 0. When it fails, `believing` only
//       calls it again, `rewriting` writes the record anew first.
//   retrying_store check FILE ACKS
//       exit 1: an acknowledged record is not there
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace {

constexpr std::size_t record_bytes = 1000; // records share pages
constexpr int most_tries = 10;
using Record = std::array<char, record_bytes>;

Record record_of(long number) {
    Record record{};
    record.fill(static_cast<char>('a' + number % 26));
    std::snprintf(record.data(), record.size(), "record %ld", number);
    return record;
}

bool put(int fd, long number) {
    const Record record = record_of(number);
    return pwrite(fd, record.data(), record.size(), number * static_cast<long>(record_bytes)) == static_cast<ssize_t>(record.size());
}

/// True: fsync says that the record is durable.
bool make_durable(int fd, long number, bool rewrites) {
    for (int attempt = 0; attempt < most_tries; ++attempt) {
        if (fsync(fd) == 0) return true;
        std::printf("fsync after record %ld: %s\n", number, std::strerror(errno));
        if (rewrites && !put(fd, number)) return false;
    }
    return false;
}

int write_all(const char* path, const char* acks, long records, bool rewrites) {
    const int fd = open(path, O_CREAT | O_RDWR, 0644);
    const int told = open(acks, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (fd < 0 || told < 0) return 2;
    for (long number = 0; number < records; ++number) {
        if (!put(fd, number) || !make_durable(fd, number, rewrites)) {
            std::printf("gave up at record %ld\n", number);
            return 3;
        }
        if (dprintf(told, "%ld\n", number) < 0) return 2;
    }
    return 0;
}

int check(const char* path, const char* acks) {
    std::ifstream told{acks};
    const int fd = open(path, O_RDONLY);
    if (fd < 0 || !told) return 2;
    int code = 0;
    for (long number = 0; told >> number;) {
        const Record right = record_of(number);
        Record found{};
        const ssize_t got = pread(fd, found.data(), found.size(), number * static_cast<long>(record_bytes));
        if (got == static_cast<ssize_t>(found.size()) && found == right) continue;
        std::printf("record %ld was acknowledged and is lost\n", number);
        code = 1;
    }
    return code;
}

} // namespace

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "write" && argc == 6) return write_all(argv[2], argv[3], std::atol(argv[4]), std::string{argv[5]} == "rewriting");
    if (mode == "check" && argc == 4) return check(argv[2], argv[3]);
    std::fputs("usage: retrying_store write FILE ACKS RECORDS believing|rewriting | check FILE ACKS\n", stderr);
    return 2;
}

/// What bench says of loads that read.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

#include "tools/cli/command_line.h"
#include "tools/host/complaint.h"
#include "tools/text/json.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// What a stream of the process gets while this lives.
class Captured {
public:
    explicit Captured(std::FILE* stream) : stream_{stream}, file_{std::tmpfile()}, before_{::dup(::fileno(stream))} {
        std::fflush(stream_);
        ::dup2(::fileno(file_), ::fileno(stream_));
    }
    ~Captured() {
        std::fflush(stream_);
        ::dup2(before_, ::fileno(stream_));
        ::close(before_);
        std::fclose(file_);
    }
    Captured(const Captured&) = delete;
    Captured& operator=(const Captured&) = delete;
    [[nodiscard]] std::string text() const {
        std::fflush(stream_);
        std::rewind(file_);
        std::string out;
        for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) out += static_cast<char>(c);
        return out;
    }

private:
    std::FILE* stream_;
    std::FILE* file_;
    int before_;
};

struct Said {
    Json report;
    std::string errors;
};

/// 8 MiB of a load on a drive of 128 MiB.
Said bench(const std::string& level, const std::string& rw, const std::string& precondition = "") {
    std::vector<std::string> words{"bench", "--json", "--size", "128M", "--io-size", "8M", "--iodepth", "4", "--level", level, "--rw", rw};
    if (!precondition.empty()) words.insert(words.end(), {"--precondition", precondition});
    const Captured out{stdout}, err{stderr};
    const int code = run_words(words);
    const std::string errors = err.text();
    auto report = Json::parse(out.text());
    INFO(errors);
    REQUIRE(code == exit_done);
    REQUIRE(report.has_value());
    return {std::move(*report), errors};
}

} // namespace

TEST_CASE("a load that reads a file through the file system reads what was written to the flash before its clock started", "[tools][bench]") {
    const std::string rw = GENERATE(std::string{"read"}, std::string{"randread"});
    CAPTURE(rw);
    const Said said = bench("fs", rw);
    CHECK(said.report["nand_read_pages"].real() == said.report["reads"].real());
    CHECK(said.report["nand_program_pages"].real() == 0); // the fill is none of the run
    CHECK(said.report["host_write_bytes"].real() == 0);
    CHECK(said.report["host_read_bytes"].real() == 8 << 20);
    CHECK(said.report["latency_us"]["read"]["p50"].real() > 20);
    CHECK(said.report["sim_seconds"].real() * said.report["iops"].real() == Approx(2048));
    CHECK(said.errors.empty());
}

TEST_CASE("a mixed load through the file system reads the flash where it has not just written", "[tools][bench]") {
    const Said said = bench("fs", "randrw");
    CHECK(said.report["nand_read_pages"].real() > 0);
    CHECK(said.report["writes"].real() > 0);
}

TEST_CASE("a run of which more than one page read in a hundred holds nothing warns and names the remedy, and no other does", "[tools][bench]") {
    for (const char* level : {"device", "ftl"}) {
        CAPTURE(level);
        const Said empty = bench(level, "randread");
        CHECK(empty.report["nand_read_pages"].real() == 0);
        CHECK(empty.report["read_pages"].real() == 2048);
        CHECK(empty.report["unmapped_reads"].real() == 2048);
        CHECK_THAT(empty.errors,
                   ContainsSubstring("warning: 2048 of the 2048 pages that were read hold nothing") && ContainsSubstring("--precondition"));
        const Said some = bench(level, "randread", "fill:97");
        const double unmapped = some.report["unmapped_reads"].real();
        CHECK(unmapped > 20);
        CHECK(unmapped < 200);
        CHECK(some.report["nand_read_pages"].real() == 2048 - unmapped);
        CHECK_THAT(some.errors, ContainsSubstring(fmt::format("warning: {} of the 2048 pages", unmapped)));
        const Said full = bench(level, "randread", "fill:100");
        CHECK(full.errors.empty());
        CHECK(full.report["unmapped_reads"].real() <= 1); // a hundred hundredths of the bytes, in whole pages, may leave out the last page
        CHECK(bench(level, "randwrite").errors.empty());
    }
}

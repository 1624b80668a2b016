/// What bench says of loads that read.
#include <cstdio>

#include <unistd.h>

#include <fmt/format.h>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

#include "tools/cli/commands/bench.h"
#include "tools/host/complaint.h"
#include "tools/text/json.h"
#include "tools/text/table.h"

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

Said bench(BenchOptions options) {
    options.format = OutputFormat::json;
    if (!options.device.size_bytes) options.device.size_bytes = std::uint64_t{128} << 20;
    const Captured out{stdout}, err{stderr};
    const int code = run_bench(options);
    const std::string errors = err.text();
    auto report = Json::parse(out.text());
    INFO(errors);
    REQUIRE(code == exit_done);
    REQUIRE(report.has_value());
    return {std::move(*report), errors};
}

BenchOptions load(const char* level, const char* rw) {
    BenchOptions o;
    o.level = level;
    o.rw = rw;
    o.io_bytes = std::uint64_t{8} << 20;
    o.iodepth = 4;
    return o;
}

} // namespace

TEST_CASE("a load that reads a file through the file system reads what was written to the flash before its clock started", "[tools][bench]") {
    const std::string rw = GENERATE(std::string{"read"}, std::string{"randread"});
    CAPTURE(rw);
    const Said said = bench(load("fs", rw.c_str()));
    CHECK(said.report["nand_read_pages"].real() == said.report["reads"].real());
    CHECK(said.report["nand_program_pages"].real() == 0); // the fill is none of the run
    CHECK(said.report["host_write_bytes"].real() == 0);
    CHECK(said.report["host_read_bytes"].real() == 8 << 20);
    CHECK(said.report["latency_us"]["read"]["p50"].real() > 20);
    CHECK(said.report["sim_seconds"].real() * said.report["iops"].real() == Approx(2048));
    CHECK(said.errors.empty());
}

TEST_CASE("a mixed load through the file system reads the flash where it has not just written", "[tools][bench]") {
    const Said said = bench(load("fs", "randrw"));
    CHECK(said.report["nand_read_pages"].real() > 0);
    CHECK(said.report["writes"].real() > 0);
}

TEST_CASE("a run of which more than one page read in a hundred holds nothing warns and names the remedy, and no other does", "[tools][bench]") {
    for (const char* level : {"device", "ftl"}) {
        CAPTURE(level);
        BenchOptions o = load(level, "randread");
        const Said empty = bench(o);
        CHECK(empty.report["nand_read_pages"].real() == 0);
        CHECK(empty.report["read_pages"].real() == 2048);
        CHECK(empty.report["unmapped_reads"].real() == 2048);
        CHECK_THAT(empty.errors,
                   ContainsSubstring("warning: 2048 of the 2048 pages that were read hold nothing") && ContainsSubstring("--precondition"));
        o.precondition = "fill:97";
        const Said some = bench(o);
        const double unmapped = some.report["unmapped_reads"].real();
        CHECK(unmapped > 20);
        CHECK(unmapped < 200);
        CHECK(some.report["nand_read_pages"].real() == 2048 - unmapped);
        CHECK_THAT(some.errors, ContainsSubstring(fmt::format("warning: {} of the 2048 pages", unmapped)));
        o.precondition = "fill:100";
        const Said full = bench(o);
        CHECK(full.errors.empty());
        CHECK(full.report["unmapped_reads"].real() <= 1); // a hundred hundredths of the bytes, in whole pages, may leave out the last page
        CHECK(bench(load(level, "randwrite")).errors.empty());
    }
}

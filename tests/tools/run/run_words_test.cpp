// What replay, bench and run say to people: each figure is one of the JSON report.
#include "tests/support/catch.h"

#include "tools/run/run_words.h"

using namespace flashlab;
using Catch::Matchers::StartsWith;

namespace {

Json bench_report(const std::string& more = "") {
    const auto parsed = Json::parse(R"({"trace":"bench","ftl":"dftl","preset":"tiny","requests":2000,"reads":500,"writes":1500,"trims":0,
        "host_read_bytes":2048000,"host_write_bytes":6144000,"unmapped_reads":0,"nand_program_pages":6135,"waf":4.09,"waf_user":0.82,"waf_gc":3.14,
        "waf_merge":0,"waf_map":0.131,"gc_page_copies":0,"merges":{"switch":0,"partial":0,"full":7},"cache":{"map_read_hits":3},"sim_seconds":2,
        "iops":1000,"channel_utilisation":[0.5,0.25],"latency_us":{"mean":9,"p50":100,"p95":200,"p99":18600,"p999":2500000,"max":3000000,
        "read":{"p50":null},"write":{"mean":9,"p50":100,"p95":200,"p99":18600,"p999":2500000,"max":3000000}})" +
                                    more + "}");
    return parsed.value();
}

} // namespace

TEST_CASE("the report of a run begins with what follows from it", "[run][words]") {
    const std::string text = shown_run(OutputFormat::table, bench_report());
    CHECK_THAT(text,
               StartsWith("dftl on tiny answered 2000 requests in 2 s of simulated time, 1000 a second.\n"
                          "Flash: 4.09 pages programmed for each page that the host wrote: 0.82 for itself, 3.14 for copies of collections, 0.13 for "
                          "the map.\n"
                          "Half of the requests took 100 us at most, 99 % 18.6 ms, 99.9 % 2.5 s; the slowest 3.0 s.\n"
                          "One of a thousand takes 25000 times the median. Why: "));
    CHECK_THAT(shown_run(OutputFormat::table, bench_report(R"(,"partial":true)")), StartsWith("Partial: the run was ended early"));
    CHECK(amplification_in_words(*Json::parse(R"({"host_write_bytes":0,"waf":0})")).empty());
}

TEST_CASE("the lines of a run have labels and units, and what did not happen has none", "[run][words]") {
    const std::string text = shown_run(OutputFormat::table, bench_report());
    for (const char* line : {"\nload\n", "  written   5.86 MiB\n", "  programmed             6135 pages\n", "  full  7\n",
                             "  writes        9 us  100 us  200 us", "  map read hits  3\n", "  busy 25.0 to 50.0 % of the time\n", "--json"})
        CHECK_THAT(text, ContainsSubstring(line));
    for (const char* absent : {"trims", "switch", "nothing is written", "  reads         ", "of merges", "copied", "null", "partition"})
        CHECK_THAT(text, !ContainsSubstring(absent));
}

TEST_CASE("programs read the report of a run as it is", "[run][words]") {
    CHECK(shown_run(OutputFormat::json, bench_report()) == bench_report().dump() + "\n");
    CHECK_THAT(shown_run(OutputFormat::csv, bench_report()), ContainsSubstring("\nlatency_us.p99,18600\n"));
}

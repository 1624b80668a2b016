/// What bench says of loads that read.
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

#include "tools/cli/command_line.h"
#include "tools/host/complaint.h"
#include "tools/log/sqlite.h"
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

Said said_to(const std::vector<std::string>& words, int ends_with = exit_done) {
    const Captured out{stdout}, err{stderr};
    const int code = run_words(words);
    const std::string errors = err.text();
    auto report = Json::parse(out.text());
    INFO(errors);
    REQUIRE(code == ends_with);
    REQUIRE(report.has_value());
    return {std::move(*report), errors};
}

/// 8 MiB of a load on a drive of 128 MiB without a write buffer.
Said bench(const std::string& level, const std::string& rw, const std::string& precondition = "") {
    std::vector<std::string> words{"bench", "--json",  "--size", "128M", "--io-size", "8M",    "--iodepth",
                                   "4",     "--level", level,    "--rw", rw,          "--ftl", "hftl"};
    if (!precondition.empty()) words.insert(words.end(), {"--precondition", precondition});
    return said_to(words);
}

/// Reads of single pages on a drive of one chip and one plane: each takes the same time.
Json one_chip(std::vector<std::string> words, const std::string& requests = "40000") {
    words.insert(words.begin(),
                 {"bench", "--json", "--preset", "tiny", "--ftl", "page_map", "--set", "nand.channels=1", "--set", "nand.planes_per_die=1", "--set",
                  "nand.blocks_per_plane=64", "--precondition", "fill:100", "--rw", "randread", "--bs", "4k"});
    if (!requests.empty()) words.insert(words.end(), {"--io-size", std::to_string(std::stoull(requests) * 4096)});
    return std::move(said_to(words).report);
}

/// Pollaczek and Khinchine, of a service that always takes the same time: the mean wait of a Poisson stream.
double wait_of_m_d_1(double utilisation, double service) { return utilisation * service / (2 * (1 - utilisation)); }

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
    CHECK_FALSE(said.errors.contains("hold nothing"));
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
        CHECK_FALSE(full.errors.contains("hold nothing"));
        CHECK(full.report["unmapped_reads"].real() <= 1); // a hundred hundredths of the bytes, in whole pages, may leave out the last page
        CHECK_FALSE(bench(level, "randwrite").errors.contains("hold nothing"));
    }
}

TEST_CASE("reads of an aged drive that fail are counted apart, the others have their figures, and the run is no success", "[tools][bench]") {
    const bool has_queues = GENERATE(false, true);
    CAPTURE(has_queues);
    std::vector<std::string> words{"bench",          "--json",
                                   "--size",         "64M",
                                   "--io-size",      "4M",
                                   "--rw",           "randread",
                                   "--precondition", "fill:100,age:365d",
                                   "--set",          "nand.cell_errors=tlc-72",
                                   "--set",          "nand.cycles_before=3000"};
    if (has_queues) words.insert(words.end(), {"--numjobs", "2"});
    const double all = has_queues ? 2048 : 1024;
    const Said said = said_to(words, exit_failed);
    const double failed = said.report["failed"]["requests"].real();
    CHECK(failed > 0);
    CHECK(said.report["requests"].real() == all - failed);
    CHECK(said.report["reads"].real() == all - failed);
    CHECK_THAT(said.report["failed"]["first"].text(), ContainsSubstring("uncorrectable data at sector"));
    CHECK_THAT(said.errors, ContainsSubstring(fmt::format("{} of {} requests failed", failed, all)));
    CHECK(said.report["sim_seconds"].real() * said.report["iops"].real() == Approx(all - failed));
    CHECK(said.report["host_read_bytes"].real() == 4096 * (all - failed));
    double of_queues = 0;
    for (const Json& queue : said.report["queues"].items()) of_queues += queue["requests"].real();
    if (has_queues) CHECK(of_queues == all - failed);
    words.back() = has_queues ? "1" : "nand.cycles_before=0";
    if (!has_queues) CHECK(said_to(words).report["failed"].is_null());
}

TEST_CASE("a Poisson stream waits for a drive of one chip as long as theory says of an M/D/1 queue", "[tools][bench]") {
    const double alone_us = one_chip({"--iodepth", "1"}, "1000")["latency_us"]["mean"].real();
    const double chip_us = 1e6 / one_chip({"--iodepth", "64"}, "4000")["iops"].real(); // what a read has the chip for
    CHECK(chip_us < alone_us);
    for (const double utilisation : {0.3, 0.6, 0.8}) {
        CAPTURE(utilisation);
        const auto rate_for = [&](double service_us) { return fmt::format("{:.0f}", utilisation * 1e6 / service_us); };
        // One command at a time: the drive as a whole serves. Who holds the others back does not matter: the host's depth, or the drive's slots.
        const Json by_depth = one_chip({"--rate-iops", rate_for(alone_us), "--rate-process", "poisson", "--iodepth", "1"});
        CHECK(by_depth["queues"].items().front()["waited_us"]["mean"].real() == Approx(wait_of_m_d_1(utilisation, alone_us)).epsilon(0.08));
        CHECK(by_depth["latency_us"]["mean"].real() == Approx(alone_us + wait_of_m_d_1(utilisation, alone_us)).epsilon(0.04));
        CHECK(by_depth["iops"].real() == Approx(utilisation * 1e6 / alone_us).epsilon(0.02));
        const Json by_slots =
            one_chip({"--rate-iops", rate_for(alone_us), "--rate-process", "poisson", "--iodepth", "65536", "--set", "host_link.slots=1"});
        CHECK(by_slots["latency_us"].dump() == by_depth["latency_us"].dump());
        // All at once: the chip serves, and link and firmware are passed meanwhile.
        const Json by_chip = one_chip({"--rate-iops", rate_for(chip_us), "--rate-process", "poisson", "--iodepth", "65536"});
        CHECK(by_chip["queues"].items().front()["waited_us"]["max"].real() == 0);
        CHECK(by_chip["latency_us"]["mean"].real() - alone_us == Approx(wait_of_m_d_1(utilisation, chip_us)).epsilon(0.08));
    }
}

TEST_CASE("a stream with equal gaps waits for nothing up to the drive's rate, and beyond it each latency has the whole backlog", "[tools][bench]") {
    const double alone_us = one_chip({"--iodepth", "1"}, "1000")["latency_us"]["mean"].real();
    const Json below = one_chip({"--rate-iops", fmt::format("{:.0f}", 0.97e6 / alone_us)}, "4000");
    CHECK(below["queues"].items().front()["waited_us"]["max"].real() == 0);
    CHECK(below["iops"].real() == Approx(0.97e6 / alone_us).epsilon(0.01));
    const Json twice = one_chip({"--rate", fmt::format("{:.0f}", 2e6 / alone_us * 4096)}, "4000");
    CHECK(twice["iops"].real() == Approx(1e6 / alone_us).epsilon(0.01));
    CHECK(twice["latency_us"]["max"].real() == Approx(4000 * alone_us / 2).epsilon(0.01)); // the last one: planned at half the time it was done
}

TEST_CASE("a load ends by time or by bytes, whichever comes first, and what is in flight then is answered", "[tools][bench]") {
    const Json alone = one_chip({"--iodepth", "1"}, "1000");
    const double alone_us = alone["latency_us"]["max"].real();
    REQUIRE(alone["latency_us"]["mean"].real() == Approx(alone_us)); // all the same, so that the cases can be counted by hand
    const auto requests = [&](double services, std::vector<std::string> more, const std::string& bytes = "") {
        more.insert(more.end(), {"--runtime", fmt::format("{:.3f}us", services * alone_us)});
        return one_chip(more, bytes)["requests"].real();
    };
    // One after the other, at 0, 1, 2 ... services: the last one is submitted before the end, and one that is due at the end is not.
    CHECK(requests(10, {"--iodepth", "1"}) == 10);
    CHECK(requests(10.5, {"--iodepth", "1"}) == 11);
    CHECK(requests(0.5, {"--iodepth", "64"}) == 64);
    CHECK(requests(10.5, {"--iodepth", "1"}, "7") == 7);
    CHECK(requests(3.5, {"--iodepth", "1"}, "7") == 4);
    // Queues, each with its own end. With one slot of the drive they take turns, and the last one submits alone.
    const std::string half = fmt::format("{:.3f}us", 10.5 * alone_us), whole = fmt::format("{:.3f}us", 20.5 * alone_us);
    const Json two = one_chip({"--set", "host_link.slots=1", "--set", "host_link.arbiter=round-robin", "--queue", "iodepth=1,runtime=" + half,
                               "--queue", "iodepth=1,runtime=" + whole},
                              "");
    CHECK(two["queues"].items()[0]["requests"].real() == 6);  // submitted at 0, then with each answer: 1, 3, 5, 7, 9 services
    CHECK(two["queues"].items()[1]["requests"].real() == 15); // at 0, 2, 4, 6, 8, 10, then 12, 13 ... 20
    // A rate: what is planned for the end or later is not submitted, nor what is due and finds no room before the end.
    CHECK(requests(95, {"--rate-iops", fmt::format("{:.0f}", 0.1e6 / alone_us)}) == 10);
    CHECK(requests(10.5, {"--rate-iops", fmt::format("{:.0f}", 2e6 / alone_us)}) == 11);
    const Json of_a_file = std::move(said_to({"bench", "--json", "--size", "128M", "--level", "fs", "--rw", "randread", "--runtime", "20ms"}).report);
    CHECK(of_a_file["requests"].real() > 10);
    CHECK(of_a_file["sim_seconds"].real() == Approx(0.02).epsilon(0.05));
}

TEST_CASE("a read alone on an imported drive takes what its times add up to, and its planes take turns", "[tools][bench]") {
    const TemporaryDirectory t;
    std::ofstream{t / "ssd.xml"}
        << "<Execution_Parameter_Set><Host_Parameter_Set><PCIe_Lane_Bandwidth>1</PCIe_Lane_Bandwidth>"
           "<PCIe_Lane_Count>4</PCIe_Lane_Count></Host_Parameter_Set><Device_Parameter_Set>"
           "<Ideal_Mapping_Table>true</Ideal_Mapping_Table><Flash_Channel_Count>1</Flash_Channel_Count>"
           "<Chip_No_Per_Channel>1</Chip_No_Per_Channel><Channel_Transfer_Rate>333</Channel_Transfer_Rate>"
           "<Overprovisioning_Ratio>0.3</Overprovisioning_Ratio><Flash_Parameter_Set><Flash_Technology>MLC</Flash_Technology>"
           "<Page_Read_Latency_LSB>75000</Page_Read_Latency_LSB><Page_Read_Latency_MSB>75000</Page_Read_Latency_MSB>"
           "<Page_Program_Latency_LSB>750000</Page_Program_Latency_LSB><Block_Erase_Latency>3800000</Block_Erase_Latency>"
           "<Die_No_Per_Chip>1</Die_No_Per_Chip><Plane_No_Per_Die>2</Plane_No_Per_Die><Block_No_Per_Plane>64</Block_No_Per_Plane>"
           "<Page_No_Per_Block>64</Page_No_Per_Block><Page_Capacity>8192</Page_Capacity></Flash_Parameter_Set>"
           "</Device_Parameter_Set></Execution_Parameter_Set>";
    {
        const Captured out{stdout};
        REQUIRE(run_words({"import", "mqsim", t / "ssd.xml", "-o", t / "mine"}) == exit_done);
    }
    const auto reads = [&](const std::string& depth) {
        return std::move(said_to({"bench", "--json", "--config", t / "mine" / "device.toml", "--rw", "randread", "--bs", "4k", "--io-size", "4M",
                                  "--precondition", "fill:100", "--iodepth", depth})
                             .report);
    };
    // Command 0.1 us, cells 75, half a page over the bus at 3.003 ns a byte, over the link at 0.25 ns a byte; its overhead is 1 ns.
    CHECK(reads("1")["latency_us"]["mean"].real() == Approx(0.1 + 75 + 4.096 * 3.003 + 4.096 * 0.25 + 0.001).epsilon(0.0001));
    CHECK(reads("16")["iops"].real() < 1e6 / 75); // one die: cells of one plane at a time
}

TEST_CASE("a rate is of reads and of writes, each, and moves no address", "[tools][bench]") {
    const auto mixed = [](const std::string& rate, const std::string& queue = "") {
        std::vector<std::string> words{"bench",     "--json", "--size", "128M",   "--io-size",   "16M",
                                       "--iodepth", "256",    "--rw",   "randrw", "--rate-iops", rate};
        if (!queue.empty()) words.insert(words.end(), {"--queue", queue});
        return std::move(said_to(words).report);
    };
    const Json each = mixed("1000");
    CHECK(each["reads"].real() == 2048);
    CHECK(each["writes"].real() == 2048);
    CHECK(each["iops"].real() == Approx(2000).epsilon(0.01));
    const Json both = mixed("3000,1000");
    CHECK(both["reads"].real() == 3072);
    CHECK(both["iops"].real() == Approx(4000).epsilon(0.01));
    const Json of_queue = mixed("1000", "rate-iops=3000:1000");
    CHECK(of_queue["latency_us"].dump() == both["latency_us"].dump());
    const Json other_gaps = [] {
        return std::move(said_to({"bench", "--json", "--size", "128M", "--io-size", "16M", "--iodepth", "256", "--rw", "randwrite", "--rate-iops",
                                  "1000", "--rate-process", "poisson", "--level", "ftl"})
                             .report);
    }();
    CHECK(other_gaps["seed"].real() == 1);
    CHECK(other_gaps["iops"].real() == Approx(1000).epsilon(0.05));
}

TEST_CASE("jobs are queues of one load, each with addresses of its own", "[tools][bench]") {
    const TemporaryDirectory t;
    const std::vector<std::string> words{"bench", "--json", "--size", "128M", "--io-size", "4M", "--rw", "randwrite"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), words.begin(), words.end());
        return std::move(said_to(more).report);
    };
    const Json jobs = with({"--numjobs", "3", "--events", t / "jobs.db"});
    CHECK(jobs["writes"].real() == 3 * 1024);
    REQUIRE(jobs["queues"].items().size() == 3);
    for (const Json& queue : jobs["queues"].items()) CHECK(queue["requests"].real() == 1024);
    CHECK(with({"--queue", "numjobs=3"})["queues"].dump() == jobs["queues"].dump());
    auto log = SqliteConnection::open(t / "jobs.db", SqliteAccess::read_only);
    REQUIRE(log.has_value());
    CHECK(log->number("SELECT count(DISTINCT queue) FROM host_request") == 3);
    CHECK(log->number("SELECT count(DISTINCT first_sector) > 2500 FROM host_request") == 1);
}

/// Job files of fio: what becomes of each setting, and what is wrong where.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "tests/support/catch.h"
#include "tests/tools/imports/import_file.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// A job file of one job.
Imported fio_job(const std::string& settings) {
    const ImportFile file{"job.fio", "[a]\n" + settings};
    auto imported = import_fio(file.path);
    if (!imported) FAIL(imported.error());
    return std::move(*imported);
}

} // namespace

TEST_CASE("jobs of fio are queues that run together until a stonewall; sizes that are split are a queue each", "[imports]") {
    const ImportFile file{
        "job.fio", "; a comment\n[global]\nioengine=libaio\ndirect=1\nbs=8k\nsize=16m\n\n[reader]\nrw=randread\niodepth=16\nnumjobs=4\n"
                   "rate_iops=500,200\nrate_process=poisson\n[writer]\nrw=randwrite\nbssplit=4k/75:64k/25\niodepth=4\n"
                   "random_distribution=zoned:80/20:20/80\n[last]\nstonewall\nruntime=30\nreadwrite=randrw\nrwmixwrite=30\nbs=4k,8k\nwhat=ever\n"};
    const auto imported = import_fio(file.path);
    REQUIRE(imported.has_value());
    CHECK(imported->keys.empty());
    REQUIRE(imported->loads.size() == 2);
    CHECK(imported->loads[0].command ==
          std::vector<std::string>{"bench", "--queue", "rw=randread,bs=8192,iodepth=16,io-size=16777216,numjobs=4,rate-iops=500,rate-process=poisson",
                                   "--queue", "rw=randwrite,bs=4096,iodepth=3,io-size=2649034", "--queue",
                                   "rw=randwrite,bs=65536,iodepth=1,io-size=14128181", "--random-distribution", "hotspot:0.2,0.8"});
    CHECK(imported->loads[1].command ==
          std::vector<std::string>{"bench", "--queue", "rw=randrw,bs=4096,iodepth=1,io-size=16777216,runtime=30,rwmixread=70"});
    REQUIRE(note_of(*imported, "bs") != nullptr);
    CHECK(note_of(*imported, "bs")->kind == ImportKind::nearly);
    CHECK(note_of(*imported, "what")->what == "not known");
    CHECK(note_of(*imported, "ioengine") != nullptr);
    CHECK(note_of(*imported, "runtime") == nullptr); // taken, in the note of its job
    CHECK(note_of(*imported, "direct")->kind == ImportKind::left_out);
}

TEST_CASE("a job's runtime ends its load with its bytes, or alone where it is time_based or has no size", "[imports]") {
    const auto queue = [](const std::string& settings) {
        const ImportFile file{"job.fio", "[a]\nrw=randread\nioengine=libaio\n" + settings};
        const auto imported = import_fio(file.path);
        REQUIRE(imported.has_value());
        CHECK(note_of(*imported, "time_based") == nullptr);
        return imported->loads.at(0).command.at(2);
    };
    CHECK(queue("size=1m\nruntime=20ms\n") == "rw=randread,bs=4096,iodepth=1,io-size=1048576,runtime=20ms");
    CHECK(queue("size=1m\nruntime=2m\ntime_based\n") == "rw=randread,bs=4096,iodepth=1,runtime=2m");
    CHECK(queue("runtime=5s\n") == "rw=randread,bs=4096,iodepth=1,runtime=5s");
    CHECK(queue("time_based\nsize=1m\n") == "rw=randread,bs=4096,iodepth=1,io-size=1048576"); // fio refuses it: nothing would end it
    CHECK(error_in("[a]\nruntime=soon\n", import_fio).starts_with(":2:1: runtime=soon: 'soon' is not a time"));
}

TEST_CASE("sizes that are split get fio's shares of the requests; what else stands behind a setting is told", "[imports]") {
    const ImportFile file{"job.fio", "[a]\nrw=randrw:8\nbssplit=4k/50:64k/50,8k/100\nsize=64m\nrate=8m\nrandom_distribution=zipf:1.2:0.3\n[b]\n"
                                     "rate_iops=0\ntime_based=1\nruntime=10\nsize=1m\n"};
    const auto imported = import_fio(file.path);
    REQUIRE(imported.has_value());
    REQUIRE(imported->loads.size() == 1);
    const std::vector<std::string>& command = imported->loads[0].command;
    const auto number_of = [&](std::size_t queue, const std::string& key) {
        const auto at = command.at(queue).find("," + key + "=");
        return at == std::string::npos ? 0.0 : std::stod(command[queue].substr(at + key.size() + 2));
    };
    for (const char* key : {"io-size", "rate"}) CHECK(number_of(4, key) / 65536 == Approx(number_of(2, key) / 4096).epsilon(0.001));
    CHECK(number_of(2, "io-size") + number_of(4, "io-size") == Approx(64 << 20).margin(2));
    CHECK(command.at(6) == "rw=read,bs=4096,iodepth=1,runtime=10");
    CHECK(command.back() == "zipf:1.2"); // with a center, fio does not scatter
    for (const char* setting : {"rw", "bssplit", "random_distribution", "size"}) {
        CAPTURE(setting);
        CHECK(note_of(*imported, setting) != nullptr);
    }
    CHECK(error_in("[a]\nrw=rw\nrate_iops=0,5\n", import_fio).starts_with(":3:1: rate_iops=0,5: a limit for reads or writes alone"));
    CHECK(error_in("[a]\nrw=rw\nrate=,5\n", import_fio).starts_with(":3:1: rate=,5: a limit for reads or writes alone"));
}

TEST_CASE("a job's limit is that of what it does; a share of its size is taken where the size is known", "[imports]") {
    const auto queue = [](const std::string& settings) {
        const ImportFile file{"job.fio", "[a]\n" + settings};
        const auto imported = import_fio(file.path);
        REQUIRE(imported.has_value());
        for (const ImportNote& note : imported->notes) CHECK(note.what != "not known");
        return imported->loads.at(0).command.at(2);
    };
    CHECK(queue("rw=write\nsize=1m\nrate=1m,2m\n") == "rw=write,bs=4096,iodepth=1,io-size=1048576,rate=2097152");
    CHECK(queue("rw=write\nsize=1m\nrate=,2m\n") == "rw=write,bs=4096,iodepth=1,io-size=1048576,rate=2097152");
    CHECK(queue("rw=read\nsize=1m\nrate=,2m\n") == "rw=read,bs=4096,iodepth=1,io-size=1048576");
    CHECK(queue("rw=rw\nsize=1m\nrate_iops=9,8,7\n") == "rw=rw,bs=4096,iodepth=1,io-size=1048576,rate-iops=9:8");
    CHECK(queue("rw=rw\nsize=1m\nrate_iops=9\n") == "rw=rw,bs=4096,iodepth=1,io-size=1048576,rate-iops=9");
    CHECK(queue("rw=read\nsize=1m\nrate=1m\nrate_iops=9\n") == "rw=read,bs=4096,iodepth=1,io-size=1048576,rate=1048576"); // as fio has it
    CHECK(queue("size=1m\nio_size=25%\n") == "rw=read,bs=4096,iodepth=1,io-size=262144");
    CHECK(queue("size=25%\nruntime=5s\n") == "rw=read,bs=4096,iodepth=1,runtime=5s");
    CHECK(queue("size=25%\nio_size=50%\n") == "rw=read,bs=4096,iodepth=1,io-size=1073741824");
    CHECK(error_in("[a]\nsize=0%\n", import_fio).starts_with(":2:1: size=0%: wanted: 1% to 100%"));
}

TEST_CASE("a depth that is split between sizes is rounded, and is one at least", "[imports]") {
    const ImportFile file{"job.fio", "[writer]\nioengine=libaio\nrw=randwrite\nbssplit=4k/50:64k/45:1m/5\niodepth=3\nsize=1m\n"};
    const auto imported = import_fio(file.path);
    REQUIRE(imported.has_value());
    REQUIRE(imported->loads.size() == 1);
    const std::vector<std::string>& command = imported->loads[0].command;
    REQUIRE(command.size() == 7);
    CHECK(command[2].find("iodepth=2,") != std::string::npos);
    CHECK(command[4].find("iodepth=1,") != std::string::npos); // 1.35
    CHECK(command[6].find("iodepth=1,") != std::string::npos); // 0.15
}

TEST_CASE("the largest numbers of a job file stay what they are", "[imports]") {
    const std::string most = "18446744073709551615";
    const ImportFile file{"job.fio", "[reader]\nioengine=libaio\nrw=randread\nsize=" + most + "\niodepth=" + most + "\nrate=" + most + "\n"};
    const auto imported = import_fio(file.path);
    REQUIRE(imported.has_value());
    REQUIRE(imported->loads.size() == 1);
    CHECK(imported->loads[0].command ==
          std::vector<std::string>{"bench", "--queue", "rw=randread,bs=4096,iodepth=" + most + ",io-size=" + most + ",rate=" + most});
}

TEST_CASE("what is wrong in a job file is told with its line and column; a job of trims is left out and said", "[imports]") {
    const auto error = [](const std::string& text) { return error_in(text, import_fio); };
    CHECK(error("[a]\n  bs=4x\n").starts_with(":2:3: bs=4x: "));
    CHECK(error("rw=read\n") == ":1:1: rw stands before any [job]");
    CHECK(error("[a\n") == ":1:1: a job's name is [NAME]");
    CHECK(error("[a]\nsize=${SIZE}\n") == ":2:1: size: a variable; write its value");
    CHECK(error("[global]\nbs=4k\n") == ":2:1: no [job] in it");
    CHECK(error("[a]\nbssplit=4k/0\n").starts_with(":2:1: bssplit=4k/0: wanted: SIZE/PERCENT:SIZE/PERCENT"));
    CHECK(error("[a]\nrandom_distribution=zoned:x\n").starts_with(":2:1: random_distribution=zoned:x: wanted"));
    const ImportFile pipe{"job.fio", ""};
    std::filesystem::remove(pipe.path);
    REQUIRE(::mkfifo(pipe.path.c_str(), 0600) == 0);
    CHECK(error_of(import_fio(pipe.path)) == pipe.path + ": is a FIFO, no regular file"); // and does not wait for a writer
    const ImportFile trims{"job.fio", "[a]\nrw=randtrim\n"};
    const auto imported = import_fio(trims.path);
    REQUIRE(imported.has_value());
    CHECK(imported->loads.empty());
    REQUIRE(note_of(*imported, "job a") != nullptr);
    CHECK(note_of(*imported, "job a")->kind == ImportKind::left_out);
}

TEST_CASE("fio's numbers are read as fio reads them", "[imports]") {
    const auto queue = [](const std::string& settings) { return fio_job(settings).loads.at(0).command.at(2); };
    CHECK(queue("bs=4kb\nsize=16mb\n") == "rw=read,bs=4096,iodepth=1,io-size=16777216");
    CHECK(queue("bs=512kib\nsize=0x100000\n") == "rw=read,bs=512000,iodepth=1,io-size=1048576"); // of the old scripts: kib is 1000
    CHECK(queue("kb_base=1000\nbs=4kib\nsize=1m\n") == "rw=read,bs=4096,iodepth=1,io-size=1000000");
    CHECK(queue("size=1.5g\n") == "rw=read,bs=4096,iodepth=1,io-size=1610612736");
    for (const auto& [fios, ours] : {std::pair{"30min", "30m"}, {"1d", "24h"}, {"10S", "10s"}, {"500msec", "500ms"}, {"7usec", "7us"}})
        CHECK(queue(fmt::format("runtime={}\ntime_based\n", fios)) == fmt::format("rw=read,bs=4096,iodepth=1,runtime={}", ours));
    CHECK(note_of(fio_job("runtime=30min\n"), "runtime")->kind == ImportKind::nearly);
    CHECK(error_in("[a]\nsize=4x\n", import_fio).starts_with(":2:1: size=4x: '4x' is not a size: write a number"));
    CHECK(error_in("[a]\nbs=1000\n", import_fio).starts_with(":2:1: bs=1000: 1000 bytes: a multiple of 512 is wanted"));
    CHECK(error_in("[a]\nbssplit=1k/50:700/50\n", import_fio).find(":2:1: bssplit=1k/50:700/50: 700 bytes") == 0);
}

TEST_CASE("of fio's lists the job gets what is for its direction", "[imports]") {
    const auto bs_of = [](const std::string& settings) {
        const std::string queue = fio_job(settings).loads.at(0).command.at(2);
        return queue.substr(queue.find("bs="), queue.find(",iodepth") - queue.find("bs="));
    };
    CHECK(bs_of("rw=randwrite\nbs=4k,64k\n") == "bs=65536");
    CHECK(bs_of("rw=randread\nbs=4k,64k\n") == "bs=4096");
    CHECK(bs_of("rw=write\nbs=,8k\n") == "bs=8192");
    CHECK(bs_of("rw=write\nbs=8k,\n") == "bs=4096"); // fio's own
    CHECK(bs_of("rw=randwrite\nbssplit=4k/100,64k/100\n") == "bs=65536");
    CHECK(bs_of("bs=4k\nbsrange=64k-64k\n") == "bs=65536");
    CHECK(bs_of("bsrange=4k-64k\n") == "bs=32768");
    const Imported mix = fio_job("rw=randrw\nbs=4k,64k\n");
    REQUIRE(note_of(mix, "bs") != nullptr);
    CHECK(note_of(mix, "bs")->what == "one for reads and writes, that of reads: 4k");
}

TEST_CASE("shares that are blank or missing are those that fio gives, and more than all is refused", "[imports]") {
    const auto sizes = [](const std::string& split) {
        std::vector<std::string> out;
        const Imported job = fio_job("size=100m\nioengine=libaio\niodepth=100\nbssplit=" + split + "\n");
        for (std::size_t i = 2; i < job.loads.at(0).command.size(); i += 2) {
            const std::string& queue = job.loads[0].command[i];
            out.push_back(queue.substr(queue.find("bs="), queue.find(",io-size") - queue.find("bs=")));
        }
        return out;
    };
    CHECK(sizes("4k/50:8k/:16k/") == std::vector<std::string>{"bs=4096,iodepth=50", "bs=8192,iodepth=25", "bs=16384,iodepth=25"});
    CHECK(sizes("4k/10:8k/10") == std::vector<std::string>{"bs=4096,iodepth=10", "bs=8192,iodepth=90"});
    CHECK(error_in("[a]\nbssplit=4k/90:8k/90\n", import_fio).starts_with(":2:1: bssplit=4k/90:8k/90: wanted"));
    const Imported timed = fio_job("bssplit=4k/90:1m/10\ntime_based\nruntime=1\n");
    REQUIRE(note_of(timed, "bssplit") != nullptr);
    CHECK(note_of(timed, "bssplit")->what.find("2 together; while the time runs each sends what it can") != std::string::npos);
    CHECK(fio_job("rw=randread\nrandom_distribution=zoned:60/:40/\n").loads.at(0).command.back() == "hotspot:0.5,0.6");
    CHECK(error_in("[a]\nrandom_distribution=zoned:60/10G:40/90\n", import_fio).find("wanted: zoned:ACCESSES/SPACE") != std::string::npos);
    const Imported absolute = fio_job("rw=randread\nrandom_distribution=zoned_abs:60/20G:30/100G:10/500G\n");
    CHECK(absolute.loads.at(0).command.size() == 3);
    REQUIRE(note_of(absolute, "random_distribution") != nullptr);
    CHECK(note_of(absolute, "random_distribution")->kind == ImportKind::left_out);
}

TEST_CASE("of two settings that say the same the job's own counts, and of its own the later", "[imports]") {
    const auto mix = [](const std::string& text) {
        const ImportFile file{"job.fio", text};
        const auto imported = import_fio(file.path);
        REQUIRE(imported.has_value());
        const std::string& queue = imported->loads.at(0).command.at(2);
        return queue.substr(queue.find("rwmixread"));
    };
    CHECK(mix("[global]\nrwmixread=70\n[a]\nrw=randrw\nrwmixwrite=90\n") == "rwmixread=10");
    CHECK(mix("[a]\nrw=randrw\nrwmixwrite=90\nrwmixread=70\n") == "rwmixread=70");
    CHECK(error_in("[a]\nrw=rw\nrwmixwrite=101\n", import_fio).starts_with(":3:1: rwmixwrite=101: wanted: a percentage"));
    CHECK(fio_job("size=1m\nio_limit=8m\ntimeout=5\n").loads.at(0).command.at(2) == "rw=read,bs=4096,iodepth=1,io-size=8388608,runtime=5");
    for (const char* engine : {"pvsync2", "psync", "splice", "libpmem"}) {
        CAPTURE(engine);
        CHECK(fio_job(fmt::format("iodepth=32\nioengine={}\n", engine)).loads.at(0).command.at(2).find("iodepth=1,") != std::string::npos);
    }
    for (const char* engine : {"libaio", "gfapi_async", "io_uring"})
        CHECK(fio_job(fmt::format("iodepth=32\nioengine={}\n", engine)).loads.at(0).command.at(2).find("iodepth=32,") != std::string::npos);
}

TEST_CASE("NAME=0 of fio's is not set, and a random map that a load has not is told", "[imports]") {
    const ImportFile file{"job.fio", "[a]\nsize=1m\n[b]\nstonewall=0\nsize=1m\nruntime=1\ntime_based=0\n[c]\nstonewall\nsize=1m\n"};
    const auto imported = import_fio(file.path);
    REQUIRE(imported.has_value());
    REQUIRE(imported->loads.size() == 2);
    CHECK(imported->loads[0].command.at(4) == "rw=read,bs=4096,iodepth=1,io-size=1048576,runtime=1");
    CHECK(error_in("[a]\nstonewall=x\n", import_fio).starts_with(":2:1: stonewall=x: wanted: 0 or 1"));
    CHECK(note_of(fio_job("rw=randread\nnorandommap\n"), "norandommap")->kind == ImportKind::taken);
    REQUIRE(note_of(fio_job("rw=randread\n"), "norandommap") != nullptr);
    CHECK(note_of(fio_job("rw=randread\n"), "norandommap")->kind == ImportKind::nearly);
    CHECK(note_of(fio_job("rw=read\n"), "norandommap") == nullptr);
}

TEST_CASE("a job file's comments, blanks and variables are fio's; what would lose a job is refused", "[imports]") {
    const ImportFile file{"job.fio",
                          "# c\n[global] ; of all\nioengine=null\n[a] ; first\nrw = randread ; c\nsize=1m # c\nnumjobs=4 ; threads\nbs=8k;x\n"
                          "filename_format=$jobname.$jobnum\n"};
    const auto imported = import_fio(file.path);
    REQUIRE(imported.has_value());
    CHECK(imported->loads.at(0).command.at(2) == "rw=randread,bs=8192,iodepth=1,io-size=1048576,numjobs=4");
    CHECK(note_of(*imported, "filename_format")->kind == ImportKind::left_out);
    CHECK(error_in("[a]\nrw=randwritee\n", import_fio) == ":2:1: rw=randwritee: known are read, write, randread, randwrite, rw, randrw");
    CHECK(error_in("[global]\n  include inc.fio\n[a]\n", import_fio).starts_with(":2:3: include: write here what stands in that file"));
    CHECK(error_in("include inc.fio\n[a]\n", import_fio).starts_with(":1:1: include: "));
}

TEST_CASE("settings of all jobs are kept and told once, and a group of too many jobs ends the reading", "[imports]") {
    std::string text = "[global]\nbs=8k\n";
    for (int i = 0; i < 1000; ++i) text += fmt::format("o{}=1\n", i);
    const ImportFile two{"job.fio", text + "[a]\nbs=4k\n[b]\nstonewall\n"};
    const auto imported = import_fio(two.path);
    REQUIRE(imported.has_value());
    CHECK(imported->loads.at(1).command.at(2).starts_with("rw=read,bs=8192,"));
    CHECK(std::ranges::count(imported->notes, "o7", &ImportNote::setting) == 1);
    CHECK(note_of(*imported, "bs") == nullptr);
    std::string jobs;
    for (int i = 0; i < 1000; ++i) jobs += fmt::format("[a_rather_long_name_{}]\n", i);
    CHECK(error_in(jobs, import_fio).starts_with(":257:1: job=a_rather_long_name_256: more than 256 queues"));
    const ImportFile most{"job.fio", jobs.substr(0, jobs.find("[a_rather_long_name_256]"))};
    const auto long_one = import_fio(most.path);
    REQUIRE(long_one.has_value());
    CHECK(long_one->loads.at(0).title.size() < 150 + most.path.size());
}

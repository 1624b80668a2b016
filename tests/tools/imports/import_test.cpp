/// Configurations of other tools: what becomes of each setting, and what is wrong where.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/ranges.h>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tools/imports/imported.h"

using namespace flashlab;
using ImportKind = ImportNote::Kind;

namespace {

struct ImportFile {
    test::TemporaryDirectory directory;
    std::string path;
    ImportFile(const std::string& name, const std::string& text) : path{(directory.path() / name).string()} { std::ofstream{path} << text; }
};

std::string key_of(const Imported& imported, std::string_view key) {
    std::string value = "none";
    for (const auto& [name, of] : imported.keys)
        if (name == key) value = of;
    return value;
}

const ImportNote* note_of(const Imported& imported, std::string_view setting) {
    const auto found = std::ranges::find(imported.notes, setting, &ImportNote::setting);
    return found == imported.notes.end() ? nullptr : &*found;
}

std::string ssd_xml(const std::string& of_device, const std::string& of_flash) {
    return "<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n<Execution_Parameter_Set>\n<Host_Parameter_Set>\n"
           "<PCIe_Lane_Bandwidth>1.000000</PCIe_Lane_Bandwidth>\n<PCIe_Lane_Count>4</PCIe_Lane_Count>\n</"
           "Host_Parameter_Set>\n<Device_Parameter_Set>\n" +
           of_device + "<Flash_Parameter_Set>\n" + of_flash + "</Flash_Parameter_Set>\n</Device_Parameter_Set>\n</Execution_Parameter_Set>\n";
}

std::string error_of(const std::expected<Imported, std::string>& imported) { return imported ? "" : imported.error(); }

/// What `import` says of a file with this text, without the file's name at its begin.
template <class Import>
std::string error_in(const std::string& text, const Import& import) {
    const ImportFile file{"wrong", text};
    const std::string said = error_of(import(file.path));
    return said.starts_with(file.path) ? said.substr(file.path.size()) : said;
}

} // namespace

TEST_CASE("a drive of MQSim's has the same geometry, times and rates here, and what has no counterpart is said", "[imports]") {
    const ImportFile file{"ssd.xml",
                          ssd_xml("<Flash_Channel_Count>8</Flash_Channel_Count><Chip_No_Per_Channel>4</Chip_No_Per_Channel>\n"
                                  "<Channel_Transfer_Rate>333</Channel_Transfer_Rate><Flash_Channel_Width>1</Flash_Channel_Width>\n"
                                  "<Queue_Fetch_Size>512</Queue_Fetch_Size><Overprovisioning_Ratio>0.127</Overprovisioning_Ratio>\n"
                                  "<Ideal_Mapping_Table>true</Ideal_Mapping_Table><CMT_Capacity>2097152</CMT_Capacity>\n"
                                  "<GC_Block_Selection_Policy>FIFO</GC_Block_Selection_Policy><GC_Exec_Threshold>0.05</GC_Exec_Threshold>\n"
                                  "<Colour>red</Colour>\n",
                                  "<Flash_Technology>TLC</Flash_Technology><Page_Read_Latency_LSB>50000</Page_Read_Latency_LSB>\n"
                                  "<Page_Read_Latency_CSB>60000</Page_Read_Latency_CSB><Page_Read_Latency_MSB>70000</Page_Read_Latency_MSB>\n"
                                  "<Page_Program_Latency_LSB>500000</Page_Program_Latency_LSB>\n"
                                  "<Page_Program_Latency_CSB>600000</Page_Program_Latency_CSB>\n"
                                  "<Page_Program_Latency_MSB>1000000</Page_Program_Latency_MSB>\n"
                                  "<Die_No_Per_Chip>2</Die_No_Per_Chip><Page_Capacity>8192</Page_Capacity>\n"
                                  "<CMD_Suspension_Support>PROGRAM_ERASE</CMD_Suspension_Support>\n")};
    const auto imported = import_mqsim(file.path, "");
    REQUIRE(imported.has_value());
    for (const auto& [key, value] : std::vector<std::pair<const char*, const char*>>{{"nand.channels", "8"},
                                                                                     {"nand.chips_per_channel", "4"},
                                                                                     {"nand.dies_per_chip", "2"},
                                                                                     {"nand.independent_planes", "0"},
                                                                                     {"nand.page_bytes", "8192"},
                                                                                     {"nand.cell", "tlc"},
                                                                                     {"nand.page_read_ns", "60000"},
                                                                                     {"nand.page_program_ns", "700000"},
                                                                                     {"nand.lsb_program_ns", "500000"},
                                                                                     {"nand.csb_program_ns", "600000"},
                                                                                     {"nand.msb_program_ns", "1000000"},
                                                                                     {"nand.bus_ps_per_byte", "3003"},
                                                                                     {"nand.erase_suspends", "1"},
                                                                                     {"nand.program_suspends", "1"},
                                                                                     {"host_link.ps_per_byte", "250"},
                                                                                     {"host_link.slots", "512"},
                                                                                     {"ftl.reserved_permille", "127"},
                                                                                     {"ftl.scheme", "page_map"},
                                                                                     {"ftl.mapping_cache_bytes", "none"},
                                                                                     {"ftl.victim", "fifo"}}) {
        CAPTURE(key);
        CHECK(key_of(*imported, key) == value);
    }
    REQUIRE(note_of(*imported, "GC_Exec_Threshold") != nullptr);
    CHECK(note_of(*imported, "GC_Exec_Threshold")->kind == ImportKind::left_out);
    REQUIRE(note_of(*imported, "Colour") != nullptr);
    CHECK(note_of(*imported, "Colour")->what == "not known");
    const auto reads_differ =
        std::ranges::count_if(imported->notes, [](const ImportNote& n) { return n.kind == ImportKind::nearly && n.setting == "Page_Read_Latency"; });
    CHECK(reads_differ == 1);
    CHECK(device_toml(*imported, "x").find("[nand]\n") != std::string::npos);
}

TEST_CASE("cells of two bits have no middle page, whatever a file says of its times", "[imports]") {
    const ImportFile file{"ssd.xml",
                          ssd_xml("", "<Flash_Technology>MLC</Flash_Technology><Page_Read_Latency_LSB>75000</Page_Read_Latency_LSB>"
                                      "<Page_Read_Latency_CSB>0</Page_Read_Latency_CSB><Page_Read_Latency_MSB>75000</Page_Read_Latency_MSB>"
                                      "<Page_Program_Latency_LSB>700000</Page_Program_Latency_LSB>"
                                      "<Page_Program_Latency_CSB>0</Page_Program_Latency_CSB>"
                                      "<Page_Program_Latency_MSB>800000</Page_Program_Latency_MSB>")};
    const auto imported = import_mqsim(file.path, "");
    REQUIRE(imported.has_value());
    CHECK(key_of(*imported, "nand.page_read_ns") == "75000");
    CHECK(key_of(*imported, "nand.page_program_ns") == "750000");
    CHECK(key_of(*imported, "nand.lsb_program_ns") == "700000");
    CHECK(key_of(*imported, "nand.csb_program_ns") == "none");
    CHECK(
        std::ranges::none_of(imported->notes, [](const ImportNote& n) { return n.setting == "Page_Read_Latency" && n.kind == ImportKind::nearly; }));
}

TEST_CASE("MQSim's flows of one scenario are queues of one run, its traces are replayed, in its own order", "[imports]") {
    const ImportFile drive{"ssd.xml", ssd_xml("", "<Flash_Technology>SLC</Flash_Technology>")};
    const ImportFile file{
        "workload.xml",
        "<MQSim_IO_Scenarios><IO_Scenario>\n"
        "<IO_Flow_Parameter_Set_Synthetic><Priority_Class>URGENT</Priority_Class><Read_Percentage>100</Read_Percentage>\n"
        "<Address_Distribution>STREAMING</Address_Distribution><Average_Request_Size>16</Average_Request_Size>\n"
        "<Average_No_of_Reqs_in_Queue>4</Average_No_of_Reqs_in_Queue><Initial_Occupancy_Percentage>70</Initial_Occupancy_Percentage>\n"
        "<Total_Requests_To_Generate>100</Total_Requests_To_Generate></IO_Flow_Parameter_Set_Synthetic>\n"
        "<IO_Flow_Parameter_Set_Synthetic><Priority_Class>LOW</Priority_Class><Read_Percentage>30</Read_Percentage>\n"
        "<Address_Distribution>RANDOM_HOTCOLD</Address_Distribution><Percentage_of_Hot_Region>20</Percentage_of_Hot_Region>\n"
        "<Synthetic_Generator_Type>BANDWIDTH</Synthetic_Generator_Type><Intensity>1000000</Intensity>\n"
        "<Stop_Time>2000000000</Stop_Time></IO_Flow_Parameter_Set_Synthetic>\n"
        "</IO_Scenario><IO_Scenario><IO_Flow_Parameter_Set_Trace_Based><File_Path>traces\\a.trace</File_Path>\n"
        "</IO_Flow_Parameter_Set_Trace_Based></IO_Scenario></MQSim_IO_Scenarios>\n"};
    const auto imported = import_mqsim(drive.path, file.path);
    REQUIRE(imported.has_value());
    REQUIRE(imported->loads.size() == 2);
    CHECK(imported->loads[0].command ==
          std::vector<std::string>{"bench", "--queue", "rw=read,bs=8192,priority=urgent,iodepth=4,io-size=819200", "--queue",
                                   "rw=randrw,bs=4096,priority=low,rwmixread=30,rate=1000000,rate-process=poisson,runtime=2000000us",
                                   "--random-distribution", "hotspot:0.2,0.8", "--precondition", "fill:70"});
    CHECK(imported->loads[1].command == std::vector<std::string>{"replay", "traces/a.trace", "--format", "mqsim"});
    const std::string script = load_script(*imported, file.path, "device.toml");
    CHECK(script.find("${FLASHLAB:-flashlab} 'bench' --config 'device.toml' '--queue'") != std::string::npos);
}

TEST_CASE("words of MQSim's are read in any case and either order; one that is not known is refused, and no container vanishes", "[imports]") {
    const ImportFile drive{"ssd.xml", ssd_xml("<Bogus_Set><Extra>5</Extra></Bogus_Set>", "<Flash_Technology>slc</Flash_Technology>"
                                                                                         "<Flash_Technology>TLC</Flash_Technology>")};
    const auto load_of = [&](const std::string& settings) {
        const ImportFile file{"workload.xml", "<MQSim_IO_Scenarios><IO_Scenario><IO_Flow_Parameter_Set_Synthetic>" + settings +
                                                  "</IO_Flow_Parameter_Set_Synthetic></IO_Scenario></MQSim_IO_Scenarios>"};
        const auto imported = import_mqsim(drive.path, file.path);
        return imported ? fmt::format("{}", fmt::join(imported->loads.at(0).command, " ")) : imported.error().substr(file.path.size());
    };
    CHECK(load_of("<Address_Distribution>streaming</Address_Distribution>").find("rw=read,") != std::string::npos);
    CHECK(load_of("<Address_Distribution>HOTCOLD_RANDOM</Address_Distribution><Percentage_of_Hot_Region>10</Percentage_of_Hot_Region>")
              .find("hotspot:0.1,0.9") != std::string::npos);
    CHECK(load_of("<Address_Distribution>MIXED</Address_Distribution>") ==
          ":1:67: Address_Distribution: 'MIXED': known are STREAMING, RANDOM_UNIFORM and RANDOM_HOTCOLD");
    CHECK(load_of("<Synthetic_Generator_Type>ARRIVAL_RATE</Synthetic_Generator_Type>").find("known are QUEUE_DEPTH and BANDWIDTH") !=
          std::string::npos);
    const auto imported = import_mqsim(drive.path, "");
    REQUIRE(imported.has_value());
    CHECK(key_of(*imported, "nand.cell") == "slc");
    REQUIRE(note_of(*imported, "Bogus_Set") != nullptr);
    CHECK(std::ranges::count_if(imported->notes,
                                [](const ImportNote& n) { return n.kind == ImportKind::left_out && n.setting == "Flash_Technology"; }) == 1);
}

TEST_CASE("what is wrong in a file of MQSim's is told with its line and column", "[imports]") {
    const auto error = [](const std::string& text) { return error_in(text, [](const std::string& path) { return import_mqsim(path, ""); }); };
    CHECK(error(ssd_xml("<Seed>12x</Seed>\n", "<Page_Capacity>1</Page_Capacity>")).starts_with(":8:1: Seed: '12x' is no number"));
    CHECK(error(ssd_xml("", "<Page_Capacity>-5</Page_Capacity>")).starts_with(":9:1: Page_Capacity: '-5' is no number"));
    CHECK(error(ssd_xml("", "<Flash_Technology>QLC</Flash_Technology>")) == ":9:1: Flash_Technology: 'QLC': known are SLC, MLC and TLC");
    CHECK(error(ssd_xml("", "")).find("Flash_Parameter_Set") != std::string::npos);
    CHECK(error("<a><b></a>").starts_with(":1:9: mismatched tag"));
    CHECK(error("<a/>") == ":1:1: begins with a; MQSim's begins with Execution_Parameter_Set");
    CHECK(error("") == ": is empty");
    std::string deep;
    for (int i = 0; i < 10'000; ++i) deep += "<a>";
    CHECK(error(deep).find("too deep") != std::string::npos);
    CHECK(error_of(import_mqsim("/nonexistent/ssd.xml", "")).find("/nonexistent/ssd.xml: No such file") == 0);
}

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
    CHECK(command.back() == "zipf:1.2");
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
    CHECK(error("[a]\nbssplit=4k/0\n") == ":2:1: bssplit=4k/0: wanted: SIZE/PERCENT:SIZE/PERCENT");
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

TEST_CASE("FEMU's options are a drive whose spare is what its size leaves of the flash", "[imports]") {
    const ImportFile file{"run.sh",
                          "#!/bin/bash\nqemu-system-x86_64 \\\n -device femu,devsz_mb=6144,femu_mode=1,secsz=512,secs_per_pg=8,pgs_per_blk=256,"
                          "blks_per_pl=128,pls_per_lun=1,luns_per_ch=8,nchs=8,pg_rd_lat=40000,pg_wr_lat=200000,blk_er_lat=2000000,"
                          "ch_xfer_lat=8192,gc_thres_pcent=75,multipoll=1 \\\n -m 4G\n"};
    const auto imported = import_femu(file.path);
    REQUIRE(imported.has_value());
    CHECK(key_of(*imported, "nand.page_bytes") == "4096");
    CHECK(key_of(*imported, "nand.bus_ps_per_byte") == "2000");
    CHECK(key_of(*imported, "nand.chips_per_channel") == "8");
    CHECK(key_of(*imported, "nand.page_program_ns") == "200000");
    CHECK(key_of(*imported, "ftl.reserved_permille") == "250"); // 6 of 8 GiB
    CHECK(note_of(*imported, "gc_thres_pcent")->kind == ImportKind::left_out);
    CHECK(note_of(*imported, "multipoll")->what == "not known");
    const ImportFile short_one{"run.sh", "-device femu,devsz_mb=12288\n"}; // the rest as FEMU has it: 8 x 8 x 256 blocks of 1 MiB
    const auto by_default = import_femu(short_one.path);
    REQUIRE(by_default.has_value());
    CHECK(key_of(*by_default, "ftl.reserved_permille") == "250");
    CHECK(key_of(*by_default, "nand.chips_per_channel") == "8"); // and the drive is the one whose spare that is
    CHECK(key_of(*by_default, "nand.block_erase_ns") == "2000000");
    const ImportFile tiny{"run.sh", "-device femu,devsz_mb=1\n"};
    const auto clamped = import_femu(tiny.path);
    REQUIRE(clamped.has_value());
    CHECK(key_of(*clamped, "ftl.reserved_permille") == "899"); // the most that the key takes
    const ImportFile two{"run.sh", "# -device femu,nchs=2\n-drive x \\\n -device femu,nchs=4 \\\n -device femu,nchs=16\n"};
    const auto first = import_femu(two.path);
    REQUIRE(first.has_value());
    CHECK(key_of(*first, "nand.channels") == "4");
    REQUIRE(note_of(*first, "a further device") != nullptr);
    CHECK(note_of(*first, "a further device")->value == two.path + ":4:10");
    const ImportFile variable{"run.sh", "a\n-device femu,nchs=$n\n"};
    CHECK(error_of(import_femu(variable.path)) == variable.path + ":2:19: nchs=$n: a number is wanted");
    const ImportFile none{"run.sh", "qemu\n"};
    CHECK(error_of(import_femu(none.path)).find(":1:1: has no") != std::string::npos);
}

/// Configurations of other tools: what becomes of each setting, and what is wrong where.
#include <algorithm>

#include <fmt/ranges.h>

#include "tests/support/catch.h"
#include "tests/tools/imports/import_file.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

std::string ssd_xml(const std::string& of_device, const std::string& of_flash) {
    return "<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n<Execution_Parameter_Set>\n<Host_Parameter_Set>\n"
           "<PCIe_Lane_Bandwidth>1.000000</PCIe_Lane_Bandwidth>\n<PCIe_Lane_Count>4</PCIe_Lane_Count>\n</"
           "Host_Parameter_Set>\n<Device_Parameter_Set>\n" +
           of_device + "<Flash_Parameter_Set>\n" + of_flash + "</Flash_Parameter_Set>\n</Device_Parameter_Set>\n</Execution_Parameter_Set>\n";
}

/// The command of a synthetic flow, or what is wrong with it.
std::string mqsim_load(const std::string& drive, const std::string& settings) {
    const ImportFile file{"workload.xml", "<MQSim_IO_Scenarios><IO_Scenario><IO_Flow_Parameter_Set_Synthetic>" + settings +
                                              "</IO_Flow_Parameter_Set_Synthetic></IO_Scenario></MQSim_IO_Scenarios>"};
    const auto imported = import_mqsim(drive, file.path);
    return imported ? fmt::format("{}", fmt::join(imported->loads.at(0).command, " ")) : imported.error().substr(file.path.size());
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
                                   "rw=randrw,bs=4096,priority=low,rwmixread=30,iodepth=65536,rate=1000000,rate-process=poisson,runtime=2000000us",
                                   "--random-distribution", "hotspot:0.2,0.8", "--precondition", "fill:70"});
    CHECK(imported->loads[1].command == std::vector<std::string>{"replay", "traces/a.trace", "--format", "mqsim", "--wrap"});
    const std::string script = load_script(*imported, file.path, "device.toml");
    CHECK(script.find("${FLASHLAB:-flashlab} 'bench' --config 'device.toml' '--queue'") != std::string::npos);
}

TEST_CASE("words of MQSim's are read in any case and either order; one that is not known is refused, and no container vanishes", "[imports]") {
    const ImportFile drive{"ssd.xml", ssd_xml("<Bogus_Set><Extra>5</Extra></Bogus_Set>", "<Flash_Technology>slc</Flash_Technology>"
                                                                                         "<Flash_Technology>TLC</Flash_Technology>")};
    const auto load_of = [&](const std::string& settings) { return mqsim_load(drive.path, settings); };
    CHECK(load_of("<Address_Distribution>streaming</Address_Distribution>").find("rw=read,") != std::string::npos);
    CHECK(load_of("<Address_Distribution>HOTCOLD_RANDOM</Address_Distribution><Percentage_of_Hot_Region>10</Percentage_of_Hot_Region>")
              .find("hotspot:0.1,0.9") != std::string::npos);
    CHECK(load_of("<Address_Distribution>MIXED</Address_Distribution>") ==
          ":1:67: Address_Distribution: 'MIXED': known are STREAMING, RANDOM_UNIFORM and RANDOM_HOTCOLD");
    CHECK(load_of("<Synthetic_Generator_Type>POISSON</Synthetic_Generator_Type>").find("known are QUEUE_DEPTH, BANDWIDTH and ARRIVAL_RATE") !=
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

TEST_CASE("FEMU's own size is taken where none is given, and what the drive does otherwise than FEMU is said", "[imports]") {
    const auto imported_of = [](const std::string& text) {
        const ImportFile file{"run.sh", text};
        const auto imported = import_femu(file.path);
        REQUIRE(imported.has_value());
        return *imported;
    };
    const Imported by_default = imported_of("qemu -device femu,femu_mode=1,luns_per_ch=1\n");
    CHECK(key_of(by_default, "ftl.reserved_permille") == "500"); // 1 of 2 GiB
    REQUIRE(note_of(by_default, "devsz_mb") != nullptr);
    CHECK(note_of(by_default, "devsz_mb")->value == "1024 of 2048 MiB, not given: FEMU's own");
    CHECK(note_of(by_default, "ch_xfer_lat")->kind == ImportKind::taken);
    const Imported full = imported_of("qemu -device femu,devsz_mb=20480,ch_xfer_lat=25000\n");
    CHECK(key_of(full, "ftl.reserved_permille") == "none");
    REQUIRE(note_of(full, "devsz_mb") != nullptr);
    CHECK(note_of(full, "devsz_mb")->kind == ImportKind::nearly);
    CHECK(std::ranges::any_of(full.notes, [](const ImportNote& n) { return n.setting == "ch_xfer_lat" && n.kind == ImportKind::nearly; }));
    CHECK(key_of(imported_of("echo \"Starting femu, please wait\"\nqemu -device \\\n 'femu,nchs=4'\n"), "nand.channels") == "4");
}

TEST_CASE("a flow of MQSim's with a rate sends whatever the drive does; a rate that is missing is refused", "[imports]") {
    const ImportFile drive{"ssd.xml", ssd_xml("", "<Flash_Technology>SLC</Flash_Technology>")};
    const auto load_of = [&](const std::string& settings) { return mqsim_load(drive.path, settings); };
    const std::string rate = "iodepth=65536,rate=262144000,rate-process=poisson,runtime=1000us";
    const std::string stop = "<Stop_Time>1000000</Stop_Time><Total_Requests_To_Generate>9</Total_Requests_To_Generate>";
    for (const char* type : {"BANDWIDTH", "ARRIVAL_RATE"})
        for (const char* name : {"Bandwidth", "Intensity"}) {
            CAPTURE(type, name);
            const std::string load =
                load_of(fmt::format("<Synthetic_Generator_Type>{}</Synthetic_Generator_Type><{}>262144000</{}>", type, name, name) + stop);
            CHECK(load.find(rate) != std::string::npos);
            CHECK(load.find("io-size") == std::string::npos); // in MQSim the time ends the flow, too
        }
    CHECK(load_of("<Synthetic_Generator_Type>BANDWIDTH</Synthetic_Generator_Type><Bandwidth>262144000</Bandwidth><Intensity>5</Intensity>" + stop)
              .find(rate) != std::string::npos);
    CHECK(
        load_of("<Synthetic_Generator_Type>BANDWIDTH</Synthetic_Generator_Type>").starts_with(":1:67: Synthetic_Generator_Type: wants a Bandwidth"));
}

TEST_CASE("cells of one bit have MQSim's times of the lowest page, and each latency of a file is listed", "[imports]") {
    std::string latencies;
    for (const char* name : {"Page_Read_Latency", "Page_Program_Latency"})
        for (const auto& [type, ns] : {std::pair{"_LSB", 25000}, {"_CSB", 60000}, {"_MSB", 125000}})
            latencies += fmt::format("<{}{}>{}</{}{}>", name, type, ns, name, type);
    for (const auto& [cell, mean, other] : {std::tuple{"SLC", "25000", "Page_Read_Latency_MSB"}, {"MLC", "75000", "Page_Program_Latency_CSB"}}) {
        CAPTURE(cell);
        const ImportFile file{"ssd.xml", ssd_xml("", fmt::format("<Flash_Technology>{}</Flash_Technology>", cell) + latencies)};
        const auto imported = import_mqsim(file.path, "");
        REQUIRE(imported.has_value());
        CHECK(key_of(*imported, "nand.page_read_ns") == mean);
        CHECK(key_of(*imported, "nand.page_program_ns") == mean);
        REQUIRE(note_of(*imported, other) != nullptr);
        CHECK(note_of(*imported, other)->what == "these cells have no such page");
    }
}

TEST_CASE("flows of MQSim's that share a drive get one distribution and one filling, and what differs is said", "[imports]") {
    const auto flow = [](const std::string& settings) {
        return "<IO_Flow_Parameter_Set_Synthetic>" + settings + "</IO_Flow_Parameter_Set_Synthetic>";
    };
    const auto hot = [](int percent) {
        return fmt::format("<Address_Distribution>RANDOM_HOTCOLD</Address_Distribution><Percentage_of_Hot_Region>{}</Percentage_of_Hot_Region>"
                           "<Initial_Occupancy_Percentage>75</Initial_Occupancy_Percentage>",
                           percent);
    };
    const ImportFile file{"workload.xml", "<MQSim_IO_Scenarios><IO_Scenario>" + flow(hot(20)) + flow(hot(40)) +
                                              flow("<Initial_Occupancy_Percentage>0</Initial_Occupancy_Percentage>") +
                                              "</IO_Scenario></MQSim_IO_Scenarios>"};
    for (const bool is_filled : {true, false}) {
        CAPTURE(is_filled);
        const ImportFile drive{"ssd.xml", ssd_xml(fmt::format("<Enabled_Preconditioning>{}</Enabled_Preconditioning>", is_filled),
                                                  "<Flash_Technology>SLC</Flash_Technology>")};
        const auto imported = import_mqsim(drive.path, file.path);
        REQUIRE(imported.has_value());
        const std::string command = fmt::format("{}", fmt::join(imported->loads.at(0).command, " "));
        CHECK(command.find("hotspot:0.2,0.8") != std::string::npos);
        CHECK((command.find("--precondition fill:75") != std::string::npos) == is_filled);
        for (const char* setting : {"Percentage_of_Hot_Region", "Address_Distribution"}) {
            REQUIRE(note_of(*imported, setting) != nullptr);
            CHECK(note_of(*imported, setting)->kind == ImportKind::nearly);
        }
        CHECK((note_of(*imported, "Initial_Occupancy_Percentage") != nullptr) == is_filled);
        CHECK(note_of(*imported, "Enabled_Preconditioning")->kind == ImportKind::taken);
    }
}

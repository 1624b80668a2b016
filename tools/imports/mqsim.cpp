#include "tools/imports/imported.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "tools/imports/xml_tree.h"

namespace flashlab {

namespace {

using Kind = ImportNote::Kind;

/// One container of settings: asked by name, and at the end it says which nobody asked for.
class MqsimSettings {
public:
    MqsimSettings(const XmlElement& of, std::string file) : of_{of}, file_{std::move(file)} {}

    [[nodiscard]] const XmlElement* find(std::string_view name) {
        asked_.emplace(name);
        const auto found = std::ranges::find(of_.children, name, &XmlElement::name);
        return found == of_.children.end() ? nullptr : &*found;
    }
    [[nodiscard]] std::string text(std::string_view name, std::string otherwise) {
        const XmlElement* found = find(name);
        return found == nullptr ? otherwise : found->text;
    }
    /// One of MQSim's words, which it compares in capitals.
    [[nodiscard]] std::string word(std::string_view name, std::string otherwise) {
        std::string out = text(name, std::move(otherwise));
        std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        return out;
    }
    void fail_word(std::string_view name, std::string_view known) {
        if (const XmlElement* found = find(name)) fail(*found, fmt::format("'{}': known are {}", found->text, known));
    }
    /// Bad numbers are kept as the error; what follows them does not count.
    [[nodiscard]] std::optional<double> number(std::string_view name, double most = 1e15) {
        const XmlElement* found = find(name);
        if (found == nullptr) return std::nullopt;
        double value = 0;
        const char* end = found->text.data() + found->text.size();
        const auto read = std::from_chars(found->text.data(), end, value);
        if (read.ec == std::errc{} && read.ptr == end && value >= 0 && value <= most) return value;
        fail(*found, fmt::format("'{}' is no number from 0 to {}", found->text, most));
        return std::nullopt;
    }
    void fail(const XmlElement& at, const std::string& why) {
        if (error_.empty()) error_ = fmt::format("{}:{}:{}: {}: {}", file_, at.line, at.column, at.name, why);
    }
    [[nodiscard]] const std::string& error() const { return error_; }
    [[nodiscard]] bool is_asked(std::string_view name) const { return asked_.contains(name); }
    [[nodiscard]] std::vector<const XmlElement*> not_asked() const {
        std::vector<const XmlElement*> out;
        std::set<std::string_view> seen;
        for (const XmlElement& child : of_.children)
            if (!seen.insert(child.name).second || !asked_.contains(child.name)) out.push_back(&child);
        return out;
    }

private:
    const XmlElement& of_;
    std::string file_, error_;
    std::set<std::string, std::less<>> asked_;
};

/// Settings without a counterpart, and why. One that does not stand here is not known to this program.
const std::map<std::string, std::string, std::less<>> mqsim_left_out{
    {"Enable_ResponseTime_Logging", "an event log has each request: --events"},
    {"ResponseTime_Logging_Period_Length", "an event log has each request: --events"},
    {"SATA_Processing_Delay", "only PCIe is read; host_link.request_overhead_ns is the key"},
    {"Memory_Type", "the data lie on flash"},
    {"Data_Cache_Sharing_Mode", "all queues share the write buffer"},
    {"Data_Cache_DRAM_Row_Size", "the write buffer takes no time of its own"},
    {"Data_Cache_DRAM_Data_Rate", "the write buffer takes no time of its own"},
    {"Data_Cache_DRAM_Data_Busrt_Size", "the write buffer takes no time of its own"},
    {"Data_Cache_DRAM_tRCD", "the write buffer takes no time of its own"},
    {"Data_Cache_DRAM_tCL", "the write buffer takes no time of its own"},
    {"Data_Cache_DRAM_tRP", "the write buffer takes no time of its own"},
    {"CMT_Sharing_Mode", "all queues share the mapping cache"},
    {"Transaction_Scheduling_Policy", "an operation takes its place when its request is fetched, and reads overtake by suspending"},
    {"GC_Exec_Threshold", "collections keep pace with writes"},
    {"GC_Hard_Threshold", "collections keep pace with writes"},
    {"Use_Copyback_for_GC", "copies cross the bus"},
    {"Preemptible_GC_Enabled", "collections run in slices: ftl.gc_slice_us"},
    {"Dynamic_Wearleveling_Enabled", "free blocks are taken by wear where ftl.wear_threshold is set"},
    {"Preferred_suspend_erase_time_for_read", "a read that waits suspends at once"},
    {"Preferred_suspend_erase_time_for_write", "writes suspend nothing"},
    {"Preferred_suspend_write_time_for_read", "a read that waits suspends at once"},
    {"Page_Read_Latency_CSB", "these cells have no such page"},
    {"Page_Read_Latency_MSB", "these cells have no such page"},
    {"Page_Program_Latency_CSB", "these cells have no such page"},
    {"Page_Program_Latency_MSB", "these cells have no such page"},
    {"Flash_Comm_Protocol", "the rate of the channel says it"},
    {"IO_Queue_Depth", "a queue holds what its load submits"},
    {"Data_Cache_Capacity_Per_Stream", "all queues share the write buffer"},
    {"Channel_IDs", "each queue uses all channels"},
    {"Chip_IDs", "each queue uses all chips"},
    {"Die_IDs", "each queue uses all dies"},
    {"Plane_IDs", "each queue uses all planes"},
    {"Working_Set_Percentage", "a load covers the whole drive"},
    {"Bandwidth", "the number of requests in the queue says when they come"},
    {"Intensity", "the number of requests in the queue, or Bandwidth, says when they come"},
    {"Average_No_of_Reqs_in_Queue", "the rate says when requests come"},
    {"Total_Requests_To_Generate", "Stop_Time ends the flow"},
    {"Variance_Request_Size", "requests have one size"},
    {"Address_Alignment_Unit", "requests are aligned to their size"},
    {"Generated_Aligned_Addresses", "requests are aligned to their size"},
    {"Seed", "each queue has a seed of its own: bench --seed"},
    {"Relay_Count", "a trace is replayed once"}};

void note_the_rest(const MqsimSettings& settings, Imported& out) {
    for (const XmlElement* rest : settings.not_asked()) {
        const auto known = mqsim_left_out.find(rest->name);
        std::string why = "not known";
        if (known != mqsim_left_out.end()) why = known->second;
        if (settings.is_asked(rest->name)) why = "it stands there before, and the first counts";
        out.note(Kind::left_out, rest->name, rest->children.empty() ? rest->text : "<...>", why);
    }
}

void take_number(MqsimSettings& from, const char* name, const char* key, Imported& out, double scale = 1) {
    if (const auto value = from.number(name)) out.take(name, from.text(name, ""), key, fmt::format("{}", std::llround(*value * scale)));
}

/// LSB, CSB and MSB of a latency that here is one: their mean over the cell's page types.
void take_mean(MqsimSettings& from, const std::string& name, const char* key, const std::vector<std::string>& page_types, Imported& out) {
    double sum = 0, least = 1e18, most = 0;
    int types = 0;
    for (const std::string& type : page_types) {
        const auto value = from.number(name + type);
        if (!value) continue;
        sum += *value;
        ++types;
        least = std::min(least, *value);
        most = std::max(most, *value);
    }
    if (types == 0) return;
    const std::string mean = fmt::format("{}", std::llround(sum / types));
    out.take(name, fmt::format("{} to {}", least, most), key, mean);
    if (least != most && name.find("Read") != std::string::npos)
        out.note(Kind::nearly, name, fmt::format("{} to {}", least, most), "pages are read in one time, the mean");
}

void take_flash(MqsimSettings& flash, Imported& out) {
    take_number(flash, "Die_No_Per_Chip", "nand.dies_per_chip", out);
    take_number(flash, "Plane_No_Per_Die", "nand.planes_per_die", out);
    out.keys.emplace_back("nand.independent_planes", "0"); // a die of MQSim's has one command at a time
    take_number(flash, "Block_No_Per_Plane", "nand.blocks_per_plane", out);
    take_number(flash, "Page_No_Per_Block", "nand.pages_per_block", out);
    take_number(flash, "Page_Capacity", "nand.page_bytes", out);
    take_number(flash, "Page_Metadat_Capacity", "nand.spare_bytes", out);
    take_number(flash, "Block_Erase_Latency", "nand.block_erase_ns", out);
    take_number(flash, "Block_PE_Cycles_Limit", "nand.endurance_cycles", out);
    const std::map<std::string, std::string, std::less<>> cells{{"SLC", "slc"}, {"MLC", "mlc"}, {"TLC", "tlc"}};
    const XmlElement* technology = flash.find("Flash_Technology");
    const auto cell = cells.find(flash.word("Flash_Technology", "MLC"));
    if (cell == cells.end()) return flash.fail(*technology, fmt::format("'{}': known are SLC, MLC and TLC", technology->text));
    out.take("Flash_Technology", cell->first, "nand.cell", cell->second);
    std::vector<std::string> page_types{"_LSB"};
    if (cell->second == "tlc") page_types.emplace_back("_CSB");
    if (cell->second != "slc") page_types.emplace_back("_MSB");
    take_mean(flash, "Page_Read_Latency", "nand.page_read_ns", page_types, out);
    take_mean(flash, "Page_Program_Latency", "nand.page_program_ns", page_types, out);
    if (page_types.size() > 1) {
        take_number(flash, "Page_Program_Latency_LSB", "nand.lsb_program_ns", out);
        if (page_types.size() > 2) take_number(flash, "Page_Program_Latency_CSB", "nand.csb_program_ns", out);
        take_number(flash, "Page_Program_Latency_MSB", "nand.msb_program_ns", out);
    }
    const std::string suspends = flash.word("CMD_Suspension_Support", "NONE");
    if (suspends.find("ERASE") != std::string::npos) out.take("CMD_Suspension_Support", suspends, "nand.erase_suspends", "1");
    if (suspends.find("PROGRAM") != std::string::npos) out.take("CMD_Suspension_Support", suspends, "nand.program_suspends", "1");
    if (suspends != "NONE") {
        take_number(flash, "Suspend_Erase_Time", "nand.suspend_ns", out);
        const auto other = flash.number("Suspend_Program_Time");
        if (other && other != flash.number("Suspend_Erase_Time"))
            out.note(Kind::nearly, "Suspend_Program_Time", flash.text("Suspend_Program_Time", ""), "there is one time for both: that of an erase");
    } else {
        for (const char* name : {"Suspend_Erase_Time", "Suspend_Program_Time"})
            if (flash.find(name) != nullptr) out.note(Kind::left_out, name, flash.text(name, ""), "nothing is suspended");
    }
}

void take_policies(MqsimSettings& device, Imported& out) {
    take_number(device, "Overprovisioning_Ratio", "ftl.reserved_permille", out, 1000);
    const std::string allocation = device.word("Plane_Allocation_Scheme", "CWDP");
    if (allocation.size() == 4)
        out.take("Plane_Allocation_Scheme", allocation, "ftl.allocation", allocation);
    else
        out.note(Kind::nearly, "Plane_Allocation_Scheme", allocation, "allocation is dynamic and covers all units; ftl.allocation stays CWDP");
    const std::string mapping = device.word("Address_Mapping", "PAGE_LEVEL");
    if (mapping != "PAGE_LEVEL") out.note(Kind::nearly, "Address_Mapping", mapping, "MQSim's functions for it are empty: read as PAGE_LEVEL");
    if (const std::string ideal = device.word("Ideal_Mapping_Table", "FALSE"); ideal == "TRUE") {
        out.take("Ideal_Mapping_Table", ideal, "ftl.scheme", "page_map");
        if (device.find("CMT_Capacity") != nullptr)
            out.note(Kind::left_out, "CMT_Capacity", device.text("CMT_Capacity", ""), "the whole map lies in DRAM");
    } else {
        out.take("Ideal_Mapping_Table", ideal, "ftl.scheme", "dftl");
        take_number(device, "CMT_Capacity", "ftl.mapping_cache_bytes", out);
    }
    const std::map<std::string, std::string, std::less<>> victims{{"GREEDY", "greedy"}, {"RGA", "d-choices"}, {"FIFO", "fifo"}};
    const std::string policy = device.word("GC_Block_Selection_Policy", "RGA");
    if (const auto victim = victims.find(policy); victim != victims.end())
        out.take("GC_Block_Selection_Policy", policy, "ftl.victim", victim->second);
    else
        out.note(Kind::nearly, "GC_Block_Selection_Policy", policy, "a random victim is no choice here: ftl.victim stays greedy");
    if (device.word("Static_Wearleveling_Enabled", "FALSE") == "TRUE")
        take_number(device, "Static_Wearleveling_Threshold", "ftl.wear_threshold", out);
    else if (device.find("Static_Wearleveling_Threshold") != nullptr)
        out.note(Kind::left_out, "Static_Wearleveling_Threshold", device.text("Static_Wearleveling_Threshold", ""), "static wear levelling is off");
}

void take_device(MqsimSettings& host, MqsimSettings& device, Imported& out) {
    const auto lanes = host.number("PCIe_Lane_Count", 64), lane = host.number("PCIe_Lane_Bandwidth", 1000);
    if (lanes && lane && *lanes * *lane > 0) {
        out.take("PCIe_Lane_Bandwidth x PCIe_Lane_Count", fmt::format("{} GB/s", *lanes * *lane), "host_link.ps_per_byte",
                 fmt::format("{}", std::llround(1000 / (*lanes * *lane))));
        out.keys.emplace_back("host_link.pipelined", "1");
        out.keys.emplace_back("host_link.request_overhead_ns", "1");
    }
    if (const XmlElement* type = device.find("HostInterface_Type"); type != nullptr && device.word("HostInterface_Type", "") != "NVME")
        out.note(Kind::nearly, type->name, type->text, "read as NVMe: queues that are fetched in turn");
    take_number(device, "Queue_Fetch_Size", "host_link.slots", out);
    if (device.number("Queue_Fetch_Size").value_or(0) > 0) out.keys.emplace_back("host_link.arbiter", "round-robin");
    take_number(device, "Flash_Channel_Count", "nand.channels", out);
    take_number(device, "Chip_No_Per_Channel", "nand.chips_per_channel", out);
    const auto rate = device.number("Channel_Transfer_Rate", 1e6);
    const double width = device.number("Flash_Channel_Width", 64).value_or(1);
    if (rate && *rate * width > 0)
        out.take("Channel_Transfer_Rate", fmt::format("{} MT/s x {} B", *rate, width), "nand.bus_ps_per_byte",
                 fmt::format("{}", std::llround(1e6 / (*rate * width))));
    else if (rate)
        out.note(Kind::left_out, "Channel_Transfer_Rate", fmt::format("{} MT/s x {} B", *rate, width), "no bus has this speed");
    take_number(device, "Data_Cache_Capacity", "dram.write_buffer_bytes", out);
    if (const std::string caching = device.word("Caching_Mechanism", "ADVANCED"); caching != "ADVANCED")
        out.note(Kind::nearly, "Caching_Mechanism", caching, "a write buffer, which reads find, too");
    take_number(device, "Seed", "nand.seed", out);
    out.keys.emplace_back("nand.factory_bad_per_million", "0"); // MQSim's drives have none
    take_policies(device, out);
}

/// Its versions name them in either order.
bool is_uniform(std::string_view word) { return word == "RANDOM_UNIFORM" || word == "UNIFORM_RANDOM"; }
bool is_hot_and_cold(std::string_view word) { return word == "RANDOM_HOTCOLD" || word == "HOTCOLD_RANDOM"; }

std::string queue_of(MqsimSettings& flow, Imported& out) {
    const auto reads = flow.number("Read_Percentage", 100).value_or(100);
    const std::string addresses = flow.word("Address_Distribution", "RANDOM_UNIFORM");
    const bool in_order = addresses == "STREAMING";
    if (!in_order && !is_uniform(addresses) && !is_hot_and_cold(addresses))
        flow.fail_word("Address_Distribution", "STREAMING, RANDOM_UNIFORM and RANDOM_HOTCOLD");
    const double sectors = std::max(1.0, flow.number("Average_Request_Size", 1e6).value_or(8));
    const std::string size = flow.word("Request_Size_Distribution", "FIXED");
    if (size != "FIXED") out.note(Kind::nearly, "Request_Size_Distribution", size, "every request has the mean size");
    std::string priority = flow.word("Priority_Class", "HIGH");
    std::ranges::transform(priority, priority.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool is_mixed = reads != 0 && reads != 100;
    std::string queue = fmt::format("rw={}{},bs={},priority={}", in_order ? "" : "rand",
                                    is_mixed       ? "rw"
                                    : reads == 100 ? "read"
                                                   : "write",
                                    std::llround(sectors) * 512, priority);
    if (is_mixed) queue += fmt::format(",rwmixread={}", std::llround(reads));
    const std::string generator = flow.word("Synthetic_Generator_Type", "QUEUE_DEPTH");
    if (generator == "BANDWIDTH" || generator == "ARRIVAL_RATE") { // names of the same: bytes a second that come whatever the drive does
        const auto bandwidth = flow.number("Bandwidth");
        const double rate = bandwidth ? *bandwidth : flow.number("Intensity").value_or(0);
        const XmlElement* type = flow.find("Synthetic_Generator_Type");
        if (rate < 1) flow.fail(*type, "wants a Bandwidth or an Intensity beside it, of 1 byte a second at least");
        constexpr int most_in_flight = 65536; // that bench has
        queue += fmt::format(",iodepth={},rate={},rate-process=poisson", most_in_flight, std::llround(rate));
    } else if (generator == "QUEUE_DEPTH") {
        queue += fmt::format(",iodepth={}", std::max(1ll, std::llround(flow.number("Average_No_of_Reqs_in_Queue", 65536).value_or(1))));
    } else {
        flow.fail_word("Synthetic_Generator_Type", "QUEUE_DEPTH, BANDWIDTH and ARRIVAL_RATE");
    }
    const long long stop_us = std::llround(flow.number("Stop_Time").value_or(0) / 1e3);
    const auto requests = stop_us != 0 ? 0 : flow.number("Total_Requests_To_Generate").value_or(0); // the time alone ends it, if there is one
    if (requests != 0) queue += fmt::format(",io-size={}", std::llround(requests) * std::llround(sectors) * 512);
    if (stop_us != 0) queue += fmt::format(",runtime={}us", stop_us);
    if (requests == 0 && stop_us == 0) out.note(Kind::nearly, "Stop_Time", "0", "nothing ends this flow: the load ends after bench's 64M");
    return queue;
}

/// RANDOM_HOTCOLD as a distribution, which all flows of a run share.
void take_places(MqsimSettings& flow, std::string& distribution, bool& is_even_somewhere, Imported& out) {
    const std::string addresses = flow.word("Address_Distribution", "RANDOM_UNIFORM");
    const double hot = flow.number("Percentage_of_Hot_Region", 100).value_or(0);
    if (!is_hot_and_cold(addresses)) {
        is_even_somewhere = is_even_somewhere || addresses != "STREAMING";
        return;
    }
    const std::string own = fmt::format("hotspot:{},{}", hot / 100, 1 - hot / 100);
    if (!distribution.empty() && distribution != own)
        out.note(Kind::nearly, "Percentage_of_Hot_Region", fmt::format("{}", hot), "one distribution for all that runs together: " + distribution);
    else
        distribution = own;
}

std::expected<void, std::string> take_scenario(const XmlElement& scenario, const std::string& file, std::size_t number, bool is_filled,
                                               Imported& out) {
    ImportedLoad load{.title = fmt::format("{}, scenario {}", scenario.name, number), .command = {"bench"}};
    double occupied = 0, least_occupied = 100;
    std::string distribution;
    bool is_even_somewhere = false;
    for (const XmlElement& element : scenario.children) {
        MqsimSettings flow{element, file};
        const double own = flow.number("Initial_Occupancy_Percentage", 100).value_or(0);
        if (is_filled) occupied = std::max(occupied, own);
        least_occupied = std::min(least_occupied, own);
        if (const std::string mode = flow.word("Device_Level_Data_Caching_Mode", "WRITE_CACHE"); mode != "WRITE_CACHE")
            out.note(Kind::nearly, "Device_Level_Data_Caching_Mode", mode,
                     "the write buffer serves all queues: dram.write_buffer_bytes = 0 is without");
        if (element.name == "IO_Flow_Parameter_Set_Trace_Based") {
            std::string path = flow.text("File_Path", "");
            std::ranges::replace(path, '\\', '/');
            if (path.empty()) flow.fail(element, "has no File_Path");
            out.note(Kind::taken, "File_Path", path, "sought from the directory of load.sh");
            (void)flow.find("Priority_Class"); // a trace has the drive to itself
            ImportedLoad replay{.title = load.title + ", trace", .command = {"replay", path, "--format", "mqsim", "--wrap"}};
            out.note(Kind::nearly, "File_Path", path, "--wrap: addresses go round, as in MQSim; devices, which it ignores, have a place each");
            if (const std::string unit = flow.word("Time_Unit", "NANOSECOND"); unit != "NANOSECOND")
                out.note(Kind::nearly, "Time_Unit", unit, "read as nanoseconds: convert the trace first");
            if (const auto share = flow.number("Percentage_To_Be_Executed", 100); share && *share != 100)
                out.note(Kind::nearly, "Percentage_To_Be_Executed", fmt::format("{}", *share),
                         "the whole trace is replayed; --limit N takes N requests");
            if (occupied > 0) replay.command.insert(replay.command.end(), {"--precondition", fmt::format("fill:{}", std::llround(occupied))});
            out.loads.push_back(std::move(replay));
        } else if (element.name == "IO_Flow_Parameter_Set_Synthetic") {
            take_places(flow, distribution, is_even_somewhere, out);
            load.command.insert(load.command.end(), {"--queue", queue_of(flow, out)});
        } else {
            flow.fail(element, "is no flow: known are IO_Flow_Parameter_Set_Synthetic and IO_Flow_Parameter_Set_Trace_Based");
        }
        if (!flow.error().empty()) return std::unexpected(flow.error());
        note_the_rest(flow, out);
    }
    if (occupied > least_occupied)
        out.note(Kind::nearly, "Initial_Occupancy_Percentage", fmt::format("{} to {}", least_occupied, occupied), "the whole drive has the largest");
    if (load.command.size() == 1) return {};
    if (!distribution.empty() && is_even_somewhere)
        out.note(Kind::nearly, "Address_Distribution", distribution, "one for all that runs together: flows of even random places have it, too");
    if (!distribution.empty()) load.command.insert(load.command.end(), {"--random-distribution", distribution});
    if (occupied > 0) load.command.insert(load.command.end(), {"--precondition", fmt::format("fill:{}", std::llround(occupied))});
    out.loads.push_back(std::move(load));
    return {};
}

std::expected<XmlElement, std::string> tree_of(const std::string& path, std::string_view root) {
    const auto text = text_to_import(path);
    if (!text) return std::unexpected(text.error());
    auto tree = parse_xml(*text, path);
    if (tree && tree->name != root)
        return std::unexpected(fmt::format("{}:{}:{}: begins with {}; MQSim's begins with {}", path, tree->line, tree->column, tree->name, root));
    return tree;
}

} // namespace

std::expected<Imported, std::string> import_mqsim(const std::string& ssdconfig, const std::string& workload) {
    const auto tree = tree_of(ssdconfig, "Execution_Parameter_Set");
    if (!tree) return std::unexpected(tree.error());
    const XmlElement none;
    const auto part = [&none](MqsimSettings& of, std::string_view name) -> const XmlElement& {
        const XmlElement* found = of.find(name);
        return found == nullptr ? none : *found;
    };
    MqsimSettings all{*tree, ssdconfig}, host{part(all, "Host_Parameter_Set"), ssdconfig}, device{part(all, "Device_Parameter_Set"), ssdconfig};
    const XmlElement& flash_part = part(device, "Flash_Parameter_Set");
    if (flash_part.children.empty())
        return std::unexpected(fmt::format("{}:{}:{}: has no Device_Parameter_Set with a Flash_Parameter_Set", ssdconfig, tree->line, tree->column));
    Imported out;
    MqsimSettings flash{flash_part, ssdconfig};
    const bool is_filled = device.word("Enabled_Preconditioning", "TRUE") != "FALSE";
    out.note(Kind::taken, "Enabled_Preconditioning", device.text("Enabled_Preconditioning", "not given"),
             is_filled ? "--precondition" : "the drive begins empty: Initial_Occupancy_Percentage does not count");
    take_device(host, device, out);
    take_flash(flash, out);
    for (const MqsimSettings* settings : {&all, &host, &device, &flash}) {
        if (!settings->error().empty()) return std::unexpected(settings->error());
        note_the_rest(*settings, out);
    }
    if (workload.empty()) return out;
    const auto scenarios = tree_of(workload, "MQSim_IO_Scenarios");
    if (!scenarios) return std::unexpected(scenarios.error());
    for (std::size_t i = 0; i < scenarios->children.size(); ++i)
        if (const auto taken = take_scenario(scenarios->children[i], workload, i + 1, is_filled, out); !taken) return std::unexpected(taken.error());
    return out;
}

} // namespace flashlab

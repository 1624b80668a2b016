#include "tools/reproduce/dumbo_parameters.h"

#include <fmt/format.h>

#include "base/contract.h"
#include "nand/presets.h"
#include "tools/reproduce/dumbo_raw.h"

namespace flashlab {
namespace {

constexpr std::string_view ten = "the ten numbers that figures 11 to 14 quote: this and the five others together";

std::string us(Duration time) { return fmt::format("{:g} us", static_cast<double>(time.count()) / 1000); }

} // namespace

std::vector<FreeParameter> dumbo_free_parameters() {
    const DriverOverheads driver;
    const auto preset = find_nand_preset("dumbo");
    ensure(preset.has_value(), "the preset dumbo exists");
    const NandTiming& device = preset->nand.timing;
    const std::string fitted{ten};
    const std::string grows = "with all of the driver's cost charged once a piece, a 2 KB read gained 24 % over four channels (Fig. 11), and S1:I4 "
                              "wrote 17 % less than S4:I1 at 8 KB (Fig. 14)";
    return {{"host interface, to command a page", us(device.host_interface_command), "the paper gives no control overheads", fitted},
            {"host interface, to confirm a write", us(device.host_interface_confirm), "the paper gives no control overheads", fitted},
            {"driver, a piece read", us(driver.read_software), "driver and interrupt; occupies nothing", fitted},
            {"driver, a sub-request read", us(driver.read_sub_request), "\"the control overhead grows commensurate to the striping level\" (5.1.1)",
             fitted + "; no gain below a page", grows},
            {"driver, a piece written", us(driver.write_software), "the CPU moves the data, so it occupies the host interface", fitted, grows},
            {"late notice of a program's end", us(driver.program_status), "the driver polls", fitted},
            {"in flight", "one request a group, two with pipelining", "not given; a second page buffer takes a second request"},
            {"chips used", "one a channel", "not given for the raw level; a pipelined write gains only 37 %, so it waits for its chip"}};
}

std::vector<FreeParameter> dumbo_user_free_parameters(Duration cpu_of_request) {
    auto all = dumbo_free_parameters();
    all.push_back({"CPU for 4 KB", us(cpu_of_request), "application, operating system and FTL; not given", "80 % of the raw read throughput (5.2)"});
    all.push_back({"requests that the driver's threads compete for", "all but the first of a write()",
                   "the paper says that they compete the more the larger the block, not how much", "asynchronous writes fall with the block size",
                   "without it they were flat; a fall of 1 % was asked for then, half of that now"});
    all.push_back({"block sizes", "4 to 128 KB", "those of the plot are not in the text"});
    all.push_back({"file", "32 MiB, quick 4 MiB; written once before", "not given"});
    return all;
}

} // namespace flashlab

#include "tools/reproduce/hybrid_parameters.h"

#include <fmt/format.h>

#include "base/contract.h"
#include "nand/presets.h"
#include "tools/reproduce/hybrid_device.h"

namespace flashlab {

std::vector<FreeParameter> hybrid_board_parameters() {
    const auto preset = find_nand_preset("k9g8g08u0m");
    ensure(preset.has_value(), "the preset k9g8g08u0m exists");
    const NandTiming& board = preset->nand.timing;
    const auto us = [](Duration time) { return fmt::format("{:g} us", static_cast<double>(time.count()) / 1000); };
    return {{"controller, a page read", us(board.controller_page_read), "the CPU moves every page, also in merges and collections",
             "raw read, 4.24 MB/s"},
            {"controller, a page programmed", us(board.controller_page_program), "the same", "raw write, 1.73 MB/s"},
            {"CPU time of the translation layers",
             fmt::format("{} ns for each map entry that is looked at: {} a page with log_block, {} with hftl, whose words in PRAM come on top",
                         hybrid_look_up.count(), hybrid_look_ups("log_block"), hybrid_look_ups("hftl")),
             "not given; \"hFTL requires less CPU computation power in run time\" (5.4). 20 cycles of the board's 200 MHz",
             "hy-fig12, sequential read: above 40 ns hftl is the faster (beyond-overheads)", "without it hftl read 0.03 % slower than log_block"}};
}

std::vector<FreeParameter> hybrid_churn_parameters() {
    auto all = hybrid_board_parameters();
    all.push_back({"load", "files created and deleted around a level of use, read and overwritten", "the traces of section 5.3 are not public"});
    all.push_back({"sizes of files", "nine of ten 4 to 64 KB, the others 0.5 to 4 MB", "not given: \"small/large size files\"",
                   "Fig. 3: 80 % of the metadata writes below 25 words"});
    all.push_back({"records", "8, 16, 32 or 64 KB, by file",
                   "not given; 4 to 32 KB give 91 % and 7 % in Fig. 3, one size for each kind 68 % and 17 %", "Fig. 3: 80 % and 16 %"});
    all.push_back({"steps", "two of ten overwrite, three read, the others create and delete", "not given"});
    all.push_back({"host", "1 MB of dirty data, 16 metadata sectors", "not given; as in figure 12"});
    return all;
}

} // namespace flashlab

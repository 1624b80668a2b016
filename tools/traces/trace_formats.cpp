#include "tools/traces/trace_formats.h"

#include "tools/traces/blkparse_format.h"
#include "tools/traces/column_format.h"
#include "tools/traces/fio_log_format.h"

namespace flashlab {
namespace {

constexpr std::uint64_t second = 1'000'000'000, millisecond = 1'000'000, microsecond = 1'000, tick = 100;
constexpr std::uint64_t sector = 512;

ColumnSpec spec(char separator, std::size_t columns_min, std::size_t columns_max) {
    ColumnSpec s;
    s.separator = separator;
    s.columns_min = columns_min;
    s.columns_max = columns_max;
    return s;
}
void set_time(ColumnSpec& s, int column, std::uint64_t scale) {
    s.time = column;
    s.time_scale = scale;
}
void set_place(ColumnSpec& s, int offset, std::uint64_t offset_unit, int length, std::uint64_t length_unit) {
    s.offset = offset;
    s.offset_unit = offset_unit;
    s.length = length;
    s.length_unit = length_unit;
}
void set_words(ColumnSpec& s, int op, std::vector<std::pair<std::string, OpWord>> words) {
    s.op = op;
    s.words = std::move(words);
}
std::unique_ptr<LineFormat> make(ColumnSpec s) { return std::make_unique<ColumnFormat>(std::move(s)); }

std::unique_ptr<LineFormat> make_msr(char) {
    auto s = spec(',', 7, 7);
    set_time(s, 1, tick);
    s.host = 2;
    s.device = 3;
    set_words(s, 4, {{"Read", TraceOp::read}, {"Write", TraceOp::write}});
    set_place(s, 5, 1, 6, 1);
    return make(s);
}
std::unique_ptr<LineFormat> make_systor(char) {
    auto s = spec(',', 6, 6);
    s.has_header = true;
    set_time(s, 1, second);
    set_words(s, 3, {{"R", TraceOp::read}, {"W", TraceOp::write}});
    s.other_words = {""};
    s.device = 4;
    set_place(s, 5, 1, 6, 1);
    return make(s);
}
std::unique_ptr<LineFormat> make_mobile(char) {
    auto s = spec(',', 6, max_fields); // the process' name may hold commas
    s.has_header = true;
    s.device = -5;
    set_words(s, -4, {{"R", TraceOp::read}, {"W", TraceOp::write}});
    set_place(s, -3, sector, -2, sector);
    set_time(s, -1, second);
    s.comment = '\0';
    return make(s);
}
std::unique_ptr<LineFormat> make_spc(char) {
    auto s = spec(',', 5, max_fields);
    s.device = 1;
    set_place(s, 2, sector, 3, 1);
    set_words(s, 4, {{"r", TraceOp::read}, {"R", TraceOp::read}, {"w", TraceOp::write}, {"W", TraceOp::write}});
    set_time(s, 5, second);
    return make(s);
}
std::unique_ptr<LineFormat> make_alibaba(char) {
    auto s = spec(',', 5, 5);
    s.device = 1;
    set_words(s, 2, {{"R", TraceOp::read}, {"W", TraceOp::write}});
    set_place(s, 3, 1, 4, 1);
    set_time(s, 5, microsecond);
    return make(s);
}
std::unique_ptr<LineFormat> make_tencent(char) {
    auto s = spec(',', 5, 5);
    set_time(s, 1, second);
    set_place(s, 2, sector, 3, sector);
    set_words(s, 4, {{"0", TraceOp::read}, {"1", TraceOp::write}});
    s.device = 5;
    return make(s);
}
std::unique_ptr<LineFormat> make_replayer(char) {
    auto s = spec(',', 5, 5);
    set_time(s, 1, millisecond);
    s.device = 2;
    set_place(s, 3, 1, 4, 1);
    set_words(s, 5, {{"1", TraceOp::read}, {"0", TraceOp::write}});
    return make(s);
}
std::unique_ptr<LineFormat> make_cloudphysics(char) {
    auto s = spec(',', 5, 5);
    s.has_header = true;
    set_time(s, 2, second);
    set_words(s, 3,
              {{"28", TraceOp::read},
               {"88", TraceOp::read},
               {"8", TraceOp::read},
               {"08", TraceOp::read},
               {"a8", TraceOp::read},
               {"2a", TraceOp::write},
               {"8a", TraceOp::write},
               {"a", TraceOp::write},
               {"0a", TraceOp::write},
               {"aa", TraceOp::write},
               {"42", TraceOp::trim},
               {"35", TraceOp::flush},
               {"91", TraceOp::flush}});
    set_place(s, 5, sector, 4, 1);
    return make(s);
}
std::unique_ptr<LineFormat> make_wpa(char) {
    auto s = spec(';', 14, 14);
    s.has_header = true;
    s.decimal = ',';
    s.thousands = '.';
    set_words(s, 1, {{"Read", TraceOp::read}, {"Write", TraceOp::write}, {"Flush", TraceOp::flush}});
    set_time(s, 4, second);
    set_place(s, 9, 1, 8, 1);
    s.offset_base = 16;
    s.device = 13;
    return make(s);
}
std::unique_ptr<LineFormat> make_hfplayer(char) {
    auto s = spec(',', 16, 16);
    set_time(s, 2, microsecond);
    set_words(s, 4, {{"WR_IN", TraceOp::write}, {"RD_IN", TraceOp::read}});
    set_place(s, 11, sector, 12, sector);
    s.device = 15;
    return make(s);
}
std::unique_ptr<LineFormat> make_fiu(char) {
    auto s = spec(blanks, 9, max_fields); // the process' name may hold blanks
    set_time(s, 1, 1);
    set_place(s, -6, sector, -5, sector);
    set_words(s, -4, {{"R", TraceOp::read}, {"W", TraceOp::write}});
    s.host = -3;
    s.device = -2;
    return make(s);
}
std::unique_ptr<LineFormat> make_mqsim(char) {
    auto s = spec(blanks, 5, 5);
    set_time(s, 1, 1);
    s.device = 2;
    set_place(s, 3, sector, 4, sector);
    set_words(s, 5, {{"1", TraceOp::read}, {"0", TraceOp::write}});
    s.decimal = '\0'; // integers: what has a point is DiskSim's milliseconds
    return make(s);
}
std::unique_ptr<LineFormat> make_disksim(char) {
    auto s = spec(blanks, 5, 5);
    set_time(s, 1, millisecond);
    s.device = 2;
    set_place(s, 3, sector, 4, sector);
    s.op = 5;
    s.op_is_flags = true;
    return make(s);
}
std::unique_ptr<LineFormat> make_midas(char) {
    auto s = spec(blanks, 5, 5);
    set_time(s, 1, second);
    set_words(s, 2, {{"0", TraceOp::read}, {"1", TraceOp::write}, {"3", TraceOp::trim}});
    set_place(s, 3, 4096, 4, 1);
    s.stream = 5;
    s.length_multiple = 512; // DiskSim's lines look the same, but count sectors
    return make(s);
}
std::unique_ptr<LineFormat> make_wiscsee(char action) {
    auto s = spec(blanks, 8, 8);
    s.action = 2;
    s.action_word = std::string(1, action);
    set_words(s, 3, {{"read", TraceOp::read}, {"write", TraceOp::write}, {"discard", TraceOp::trim}});
    set_place(s, 4, 1, 5, 1);
    set_time(s, 6, second);
    return make(s);
}
std::unique_ptr<LineFormat> make_arc(char) {
    auto s = spec(blanks, 4, 4);
    set_place(s, 1, sector, 2, sector);
    return make(s);
}
/// FlashLab's own: all that a request has. The stream is left out where there is none.
std::unique_ptr<LineFormat> make_flashlab(char) {
    auto s = spec(',', 6, 7);
    s.has_header = true;
    s.stream = 7;
    set_time(s, 1, 1);
    s.device = 2;
    s.queue = 3;
    set_words(s, 4,
              {{"read", TraceOp::read},
               {"write", TraceOp::write},
               {"write-fua", OpWord{TraceOp::write, true}},
               {"trim", TraceOp::trim},
               {"flush", TraceOp::flush}});
    set_place(s, 5, 1, 6, 1);
    return make(s);
}

constexpr TextTraceFormat formats[] = {
    {"flashlab", "FlashLab: ns,device,queue,read|write|write-fua|trim|flush,offset_bytes,bytes[,stream]", make_flashlab},
    {"blkparse", "blkparse text: maj,min cpu seq seconds pid action RWBS sector + sectors", make_blkparse},
    {"fio", "fio iolog, version 1, 2 or 3: file action offset length (bytes)", make_fio_log},
    {"wiscsee", "pid action read|write|discard offset_bytes bytes seconds wait sync", make_wiscsee},
    {"wpa", "Windows Performance Analyzer disk export: 14 columns, ';', decimal comma", make_wpa},
    {"hfplayer", "hfplayer array log: 16 columns, WR_IN/RD_IN, sectors, microseconds", make_hfplayer},
    {"msr", "MSR Cambridge: FILETIME,host,disk,Read|Write,offset_bytes,bytes,response", make_msr},
    {"systor", "SYSTOR '17: seconds,response,R|W,LUN,offset_bytes,bytes", make_systor},
    {"mobile", "mobile block trace: process,device,R|W,sector,sectors,seconds", make_mobile},
    {"cloudphysics", "CloudPhysics text: version,seconds,SCSI command,bytes,sector", make_cloudphysics},
    {"alibaba", "Alibaba 2020: device,R|W,offset_bytes,bytes,microseconds", make_alibaba},
    {"spc", "SPC (UMass): ASU,sector,bytes,r|w,seconds[,...]", make_spc},
    {"tencent", "Tencent CBS: seconds,sector,sectors,0 read|1 write,volume", make_tencent},
    {"replayer", "replayer: milliseconds,disk,offset_bytes,bytes,1 read|0 write", make_replayer},
    {"fiu", "FIU: ns pid process sector sectors W|R major minor MD5", make_fiu},
    {"mqsim", "MQSim, SSDsim: ns device sector sectors 1 read|0 write", make_mqsim},
    {"midas", "MiDAS: seconds 0 read|1 write|3 trim page_4k bytes stream", make_midas},
    {"disksim", "DiskSim: milliseconds device sector sectors flags (hexadecimal, bit 0 = read)", make_disksim},
    {"arc", "ARC .lis: sector sectors 0 number; reads, no times", make_arc},
};

} // namespace

std::span<const TextTraceFormat> text_trace_formats() { return formats; }

std::vector<std::string> trace_format_names() {
    std::vector<std::string> names;
    for (const auto& format : formats) names.emplace_back(format.name);
    names.insert(names.end(), {"vscsi1", "vscsi2", "blktrace", "srt"});
    return names;
}

} // namespace flashlab

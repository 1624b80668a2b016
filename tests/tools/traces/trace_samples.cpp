#include "tests/tools/traces/trace_samples.h"

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace flashlab::test {

namespace {

constexpr TraceOp R = TraceOp::read, W = TraceOp::write, D = TraceOp::trim, F = TraceOp::flush;

template <class T>
void put(std::string& to, T value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string vscsi1(std::uint16_t command, std::uint32_t bytes, std::uint64_t block, std::uint64_t microseconds) {
    std::string r;
    put(r, std::uint32_t{7});
    put(r, bytes);
    put(r, std::uint32_t{1});
    put(r, command);
    put(r, std::uint16_t{0x100});
    put(r, block);
    put(r, microseconds);
    return r;
}

std::string vscsi2(std::uint16_t command, std::uint32_t bytes, std::uint64_t block, std::uint64_t microseconds) {
    std::string r;
    put(r, command);
    put(r, std::uint16_t{0x200});
    put(r, std::uint32_t{7});
    put(r, bytes);
    put(r, std::uint32_t{1});
    put(r, block);
    put(r, microseconds);
    put(r, std::uint64_t{55});
    return r;
}

std::string blktrace(std::uint64_t time, std::uint64_t sector, std::uint32_t bytes, std::uint32_t category, std::uint32_t action,
                     const std::string& payload = "") {
    std::string r;
    put(r, std::uint32_t{0x65617407});
    put(r, std::uint32_t{1});
    put(r, time);
    put(r, sector);
    put(r, bytes);
    put(r, category << 16 | action);
    put(r, std::uint32_t{100});      // pid
    put(r, std::uint32_t{0x800010}); // device
    put(r, std::uint32_t{0});        // cpu
    put(r, std::uint16_t{0});
    put(r, static_cast<std::uint16_t>(payload.size()));
    return r + payload;
}

std::string srt(std::uint32_t seconds, std::uint32_t microseconds, std::uint32_t bytes, std::uint32_t address, std::uint32_t device,
                std::uint32_t flags) {
    std::string r;
    const std::uint32_t words[14] = {56, 0x40001, seconds, microseconds, 10, 20, bytes, address, device, 1, 0, flags, 0, 0};
    for (const std::uint32_t w : words) put(r, __builtin_bswap32(w));
    return r;
}

} // namespace

std::vector<TraceSample> text_trace_samples() {
    constexpr std::uint64_t ms = 1'000'000, s = 1'000'000'000;
    constexpr std::uint32_t disk = 8u << 20 | 16;
    return {
        {"msr",
         "128166372003061629,hm,1,Read,383496192,32768,413\n128166372016382155,hm,1,Write,2822144,4096,237\n",
         {{0, 383496192, 32768, 1, R}, {1'332'052'600, 2822144, 4096, 1, W}}},
        {"spc",
         "0,20941264,8192,W,0.551706,Alpha/NT\n0, 20939840, 8192, r, 0.554041\n1,3436288,15872,w,1.250720,0x123,5.99,test\n",
         {{0, 20941264 * 512ull, 8192, 0, W}, {2'335'000, 20939840 * 512ull, 8192, 0, R}, {699'014'000, 3436288 * 512ull, 15872, 1, W}}},
        {"fiu",
         "89966000000000 4892 syslogd 904265560 8 W 6 0 531e779d6d8c5f1b\n89966001000000 2559 my proc 12 16 R 6 0 00000000000000aa\n",
         {{0, 904265560 * 512ull, 4096, 0, W}, {1 * ms, 12 * 512, 8192, 0, R}}},
        {"systor",
         "Timestamp,Response,IOType,LUN,Offset,Size\n1456095145.133076000,0.000806000,R,0,899056122368,131072\n"
         "1456095145.133100000,,,0,0,0\n1456095145.233076000,0.1,W,0,4096,512\n",
         {{0, 899056122368, 131072, 0, R}, {100 * ms, 4096, 512, 0, W}}},
        {"blkparse",
         "  8,16   5        1     0.000000000 18615  Q   R 1000 + 8 [java]\n  8,16   5        2     0.000100000 18615  D   R 1000 + 8 [java]\n"
         "  8,16   5        3     0.000200000 18615  D  WS 2000 + 16 [java]\n  8,16   5        4     0.000300000 18615  D   D 4096 + 64 [fstrim]\n"
         "  8,16   5        5     0.000400000 18615  D  FN [java]\n  8,16   5        6     0.000500000 18615  D   N 0 (00 ..) [kworker]\n"
         "CPU5 (8,16):\n Reads Queued:           1,        4KiB\n\nTotal (8,16):\n",
         {{0, 1000 * 512, 4096, disk, R}, {100'000, 2000 * 512, 8192, disk, W}, {200'000, 4096 * 512, 32768, disk, D}, {300'000, 0, 0, disk, F}}},
        {"wiscsee",
         "39949 D read 299008 4096 0.000000000 0 False\n0 C read 299008 4096 0.000122793 0.000122793 False\n"
         "39949 D discard 4096 8192 0.000196695 7.3902e-05 True\n",
         {{0, 299008, 4096, 0, R}, {196'695, 4096, 8192, 0, D}}},
        {"mqsim",
         "11413000 0 657728 16 1\n11565000 1 31244784 64 0\n",
         {{0, 657728 * 512ull, 8192, 0, R}, {152'000, 31244784 * 512ull, 32768, 1, W}}},
        {"disksim",
         "7961.833 0 20228336 8 0\n8346.206 2 6397360 496 1\n8346.5 2 6397360 8 10\n",
         {{0, 20228336 * 512ull, 4096, 0, W}, {384'373'000, 6397360 * 512ull, 253952, 2, R}, {384'667'000, 6397360 * 512ull, 4096, 2, W}}},
        {"fio",
         "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a read 4096 8192\n/dev/a wait 1500 0\n/dev/b write 0 512\n/dev/a trim 0 65536\n"
         "/dev/a sync 0 0\n/dev/a close\n",
         {{0, 4096, 8192, 0, R}, {1'500'000, 0, 512, 1, W}, {1'500'000, 0, 65536, 0, D}, {1'500'000, 0, 0, 0, F}}},
        {"fio",
         "fio version 3 iolog\n0 f add\n5 f open\n10 f read 0 4096\n35 f write 4096 4096\n40 f datasync 0 0\n",
         {{0, 0, 4096, 0, R}, {25'000, 4096, 4096, 0, W}, {30'000, 0, 0, 0, F}}},
        {"fio", "0, 4096, 8192\n1, 0, 512\n", {{0, 4096, 8192, 0, R}, {0, 0, 512, 0, W}}},
        {"flashlab",
         "ns,device,queue,op,offset,bytes\n500,3,0,read,4096,512\n900,3,255,write,8192,4096\n901,3,1,trim,0,8192\n1000,3,7,flush,0,0\n",
         {{0, 4096, 512, 3, R, 0}, {400, 8192, 4096, 3, W, 255}, {401, 0, 8192, 3, D, 1}, {500, 0, 0, 3, F, 7}}},
        {"alibaba",
         "419,W,8792731648,16384,1577808144360767\n725,R,59110326272,4096,1577808144360800\n",
         {{0, 8792731648, 16384, 419, W}, {33'000, 59110326272, 4096, 725, R}}},
        {"tencent",
         "1538323200,4247200,128,1,1058\n1538323201,13896880,128,0,1063\n",
         {{0, 4247200 * 512ull, 65536, 1058, W}, {1 * s, 13896880 * 512ull, 65536, 1063, R}}},
        {"cloudphysics",
         "version,time,op,size,lbn\n1,5633898,2a,512,42932745\n1,5633899,28,4096,8\n",
         {{0, 42932745 * 512ull, 512, 0, W}, {1 * s, 4096, 4096, 0, R}}},
        {"mobile",
         "proces,device,rw_flag,sector,size,timestamp\r\n<...>-21102,8388608,R,3104240,152,48746.442531\r\na,b-1,8388608,W,8,16,48746.444313\r\n",
         {{0, 3104240 * 512ull, 77824, 8388608, R}, {1'782'000, 4096, 8192, 8388608, W}}},
        {"wpa",
         "IO Type;Priority;Process (Name);Init Time (s);Complete Time (s);IO Time;Service;Size (B);Min Offset;Max Offset;QI;QC;Disk;Count\r\n"
         "Read;Normal;System;1,079943800;1,080031000;87,200;87,200;16.384;0x0000000000001000;0x0000000000004FFF;0;0;0;1\r\n"
         "Flush;Normal;System;1,080000000;1,08;1;1;0;0xFFFFFFFFFFFFFFFF;0xFFFFFFFFFFFFFFFF;0;0;0;1\r\n",
         {{0, 4096, 16384, 0, R}, {56'200, 0, 0, 0, F}}},
        {"hfplayer",
         "#DUMP_OFFSET.I,ELAPSED_USECS.D,ELAPSED_TICKS.I,CMD.S,INFLIGHT_IOS.I,TS.I,SEQID.I,LUN_SSID.I,OP.I,PHASE.I,LBA.I,NBLKS.I,LATENCY_TICKS.I\n"
         "3610768,100.5,1,WR_IN,0,1,1,1,1,0,2254431928,8,121408,6,1,56.910\n3610769,101.5,1,RD_IN,0,1,1,1,1,0,8,16,121408,6,1,56.910\n",
         {{0, 2254431928 * 512ull, 4096, 1, W}, {1000, 4096, 8192, 1, R}}},
        {"replayer", "0.5,0,1048576,4096,1\n1.25,1,8192,65536,0\n", {{0, 1048576, 4096, 0, R}, {750'000, 8192, 65536, 1, W}}},
        {"midas", "0.000010 1 100 4096 2\n0.5 3 7 8192 0\n", {{0, 409600, 4096, 0, W, 0, false, StreamId{2}}, {499'990'000, 28672, 8192, 0, D}}},
        {"arc", "1936993 8 0 0\n793041 16 0 1\n", {{0, 1936993 * 512ull, 4096, 0, R}, {0, 793041 * 512ull, 8192, 0, R}}},
    };
}

std::vector<TextTraceLine> text_trace_lines() {
    return {
        {"msr", "", "128166372003061629,hm,1,Read,383496192,32768,413", ',', "t..opl.", true},
        {"spc", "", "0,20941264,8192,W,0.551706", ',', ".plot", false},
        {"fiu", "", "89966000000000 4892 syslogd 904265560 8 W 6 0 531e779d6d8c5f1b", ' ', "t..plo...", false},
        {"systor", "Timestamp,Response,IOType,LUN,Offset,Size\n", "1456095145.133076000,0.000806000,R,0,899056122368,131072", ',', "t.o.pl", true},
        {"blkparse", "", "8,16 5 1 0.000100000 18615 D R 1000 + 8 [java]", ' ', "...t..op.l.", false},
        {"wiscsee", "", "39949 D read 299008 4096 0.000000000 0 False", ' ', "..oplt..", true},
        {"mqsim", "", "11413000 0 657728 16 1", ' ', "t.plo", true},
        {"disksim", "", "7961.833 0 20228336 8 0", ' ', "t.plo", true},
        {"fio", "fio version 2 iolog\n/a add\n", "/a read 4096 8192", ' ', ".opl", true},
        {"fio", "fio version 3 iolog\n0 /a add\n", "10 /a read 4096 8192", ' ', "t.opl", true},
        {"fio", "0,0,512\n", "0,4096,8192", ',', "opl", true},
        {"flashlab", "ns,device,queue,op,offset,bytes\n", "500,3,9,read,4096,512", ',', "t.qopl", false},
        {"alibaba", "", "419,W,8792731648,16384,1577808144360767", ',', ".oplt", true},
        {"tencent", "", "1538323200,4247200,128,1,1058", ',', "tplo.", true},
        {"cloudphysics", "version,time,op,size,lbn\n", "1,5633898,2a,512,42932745", ',', ".tolp", true},
        {"mobile", "proces,device,rw_flag,sector,size,timestamp\n", "java-21102,8388608,R,3104240,152,48746.442531", ',', "..oplt", false},
        {"wpa", "IO Type;Priority;Process (Name);Init Time (s);Complete Time (s);IO Time;Service;Size (B);Min Offset;Max Offset;QI;QC;Disk;Count\n",
         "Read;Normal;System;1,079943800;1,080031000;87,200;87,200;16.384;0x0000000000001000;0x0000000000004FFF;0;0;0;1", ';', "o..t...lp.....",
         true},
        {"hfplayer", "#DUMP_OFFSET.I,ELAPSED_USECS.D\n", "3610768,100.5,1,WR_IN,0,1,1,1,1,0,2254431928,8,121408,6,1,56.910", ',', ".t.o......pl....",
         true},
        {"replayer", "", "0.5,0,1048576,4096,1", ',', "t.plo", true},
        {"midas", "", "0.000010 1 100 4096 2", ' ', "topl.", true},
        {"arc", "", "1936993 8 0 0", ' ', "pl..", true},
        {"columns", "", "17,R,100,4096", ',', "topl", false, "ts:us=1,op=2,off:sector=3,len:B=4"},
    };
}

std::vector<TraceSample> binary_trace_samples() {
    constexpr std::uint32_t read = 1, write = 2, flush = 4, issue = 1u << 6, notify = 1u << 10, discard = 1u << 13;
    return {
        {"vscsi1",
         vscsi1(0x2a, 512, 42932745, 1000) + vscsi1(0x28, 4096, 8, 1003) + vscsi1(0x35, 0, 0, 1004),
         {{0, 42932745 * 512ull, 512, 0, W}, {3000, 4096, 4096, 0, R}, {4000, 0, 0, 0, F}}},
        {"vscsi2", vscsi2(0x28, 8192, 16, 5) + vscsi2(0x8a, 512, 1, 9), {{0, 8192, 8192, 0, R}, {4000, 512, 512, 0, W}}},
        {"blktrace",
         blktrace(50, 0, 0, notify, 0, "process") + blktrace(100, 8, 4096, read | issue, 7) + blktrace(150, 8, 4096, read | issue, 8) +
             blktrace(300, 16, 8192, write | issue, 7) + blktrace(400, 64, 32768, write | discard | issue, 7) +
             blktrace(500, 0, 0, write | flush | issue, 7),
         {{0, 4096, 4096, 0x800010, R}, {200, 8192, 8192, 0x800010, W}, {300, 32768, 32768, 0x800010, D}, {400, 0, 0, 0x800010, F}}},
        {"srt",
         std::string{"$$TR_IOREC-1.3 (made by hand)\n\f"} + srt(1, 500, 8192, 32, 0x100, 1) + srt(2, 500, 1024, 4, 0x008, 0),
         {{0, 8192, 8192, 1, R}, {1'000'000'000, 1024, 1024, 0, W}}},
    };
}

std::string fua_blktrace() {
    constexpr std::uint32_t write = 2, issue = 1u << 6, fua = 1u << 15;
    return blktrace(100, 8, 4096, write | issue, 7) + blktrace(200, 8, 4096, write | fua | issue, 7);
}

ReadTrace read_trace_file(const std::string& path, TraceOptions options) {
    ReadTrace out;
    options.complain = [&](const std::string& text) { out.complaints.push_back(text); };
    auto reader = TraceReader::open(path, options);
    if (!reader) {
        out.error = reader.error();
        return out;
    }
    TraceRequest request;
    for (;;) {
        const auto more = (*reader)->next(request);
        if (!more) out.error = more.error();
        if (!more || !*more) break;
        out.requests.push_back(request);
    }
    out.counts = (*reader)->counts();
    out.format = (*reader)->format();
    out.reason = (*reader)->reason();
    return out;
}

ReadTrace read_trace(const std::string& bytes, TraceOptions options, const std::string& name) {
    ReadTrace out;
    char directory[] = "/tmp/flashlab-trace.XXXXXX";
    if (::mkdtemp(directory) == nullptr) {
        out.error = "no temporary directory";
        return out;
    }
    const std::string path = std::string{directory} + "/" + name;
    std::ofstream{path, std::ios::binary} << bytes;
    out = read_trace_file(path, std::move(options));
    std::filesystem::remove_all(directory);
    return out;
}

} // namespace flashlab::test

/// Every trace format reads its sample, is found by its content, and answers damage with a clear error.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <zlib.h>

#include "base/random.h"
#include "tests/support/catch.h"
#include "tests/tools/traces/trace_samples.h"
#include "tools/traces/trace_formats.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

std::vector<TraceSample> all_samples() {
    auto samples = text_trace_samples();
    for (auto& each : binary_trace_samples()) samples.push_back(each);
    return samples;
}

TraceOptions named(const std::string& format) {
    TraceOptions options;
    options.format = format;
    return options;
}

/// Nobody crashed, and if nothing was read, somebody said why.
void require_clear(const ReadTrace& got) {
    CHECK((!got.error.empty() || !got.requests.empty()));
    if (got.error.empty()) CHECK(got.counts.lines == got.counts.requests + got.counts.others + got.counts.bad);
}

std::string gzip(const std::string& text) {
    z_stream z{};
    REQUIRE(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string out(text.size() + 256, '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(text.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
    out.resize(out.size() - z.avail_out);
    deflateEnd(&z);
    return out;
}

} // namespace

TEST_CASE("every known format has a sample here, so that none is unread", "[traces]") {
    const auto samples = all_samples();
    for (const std::string& format : trace_format_names()) {
        CAPTURE(format);
        CHECK(std::ranges::any_of(samples, [&](const TraceSample& s) { return s.format == format; }));
    }
}

TEST_CASE("every format reads its sample: operation, address, length, device, and time to the nanosecond", "[traces]") {
    for (const TraceSample& sample : all_samples()) {
        CAPTURE(sample.format);
        const ReadTrace got = read_trace(sample.text, named(sample.format));
        CHECK(got.error == "");
        CHECK(got.counts.bad == 0);
        REQUIRE(got.requests.size() == sample.requests.size());
        for (std::size_t i = 0; i < got.requests.size(); ++i) {
            CAPTURE(i, got.requests[i].time_ns, got.requests[i].offset, got.requests[i].bytes, got.requests[i].device);
            CHECK((got.requests[i] == sample.requests[i]));
        }
    }
}

TEST_CASE("every format is found by its content, with the reason", "[traces]") {
    for (const TraceSample& sample : all_samples()) {
        CAPTURE(sample.format);
        const ReadTrace got = read_trace(sample.text);
        CHECK(got.error == "");
        CHECK(got.format == sample.format);
        CHECK(got.reason != "");
        CHECK((got.requests == sample.requests));
    }
}

TEST_CASE("a user's columns read what a known format reads", "[traces]") {
    TraceOptions options;
    options.columns = "ts:ms=1,dev=2,off:B=3,len:B=4,op=-1";
    options.op_words = "1=read,0=write";
    const std::vector<TraceRequest> two{{0, 1048576, 4096, 0, TraceOp::read}, {750'000, 8192, 65536, 1, TraceOp::write}};
    CHECK((read_trace("0.5,0,1048576,4096,1\n1.25,1,8192,65536,0\n", options).requests == two));
    options.columns = "ts:ms=1,queue=2,off:B=3,len:B=4,op=-1";
    const std::vector<TraceRequest> queued{{0, 1048576, 4096, 0, TraceOp::read, 0}, {750'000, 8192, 65536, 0, TraceOp::write, 1}};
    CHECK((read_trace("0.5,0,1048576,4096,1\n1.25,1,8192,65536,0\n", options).requests == queued));
    options = {};
    options.columns = "off:x512=2,len:KiB=1";
    options.separator = "blanks";
    options.has_header = true;
    const std::vector<TraceRequest> hexadecimal{{0, 0xff * 512, 4096, 0, TraceOp::read}, {0, 8192, 8192, 0, TraceOp::read}};
    CHECK((read_trace("size where\n4 ff\n8 0x10\n", options).requests == hexadecimal));
    for (const char* wrong : {"ts=1,off:B=2", "off:B=0", "off:B", "offset:B=1", "len:B=2", "off:furlong=1", "ts:y=1,off:B=2", "off:B=1,op=99"}) {
        CAPTURE(wrong);
        options.columns = wrong;
        CHECK(read_trace("1 2\n", options).error.find("--columns") != std::string::npos);
    }
}

TEST_CASE("an empty file, a wrong format and a directory are refused with the remedy", "[traces]") {
    CHECK(read_trace("").error.find("empty") != std::string::npos);
    CHECK(read_trace("hello\nworld\n").error.find("--format") != std::string::npos);
    CHECK(read_trace("1,2,3\n", named("nonsense")).error.find("unknown") != std::string::npos);
    const auto directory = TraceReader::open("/tmp", {});
    REQUIRE_FALSE(directory.has_value());
    CHECK(directory.error().find("--log requests") != std::string::npos);
    CHECK_FALSE(TraceReader::open("/nowhere/at/all", {}).has_value());
    for (const TraceSample& sample : text_trace_samples()) {
        CAPTURE(sample.format);
        CHECK(read_trace("", named(sample.format)).error.find("no request") != std::string::npos);
    }
}

TEST_CASE("bad lines name file, line and field, and more than one in a hundred ends the reading", "[traces]") {
    std::string text;
    for (int i = 0; i < 300; ++i) text += i == 250 ? "1,x,8192,W,0.5\n" : "1,100,8192,W,0.5\n";
    auto got = read_trace(text, named("spc"));
    CHECK(got.error == "");
    CHECK(got.counts.bad == 1);
    CHECK(got.requests.size() == 299);
    REQUIRE(got.complaints.size() == 1);
    CHECK(got.complaints.front().find("sample.trace: line 251, field 2: ") != std::string::npos);

    for (int i = 0; i < 4; ++i) text += "1,100,8192,Q,0.5\n";
    got = read_trace(text, named("spc"));
    CHECK(got.error.find("5 of 304 lines are bad; --skip-bad") != std::string::npos);
    TraceOptions lenient = named("spc");
    lenient.skip_bad = true;
    got = read_trace(text, lenient);
    CHECK(got.error == "");
    CHECK(got.requests.size() == 299);
}

TEST_CASE("negative, huge and fractional numbers are bad, never wrapped around", "[traces]") {
    for (const char* line : {"0,-100,8192,W,0.5", "0,100,-8192,W,0.5", "0,36028797018963968,8192,W,0.5", "0,99999999999999999999,8192,W,0.5",
                             "0,100,0,W,0.5", "0,100,8192.5,W,0.5", "0,100,8192,W,-0.5", "0,100,8192,W,99999999999999", "0,100,8192,W,nan",
                             "0,100,9e9,W,0.5", "0,100,1099511627777,W,0.5", "0,100,8192,,0.5", "0,100"}) {
        CAPTURE(line);
        const auto got = read_trace(std::string{line} + "\n", named("spc"));
        CHECK(got.requests.empty());
        CHECK(got.counts.bad == 1);
    }
}

TEST_CASE("damaged traces of every format end in requests or a clear error, never in a crash", "[traces]") {
    Random random{20'26};
    for (const TraceSample& sample : all_samples()) {
        for (int round = 0; round < 40; ++round) {
            std::string damaged = sample.text;
            switch (round % 4) {
            case 0:
                damaged.resize(random.below(damaged.size()));
                break;
            case 1:
                damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
                break;
            case 2:
                damaged.insert(random.below(damaged.size()), std::string(1 + random.below(40), static_cast<char>(random.below(256))));
                break;
            default:
                damaged.erase(random.below(damaged.size()), 1 + random.below(9));
                break;
            }
            CAPTURE(sample.format, round);
            require_clear(read_trace(damaged, named(sample.format)));
        }
        std::string noise(4096, '\0');
        for (char& c : noise) c = static_cast<char>(random.below(256));
        CAPTURE(sample.format);
        require_clear(read_trace(noise, named(sample.format)));
        CHECK_FALSE(read_trace(noise).error.empty());
    }
}

TEST_CASE("lines may end in CRLF or not at all", "[traces]") {
    for (const TraceSample& sample : text_trace_samples()) {
        std::string dos;
        for (const char c : sample.text)
            if (c != '\r') dos += c == '\n' ? "\r\n" : std::string(1, c);
        CAPTURE(sample.format);
        CHECK((read_trace(dos, named(sample.format)).requests == sample.requests));
        CHECK((read_trace(sample.text.substr(0, sample.text.find_last_not_of("\r\n") + 1), named(sample.format)).requests == sample.requests));
    }
}

TEST_CASE("the mark of UTF-8 before the first line is passed over, and UTF-16 is refused with the remedy", "[traces]") {
    for (const TraceSample& sample : text_trace_samples()) {
        CAPTURE(sample.format);
        const ReadTrace marked = read_trace("\xef\xbb\xbf" + sample.text, named(sample.format));
        CHECK((marked.requests == sample.requests));
        CHECK(marked.counts.bad == 0);
        CHECK(read_trace("\xff\xfe" + sample.text, named(sample.format)).error.find("iconv") != std::string::npos);
        CHECK(read_trace("\xfe\xff" + sample.text).error.find("iconv") != std::string::npos);
    }
    for (const TraceSample& sample : binary_trace_samples()) { // any bytes may stand in a binary trace
        CAPTURE(sample.format);
        CHECK(read_trace("\xef\xbb\xbf" + sample.text, named(sample.format)).error.find("iconv") == std::string::npos);
        CHECK(read_trace("\xff\xfe" + sample.text, named(sample.format)).error.find("iconv") == std::string::npos);
    }
}

TEST_CASE("a packed trace reads like a plain one, and one cut short is an error", "[traces]") {
    std::string text;
    for (int i = 0; i < 5000; ++i) text += std::to_string(i) + " 0 " + std::to_string(i * 977 % 100000) + " 8 1\n";
    const std::string packed = gzip(text);
    CHECK((read_trace(packed).requests == read_trace(text).requests));
    CHECK(read_trace(packed + packed).requests.size() == 10'000); // members one after another
    CHECK(read_trace(packed.substr(0, packed.size() / 2)).error.find("truncated") != std::string::npos);
    std::string flipped = packed;
    flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 0x55);
    CHECK_FALSE(read_trace(flipped).error.empty());
}

TEST_CASE("a request of more than 4 GiB is a bad line that names its field, a trim may be as long as a volume", "[traces]") {
    TraceOptions options;
    const auto read = [&](const std::string& format, const std::string& line, const std::string& bad) {
        options.format = format;
        std::string text;
        for (int i = 0; i < 200; ++i) text += line + "\n";
        return read_trace(text + bad + "\n", options);
    };
    const ReadTrace spc = read("spc", "0,100,4096,W,0.1", "0,100,1099511627776,W,0.1");
    CHECK(spc.requests.size() == 200);
    REQUIRE(spc.complaints.size() == 1);
    CHECK_THAT(spc.complaints.front(), ContainsSubstring("line 201, field 3: the request is longer than anything can be"));
    const ReadTrace msr = read("msr", "128166372003061629,src1,0,Write,4096,512,10", "128166372003061629,src1,0,Write,4096,5497558138880,10");
    REQUIRE(msr.complaints.size() == 1);
    CHECK_THAT(msr.complaints.front(), ContainsSubstring("field 6"));
    options.columns = "op=1,off:B=2,len:B=3";
    CHECK(read("auto", "R,0,4096", "D,0,1099511627776").requests.size() == 201);
    CHECK(read("auto", "R,0,4096", "W,0,1099511627776").requests.size() == 200);
}

TEST_CASE("a column that a line does not have is named by the number that was asked for", "[traces]") {
    TraceOptions options;
    for (const auto& [columns, place] : {std::pair{"op=3,off:B=9,len:B=4", "field 9"},
                                         {"op=3,off:B=2,len:B=7", "field 7"},
                                         {"op=6,off:B=2,len:B=4", "field 6"},
                                         {"ts:us=8,op=3,off:B=2,len:B=4", "field 8"}}) {
        options.columns = columns;
        const ReadTrace trace = read_trace("1,2,R,4096\n2,2,R,4096\n", options);
        REQUIRE_FALSE(trace.complaints.empty());
        CHECK_THAT(trace.complaints.front(), ContainsSubstring(fmt::format("{}: the line has no such column", place)));
    }
}

TEST_CASE("a write that is to be durable at once is told by blkparse's letters and by blktrace's bit", "[traces]") {
    const ReadTrace text = read_trace("8,16 5 1 0.0 7 D WS 8 + 8 [a]\n8,16 5 2 0.1 7 D WFS 8 + 8 [a]\n8,16 5 3 0.2 7 D FWFS 16 + 8 [a]\n"
                                      "8,16 5 4 0.3 7 D FWS 24 + 8 [a]\n",
                                      named("blkparse"));
    REQUIRE(text.requests.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(text.requests[i].fua == (i == 1 || i == 2));
    const ReadTrace binary = read_trace(fua_blktrace(), named("blktrace"));
    REQUIRE(binary.requests.size() == 2);
    CHECK_FALSE(binary.requests[0].fua);
    CHECK(binary.requests[1].fua);
}

TEST_CASE("disks of two hosts, and of two major numbers, are two devices", "[traces]") {
    const auto devices = [](const std::string& text, const std::string& format) {
        std::set<std::uint64_t> out;
        for (const TraceRequest& request : read_trace(text, named(format)).requests) out.insert(request.device);
        return out.size();
    };
    const std::string line = ",0,Read,4096,4096,4\n";
    CHECK(devices("128166372003061629,hm" + line + "128166372003061630,prn" + line + "128166372003061631,hm" + line, "msr") == 2);
    CHECK(devices("1000 1 a 8 8 W 6 0 aa\n2000 1 a 8 8 W 8 0 aa\n3000 1 a 8 8 W 6 0 aa\n", "fiu") == 2);
}

TEST_CASE("a number with a byte 0 for its decimal point is bad", "[traces]") {
    const ReadTrace got = read_trace(std::string{"1000 0 8 8 1\n2000"} + '\0' + "5 0 8 8 1\n", named("mqsim"));
    CHECK((got.counts.bad == 1 || !got.error.empty()));
}

TEST_CASE("the stream that a host names is read from FlashLab's own format, MiDAS's and a user's columns", "[traces]") {
    const auto streams = [](const ReadTrace& got) {
        std::vector<unsigned> out;
        for (const TraceRequest& request : got.requests) out.push_back(request.stream.value());
        return out;
    };
    const std::vector<unsigned> wanted{0, 2, 7};
    CHECK(streams(read_trace("1,0,0,write,0,512\n2,0,0,write,512,512,2\n3,0,0,write,0,512,7\n", named("flashlab"))) == wanted);
    CHECK(streams(read_trace("0.1 1 0 4096 0\n0.2 1 8 4096 2\n0.3 1 16 4096 7\n", named("midas"))) == wanted);
    TraceOptions own = named("columns");
    own.columns = "op=1,off:B=2,len:B=3,stream=4";
    CHECK(streams(read_trace("W,0,512,0\nW,512,512,2\nR,0,512,7\n", own)) == wanted);
    const ReadTrace bad = read_trace("W,0,512,0\nW,512,512,65536\n", own);
    REQUIRE(!bad.complaints.empty());
    CHECK_THAT(bad.complaints.front(), ContainsSubstring("the stream is no number from 0 to 65535"));
    CHECK_THAT(read_trace("W,0,512\n", own).complaints.front(), ContainsSubstring("the line has no such column"));
}

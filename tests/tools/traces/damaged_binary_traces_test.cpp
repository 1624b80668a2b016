/// Binary readers and event logs against damage: records cut, noise, fields out of range, files of nothing, and packed files cut or flipped.
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <zstd.h>

#include "base/random.h"
#include "tests/support/catch.h"
#include "tests/tools/device_fixture.h"
#include "tests/tools/traces/trace_samples.h"
#include "tools/log/sqlite.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

TraceOptions named(const std::string& format) {
    TraceOptions options;
    options.format = format;
    return options;
}

/// One number of a record made wrong: `field` as the reader counts them.
struct Damage {
    std::string format;
    std::size_t at, bytes;
    std::uint64_t value;
    int field;
};
struct RecordShape {
    std::string format;
    std::size_t header, record, first; ///< `first`: of the sample's bytes, the record that is repeated
};
RecordShape shape_of(const TraceSample& sample) {
    if (sample.format == "srt") return {"srt", sample.text.find('\f') + 1, 56, sample.text.find('\f') + 1};
    if (sample.format == "blktrace") return {"blktrace", 0, 48, 48 + 7}; // behind the first event, which names a process
    return {sample.format, 0, sample.format == "vscsi1" ? 32u : 40u, 0};
}

void set(std::string& record, const Damage& d, bool big_endian) {
    for (std::size_t i = 0; i < d.bytes; ++i) record[d.at + (big_endian ? d.bytes - 1 - i : i)] = static_cast<char>(d.value >> 8 * i & 0xff);
}

constexpr std::size_t good_records = 300;

} // namespace

TEST_CASE("a number out of range in a binary record is a bad record, named by its number and field, among good ones that are all read", "[traces]") {
    constexpr std::uint64_t huge = ~std::uint64_t{0};
    const std::vector<Damage> damages{
        {"vscsi1", 4, 4, 0, 2},     {"vscsi1", 14, 2, 0x900, 5},    {"vscsi1", 16, 8, huge, 6},   {"vscsi1", 16, 8, huge / 2, 6},
        {"vscsi1", 24, 8, huge, 7}, {"vscsi1", 24, 8, huge / 2, 7}, {"vscsi2", 2, 2, 0x900, 2},   {"vscsi2", 8, 4, 0, 4},
        {"vscsi2", 16, 8, huge, 6}, {"vscsi2", 24, 8, huge, 7},     {"blktrace", 16, 8, huge, 4}, {"blktrace", 8, 8, huge / 2, 0},
        {"srt", 0, 4, 55, 1},       {"srt", 24, 4, 0, 7},
    };
    for (const TraceSample& sample : binary_trace_samples()) {
        const RecordShape shape = shape_of(sample);
        const std::string record = sample.text.substr(shape.first, shape.record);
        int tried = 0;
        for (const Damage& d : damages) {
            if (d.format != sample.format) continue;
            ++tried;
            std::string damaged = record, text = sample.text.substr(0, shape.header);
            set(damaged, d, sample.format == "srt");
            for (std::size_t i = 0; i < good_records; ++i) text += (i == good_records / 2 ? damaged : "") + record;
            CAPTURE(d.format, d.at, d.value);
            const ReadTrace got = read_trace(text, named(d.format));
            CHECK(got.error == "");
            CHECK(got.counts.bad == 1);
            CHECK(got.requests.size() == good_records);
            REQUIRE(got.complaints.size() == 1);
            const std::string place = d.field == 0 ? "record 151: " : fmt::format("record 151, field {}: ", d.field);
            CHECK(got.complaints.front().find(place) != std::string::npos);
            std::string nothing_else = sample.text.substr(0, shape.header);
            for (int i = 0; i < 30 && d.field != 0; ++i) nothing_else += damaged;
            CHECK((d.field == 0 || !read_trace(nothing_else, named(d.format)).error.empty()));
        }
        CAPTURE(sample.format);
        CHECK(tried >= 2);
    }
}

TEST_CASE("a binary trace cut at any byte gives the requests of its whole records, then says that it is truncated", "[traces]") {
    for (const TraceSample& sample : binary_trace_samples()) {
        const RecordShape shape = shape_of(sample);
        for (std::size_t length = 0; length < sample.text.size(); ++length) {
            CAPTURE(sample.format, length);
            const ReadTrace cut = read_trace(sample.text.substr(0, length), named(sample.format));
            CHECK(cut.requests.size() <= sample.requests.size());
            for (std::size_t i = 0; i < cut.requests.size(); ++i) CHECK((cut.requests[i] == sample.requests[i]));
            const std::size_t behind_first = shape.first == shape.header ? shape.header : shape.first;
            const bool at_border = length >= behind_first && (length - behind_first) % shape.record == 0 && sample.format != "blktrace";
            if (!at_border && length > 0 && sample.format != "blktrace") CHECK(cut.error.find("truncated") != std::string::npos);
            if (cut.requests.empty()) CHECK_FALSE(cut.error.empty());
        }
    }
    // blktrace's records are of several lengths: a byte less than all is never the end of one.
    const auto samples = binary_trace_samples();
    for (const TraceSample& sample : samples)
        if (sample.format == "blktrace")
            CHECK(read_trace(sample.text.substr(0, sample.text.size() - 1), named("blktrace")).error.find("truncated") != std::string::npos);
}

TEST_CASE("a binary trace of noise, of nothing, or with noise in the middle is an error and no request is invented", "[traces]") {
    Random random{5};
    for (const TraceSample& sample : binary_trace_samples()) {
        CAPTURE(sample.format);
        CHECK_FALSE(read_trace("", named(sample.format)).error.empty());
        for (int round = 0; round < 20; ++round) {
            std::string noise(56 * 40 * 32, '\0');
            for (char& byte : noise) byte = static_cast<char>(random.below(256));
            const ReadTrace got = read_trace(noise, named(sample.format));
            CHECK_FALSE(got.error.empty());
            CHECK(got.requests.size() < 3); // a record in 65,536 of noise may look right
        }
        const RecordShape shape = shape_of(sample);
        std::string text = sample.text.substr(0, shape.header);
        const std::string record = sample.text.substr(shape.first, shape.record);
        for (std::size_t i = 0; i < good_records; ++i) text += i == good_records / 2 ? std::string(shape.record, '\xee') : record;
        const ReadTrace got = read_trace(text, named(sample.format));
        CHECK((got.counts.bad == 1 || got.error.find("damaged") != std::string::npos));
        CHECK(got.requests.size() >= good_records / 2 - 1);
        CHECK(got.requests.size() < good_records);
    }
}

TEST_CASE("a packed trace cut anywhere or with a byte changed ends in an error, whatever packed it", "[traces]") {
    std::string text;
    Random random{9};
    for (int i = 0; i < 4000; ++i) text += fmt::format("{} 0 {} 8 1\n", i, random.below(1'000'000));
    std::string packed(::ZSTD_compressBound(text.size()), '\0');
    auto* const context = ::ZSTD_createCCtx();
    ::ZSTD_CCtx_setParameter(context, ::ZSTD_c_checksumFlag, 1);
    packed.resize(::ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size()));
    ::ZSTD_freeCCtx(context);
    REQUIRE(read_trace(packed).requests.size() == 4000);
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        const ReadTrace cut = read_trace(packed.substr(0, 5 + random.below(packed.size() - 6)), named("mqsim"));
        CHECK(cut.error.find("truncated") != std::string::npos);
        std::string flipped = packed;
        const std::size_t at = 4 + random.below(packed.size() - 4);
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << random.below(8)));
        const ReadTrace got = read_trace(flipped, named("mqsim"));
        CHECK((!got.error.empty() || got.requests.size() == 4000)); // a few bits of a frame's head say nothing of the content
    }
}

TEST_CASE("an event log that is empty, foreign, cut, of noise, or with rows out of range is refused, or its rows are bad", "[traces]") {
    const TemporaryDirectory t;
    const auto log = t / "events.db";
    const auto make_log = [&](const std::string& statements) {
        files::remove(log);
        auto db = SqliteConnection::open(log, SqliteAccess::create);
        REQUIRE(db.has_value());
        REQUIRE(db->execute(statements).has_value());
    };
    const std::string table = "CREATE TABLE host_request(id INTEGER PRIMARY KEY, ts_ns INTEGER, op INTEGER, first_sector INTEGER, sectors INTEGER);";
    const std::string good =
        "INSERT INTO host_request(ts_ns, op, first_sector, sectors) WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < 2999)"
        " SELECT i * 1000, i % 2, i * 8, 8 FROM n;";
    make_log(table + good);
    CHECK(read_trace_file(log).requests.size() == 3000);
    for (const char* row : {"-1, 0, 8, 8", "1, 9, 8, 8", "1, -1, 8, 8", "1, 0, -8, 8", "1, 0, 9223372036854775807, 8", "1, 0, 8, -8",
                            "1, 0, 8, 9223372036854775807", "1, 0, 8, 0"}) {
        CAPTURE(row);
        make_log(table + good + "INSERT INTO host_request(ts_ns, op, first_sector, sectors) VALUES(" + row + ");");
        const ReadTrace got = read_trace_file(log);
        CHECK(got.error == "");
        CHECK(got.counts.bad == 1);
        CHECK(got.requests.size() == 3000);
        REQUIRE(got.complaints.size() == 1);
        CHECK(got.complaints.front().find("host_request row 3001: ") != std::string::npos);
    }
    // Requests that waited in queues come as they were submitted; a queue that no host has is out of range.
    make_log(table +
             "ALTER TABLE host_request ADD COLUMN queue INTEGER; ALTER TABLE host_request ADD COLUMN waited_ns INTEGER;"
             "INSERT INTO host_request(ts_ns, op, first_sector, sectors, queue, waited_ns) VALUES(1000, 0, 0, 8, 0, 0), (2000, 0, 8, 8, 1, 500),"
             " (2500, 1, 16, 8, 2, 1200), (2500, 1, 16, 8, 256, 0)");
    TraceOptions lenient;
    lenient.skip_bad = true;
    const std::vector<TraceRequest> queued{
        {0, 0, 4096, 0, TraceOp::read, 0}, {300, 8192, 4096, 0, TraceOp::write, 2}, {500, 4096, 4096, 0, TraceOp::read, 1}};
    const ReadTrace submitted = read_trace_file(log, lenient);
    CHECK((submitted.requests == queued));
    CHECK(submitted.counts.bad == 1);
    make_log(table);
    CHECK(read_trace_file(log).error.find("no host request was recorded") != std::string::npos);
    CHECK(read_trace_file(t.path()).error.find("no host request was recorded") != std::string::npos);
    make_log("CREATE TABLE others(x);");
    CHECK(read_trace_file(log).error.find("no event log of FlashLab") != std::string::npos);

    make_log(table + good);
    std::string bytes(static_cast<std::size_t>(files::file_size(log)), '\0');
    std::ifstream{log, std::ios::binary}.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    Random random{3};
    for (int round = 0; round < 30; ++round) {
        std::string damaged = bytes;
        if (round % 2 == 0)
            damaged.resize(16 + random.below(damaged.size() - 16));
        else
            for (std::size_t i = 16 + random.below(damaged.size() - 16), n = 0; n < 2000 && i < damaged.size(); ++i, ++n)
                damaged[i] = static_cast<char>(random.below(256));
        std::ofstream{log, std::ios::binary | std::ios::trunc} << damaged;
        CAPTURE(round);
        const ReadTrace got = read_trace_file(log);
        CHECK((!got.error.empty() || got.requests.size() + got.counts.bad <= 3000)); // and nobody crashed
    }
    std::ofstream{log, std::ios::binary | std::ios::trunc} << std::string{"SQLite format 3\0", 16} + std::string(5000, '\x9c');
    CHECK_FALSE(read_trace_file(log).error.empty());
    std::ofstream{log, std::ios::binary | std::ios::trunc} << "";
    CHECK_FALSE(read_trace_file(log).error.empty());
    CHECK_FALSE(read_trace_file(t.path()).error.empty());
}

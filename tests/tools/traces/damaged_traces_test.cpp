/// Every reader against every damage: lines cut short, fields negative, huge, empty or of another kind, columns missing or too many, another
/// separator, noise, files cut at each byte, CRLF, nothing at all. A damaged line is one bad line, named by file, line and field, among good ones
/// that are all read.
#include <algorithm>

#include <fmt/format.h>

#include "base/random.h"
#include "tests/support/catch.h"
#include "tests/tools/traces/trace_samples.h"
#include "tools/traces/trace_formats.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

enum class Field : char { place = 'p', length = 'l', time = 't', op = 'o', queue = 'q', other = '.' };

using TextCase = TextTraceLine;
std::vector<TextCase> text_cases() { return text_trace_lines(); }

std::vector<std::string> split(const std::string& line, char separator) {
    std::vector<std::string> fields(1);
    for (const char c : line)
        if (c == separator)
            fields.emplace_back();
        else
            fields.back() += c;
    return fields;
}
std::string join(const std::vector<std::string>& fields, char separator) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : std::string(1, separator)) + fields[i];
    return line;
}

ReadTrace read_case(const TextCase& c, const std::string& text) {
    TraceOptions options;
    options.columns = c.columns;
    if (options.columns.empty()) options.format = c.format;
    return read_trace(text, options);
}

constexpr std::size_t good_lines = 300;

/// Good lines, the damaged one after half of them: line number by number of header lines.
std::string among_good(const TextCase& c, const std::string& damaged) {
    std::string text = c.header;
    for (std::size_t i = 0; i < good_lines; ++i) text += (i == good_lines / 2 ? damaged + "\n" : "") + c.line + "\n";
    return text;
}
std::size_t requests_of_header(const TextCase& c) { return c.header == "0,0,512\n" ? 1 : 0; } // the first line of fio's old format says what it is

/// One bad line among good ones is skipped and named; a file of nothing else is an error.
void check_bad_line(const TextCase& c, const std::string& damaged, const std::string& place) {
    CAPTURE(c.format, damaged, place);
    const auto line = static_cast<std::size_t>(std::ranges::count(c.header, '\n')) + good_lines / 2 + 1;
    const ReadTrace among = read_case(c, among_good(c, damaged));
    CHECK(among.error == "");
    CHECK(among.counts.bad == 1);
    CHECK(among.requests.size() == good_lines + requests_of_header(c));
    REQUIRE(among.complaints.size() == 1);
    CHECK(among.complaints.front().find(fmt::format("sample.trace: line {}{}: ", line, place)) != std::string::npos);
    std::string nothing_else = c.header;
    for (int i = 0; i < 30; ++i) nothing_else += damaged + "\n";
    const ReadTrace alone = read_case(c, nothing_else);
    CHECK(alone.requests.size() <= requests_of_header(c));
    CHECK(alone.error.find("sample.trace") != std::string::npos);
}

std::vector<std::string> wrong_values(Field kind, char separator) {
    std::vector<std::string> values;
    switch (kind) {
    case Field::place:
        values = {"-5", "99999999999999999999", "x", "1.5"};
        break;
    case Field::length:
        values = {"-8", "0", "99999999999999999999", "1099511627777", "x", "1e9"};
        break;
    case Field::time:
        values = {"-1", "99999999999999999999999", "x", "nan", "1e40"};
        break;
    case Field::op:
        values = {"Q9", "-1", "rEaD", "99999999999999999999"};
        break;
    case Field::queue:
        values = {"-1", "256", "65536", "99999999999999999999", "x", "1.5"};
        break;
    case Field::other:
        return {};
    }
    if (separator != ' ' && kind != Field::op) // SYSTOR knows lines without an operation
        values.emplace_back();
    return values;
}

} // namespace

TEST_CASE("the damaged lines here are of every text format there is", "[traces]") {
    const auto cases = text_cases();
    for (const TextTraceFormat& format : text_trace_formats()) {
        CAPTURE(format.name);
        CHECK(std::ranges::any_of(cases, [&](const TextCase& c) { return c.format == format.name; }));
    }
    for (const TextCase& c : cases) { // and their good line is one
        CAPTURE(c.format, c.line);
        const ReadTrace got = read_case(c, c.header + c.line + "\n");
        CHECK(got.error == "");
        CHECK(got.requests.size() == 1 + requests_of_header(c));
        CHECK(got.counts.bad == 0);
        CHECK(split(c.line, c.separator).size() == c.kinds.size());
    }
}

TEST_CASE("a negative, huge, empty or wrong field of any format is a bad line, named by its field", "[traces]") {
    for (const TextCase& c : text_cases())
        for (std::size_t i = 0; i < c.kinds.size(); ++i)
            for (const std::string& value : wrong_values(static_cast<Field>(c.kinds[i]), c.separator)) {
                auto fields = split(c.line, c.separator);
                fields[i] = value;
                check_bad_line(c, join(fields, c.separator), fmt::format(", field {}", i + 1));
            }
}

TEST_CASE("a line of any format with a column missing, with one too many, or with another separator is bad", "[traces]") {
    for (const TextCase& c : text_cases()) {
        auto fields = split(c.line, c.separator);
        if (c.is_exact) {
            fields.emplace_back("1");
            check_bad_line(c, join(fields, c.separator), "");
            fields.pop_back();
        }
        // What lies behind the last field that counts may be missing where more columns are allowed than counted.
        const std::size_t needed = c.is_exact ? c.kinds.size() : c.kinds.find_last_of("plot") + 1;
        for (const std::size_t left : {needed - 1, needed / 2, std::size_t{1}}) {
            CAPTURE(c.format, left);
            const std::vector<std::string> some{fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(left)};
            const ReadTrace got = read_case(c, among_good(c, join(some, c.separator)));
            CHECK(got.error == "");
            CHECK(got.counts.bad == 1);
            CHECK(got.requests.size() == good_lines + requests_of_header(c));
        }
        const ReadTrace other = read_case(c, among_good(c, join(fields, c.separator == '|' ? ';' : '|')));
        CAPTURE(c.format);
        CHECK(other.counts.bad == 1);
        CHECK(other.requests.size() == good_lines + requests_of_header(c));
    }
}

TEST_CASE("binary noise in any format is bad lines, and a file of it an error", "[traces]") {
    Random random{77};
    for (const TextCase& c : text_cases())
        for (int round = 0; round < 8; ++round) {
            std::string noise(1 + random.below(400), '\0');
            for (char& byte : noise) byte = static_cast<char>(random.below(256));
            std::ranges::replace(noise, '\n', '\x80');
            noise.front() = '\xfe'; // no comment
            CAPTURE(c.format, round);
            const ReadTrace got = read_case(c, among_good(c, noise));
            CHECK(got.error == "");
            CHECK(got.counts.bad == 1);
            CHECK(got.requests.size() == good_lines + requests_of_header(c));
            std::string file(20'000, '\0');
            for (char& byte : file) byte = static_cast<char>(random.below(256));
            CHECK_FALSE(read_case(c, file).error.empty());
        }
}

TEST_CASE("a text trace cut at any byte gives the requests of its whole lines, and one more at most", "[traces]") {
    for (const TraceSample& sample : text_trace_samples())
        for (std::size_t length = 0; length < sample.text.size(); ++length) {
            TraceOptions options;
            options.format = sample.format;
            CAPTURE(sample.format, length);
            const ReadTrace cut = read_trace(sample.text.substr(0, length), options);
            CHECK((!cut.error.empty() || !cut.requests.empty()));
            CHECK(cut.requests.size() <= sample.requests.size());
            for (std::size_t i = 0; i + 1 < cut.requests.size(); ++i) CHECK((cut.requests[i] == sample.requests[i]));
            // Lines that are whole were all read.
            const std::size_t whole = sample.text.rfind('\n', length == 0 ? 0 : length - 1);
            if (whole != std::string::npos && whole < length)
                CHECK(cut.requests.size() >= read_trace(sample.text.substr(0, whole + 1), options).requests.size());
        }
}

TEST_CASE("a text trace of blank lines, of a header alone, or with CRLF after a bad line is what it is", "[traces]") {
    for (const TextCase& c : text_cases()) {
        CAPTURE(c.format);
        CHECK_FALSE(read_case(c, "\n\n\n").error.empty());
        CHECK_FALSE(read_case(c, "   \r\n\t\r\n").error.empty());
        if (requests_of_header(c) == 0) CHECK(read_case(c, c.header).error.find("no request") != std::string::npos);
        std::string dos = among_good(c, "x");
        for (std::size_t at = 0; (at = dos.find('\n', at)) != std::string::npos; at += 2) dos.insert(at, 1, '\r');
        const ReadTrace got = read_case(c, dos);
        CHECK(got.counts.bad == 1);
        CHECK(got.requests.size() == good_lines + requests_of_header(c));
    }
}

TEST_CASE("only the first line may be a header: a damaged line later is not taken for one", "[traces]") {
    for (const TextCase& c : text_cases()) {
        if (c.format != "systor" && c.format != "mobile" && c.format != "wpa" && c.format != "cloudphysics") continue;
        TextCase without = c;
        without.header.clear();
        check_bad_line(without, "damaged", "");
    }
}

TEST_CASE("a time more than a century after the first is a bad line: it would end the simulated clock", "[traces]") {
    for (const char* far : {"3300000000000000000 0 8 8 1", "18446744073709551615 0 8 8 1"}) {
        std::string text;
        for (std::size_t i = 0; i < good_lines; ++i) text += (i == good_lines / 2 ? std::string{far} + "\n" : "") + "100 0 8 8 1\n";
        TraceOptions options;
        options.format = "mqsim";
        const ReadTrace got = read_trace(text, options);
        CHECK(got.counts.bad == 1);
        CHECK(got.requests.size() == good_lines);
        REQUIRE(got.complaints.size() == 1);
        CHECK(got.complaints.front().find("line 151: the time is more than a century") != std::string::npos);
    }
    TraceOptions fio;
    fio.format = "fio";
    std::string waits = "fio version 2 iolog\n/a add\n/a read 0 512\n"; // each wait is in range, all together are not
    for (int i = 0; i < 40; ++i) waits += "/a wait 1000000000000000 0\n";
    CHECK(read_trace(waits + "/a read 0 512\n", fio).error.find("bad") != std::string::npos);
}

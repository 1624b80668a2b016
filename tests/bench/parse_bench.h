/// Lines a second of every trace reader, unpacking included.
///
/// Idea       A trace of less than 20,000 lines says what opening costs: its lines are repeated to a million. Formats without a trace here get a
///            million made lines.
/// Cost       A temporary file of about 100 MB at a time.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/bench/cpu_clock.h"
#include "tests/tools/traces/trace_samples.h"
#include "tools/traces/byte_reader.h"
#include "tools/traces/trace_formats.h"

namespace flashlab::bench {

class ParseBench {
public:
    ParseBench() { fmt::print("\n| trace | format | lines | k lines / CPU s, unpacking included (target 1000) |\n|---|---|---|---|\n"); }
    ~ParseBench() { std::filesystem::remove(file_); }
    ParseBench(const ParseBench&) = delete;
    ParseBench& operator=(const ParseBench&) = delete;

    void trace(const std::filesystem::path& path) {
        std::vector<std::string> lines;
        if (is_short_text(path, lines)) {
            std::vector<std::string> rest{lines.begin() + 1, lines.end()}; // the first may be a header
            make_file(lines.front() + "\n" + lines.back() + "\n", rest);
            row(path.filename().string() + ", repeated", file_, {});
        } else {
            row(path.filename().string(), path.string(), {});
        }
    }
    void made() {
        for (const test::TextTraceLine& line : test::text_trace_lines()) {
            make_file(line.header, {line.line});
            TraceOptions options;
            options.format = line.columns.empty() ? line.format : "auto";
            options.columns = line.columns;
            row("made", file_, options);
        }
        for (const test::TraceSample& sample : test::binary_trace_samples()) {
            const std::size_t header = sample.text.find('\f') == std::string::npos || sample.format != "srt" ? 0 : sample.text.find('\f') + 1;
            std::ofstream out{file_, std::ios::binary | std::ios::trunc};
            out << sample.text.substr(0, header);
            for (std::size_t i = 0; i < lines_wanted / sample.requests.size(); ++i) out << std::string_view{sample.text}.substr(header);
            out.close();
            TraceOptions options;
            options.format = sample.format;
            row("made", file_, options);
        }
    }

private:
    static constexpr std::size_t lines_wanted = 1'000'000;

    /// Binary traces are long enough, or not: they have no lines.
    static bool is_short_text(const std::filesystem::path& path, std::vector<std::string>& lines) {
        auto stream = open_byte_stream(path.string());
        if (!stream) return false;
        ByteReader reader{std::move(*stream)};
        while (lines.size() < 20'000) {
            const auto line = reader.line();
            if (!line) return false;
            if (!*line) return lines.size() > 1;
            if (line->value().find('\0') != std::string_view::npos) return false;
            lines.emplace_back(line->value());
        }
        return false;
    }
    void make_file(const std::string& header, const std::vector<std::string>& lines) {
        std::ofstream out{file_, std::ios::binary | std::ios::trunc};
        out << header;
        for (std::size_t written = 0; written < lines_wanted; written += lines.size())
            for (const std::string& line : lines) out << line << '\n';
    }
    void row(const std::string& name, const std::string& path, const TraceOptions& options) const {
        const double at = cpu_seconds();
        const auto reader = TraceReader::open(path, options);
        if (!reader) {
            fmt::print("| {} | {} |\n", name, reader.error());
            return;
        }
        TraceRequest request;
        for (;;) {
            const auto more = (*reader)->next(request);
            if (!more) fmt::print("| {} | {} |\n", name, more.error());
            if (!more || !*more) break;
        }
        const auto lines = static_cast<double>((*reader)->counts().lines);
        fmt::print("| {} | {} | {:.0f} | {:.0f} |\n", name, (*reader)->format(), lines, lines / (cpu_seconds() - at) / 1e3);
        std::fflush(stdout);
    }

    std::string file_ = (std::filesystem::temp_directory_path() / fmt::format("flashlab-parse-bench.{}", ::getpid())).string();
};

} // namespace flashlab::bench

/// Every trace format by name.
///
/// Idea       A text format is one entry with a function that makes it. A binary format is an entry of trace_source.cpp. The order matters: of two
///            formats that read a sample equally well the first is taken.
/// Cost       One format object for each trace.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tools/traces/line_format.h"

namespace flashlab {

struct TextTraceFormat {
    std::string_view name;
    std::string_view what; ///< columns and units, for --help and for the reason of a detection
    std::unique_ptr<LineFormat> (*make)(char action);
};

[[nodiscard]] std::span<const TextTraceFormat> text_trace_formats();
/// The names of all formats, including the binary ones: vscsi1, vscsi2, blktrace, srt.
[[nodiscard]] std::vector<std::string> trace_format_names();

} // namespace flashlab

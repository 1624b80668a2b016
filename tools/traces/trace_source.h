/// A trace as a sequence of lines or records, in one file or in several.
///
/// Idea       Text formats share one source over a LineFormat. Binary formats read fixed records. blktrace merges its per-CPU files by time.
/// Invariant  next() accounts for every line or record: a request, something else, or bad.
/// Cost       Constant memory, one virtual call a request.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "tools/traces/byte_reader.h"
#include "tools/traces/line_format.h"

namespace flashlab {

class TraceSource {
public:
    virtual ~TraceSource() = default;
    /// Parses the next line or record; nothing at the end. An error concerns the file, not a line: nothing after it can be read.
    [[nodiscard]] virtual std::expected<std::optional<TraceParse>, std::string> next(TraceRequest& request) = 0;
    /// The place of what next() returned last: "line 12", "record 3".
    [[nodiscard]] virtual std::string where() const = 0;
};

[[nodiscard]] std::unique_ptr<TraceSource> make_text_source(std::unique_ptr<ByteReader> reader, std::unique_ptr<LineFormat> format);
[[nodiscard]] std::unique_ptr<TraceSource> make_vscsi_source(std::unique_ptr<ByteReader> reader, int version);
[[nodiscard]] std::unique_ptr<TraceSource> make_srt_source(std::unique_ptr<ByteReader> reader);
/// `path` is one of the per-CPU files NAME.blktrace.N (its siblings are read as well) or a single file.
[[nodiscard]] std::expected<std::unique_ptr<TraceSource>, std::string> make_blktrace_source(const std::string& path,
                                                                                            std::unique_ptr<ByteReader> reader, char action);

/// The binary format that the first bytes belong to. Empty: none, so the file may be text.
[[nodiscard]] std::string_view detect_binary_trace(std::string_view first);

} // namespace flashlab

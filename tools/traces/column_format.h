/// Text in columns. Nearly every trace format is of this kind, and so are a user's own formats (--columns).
///
/// Idea       A specification says what separates columns and what each column is. The known formats are specifications, too (trace_formats.cpp).
/// Invariant  A line is bad if it has another number of columns, a number out of range, or a word that is no known operation.
/// Cost       Splits the line once and parses four or five fields.
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/traces/line_format.h"
#include "tools/traces/trace_fields.h"

namespace flashlab {

/// What a word of the op column stands for.
struct OpWord {
    OpWord(TraceOp what, bool is_fua = false) : op{what}, fua{is_fua} {} // NOLINT: a format lists its words with their operations
    TraceOp op;
    bool fua; ///< of a write: durable when it is answered
};

/// Column numbers count from 1, negative ones from the end (-1 = last). 0 means that there is no such column.
struct ColumnSpec {
    char separator = ',';
    std::size_t columns_min = 0, columns_max = max_fields;
    bool has_header = false; ///< a first line that does not parse is a header
    char comment = '#';
    int time = 0;
    std::uint64_t time_scale = 1; ///< ns in the column's unit
    int op = 0;                   ///< 0: every line is a read
    std::vector<std::pair<std::string, OpWord>> words;
    bool op_is_flags = false;             ///< hexadecimal, bit 0 set = read (DiskSim)
    std::vector<std::string> other_words; ///< of the op column: lines that are no requests (an empty type)
    int offset = 0;
    std::uint64_t offset_unit = 1; ///< bytes
    int offset_base = 10;
    int length = 0;
    std::uint64_t length_unit = 1;
    std::uint64_t length_multiple = 1; ///< every length is a multiple of this many bytes; distinguishes formats that look alike
    int device = 0;
    int host = 0; ///< with `device` names the device: a host's name (MSR), a major number (FIU)
    int queue = 0, stream = 0;
    int action = 0; ///< lines with another word here are no requests
    std::string action_word;
    char decimal = '.';
    char thousands = '\0'; ///< removed from the length column
};

class ColumnFormat final : public LineFormat {
public:
    explicit ColumnFormat(ColumnSpec spec) : spec_{std::move(spec)} {}
    [[nodiscard]] TraceParse parse(std::string_view line, TraceRequest& request) override;

private:
    struct Line {
        Fields fields;
        std::size_t count = 0;
    };
    [[nodiscard]] static std::optional<std::uint32_t> index_of(int column, std::size_t count);
    [[nodiscard]] TraceParse parse_columns(const Line& line, TraceRequest& request);
    [[nodiscard]] std::uint32_t device_of_host(std::string_view host, std::uint32_t device);
    [[nodiscard]] TraceParse parse_operation(const Line& line, TraceRequest& request) const;
    [[nodiscard]] TraceParse parse_place(const Line& line, TraceRequest& request) const;

    ColumnSpec spec_;
    bool is_first_ = true;                                    ///< only the first line may be a header
    std::map<std::string, std::uint32_t, std::less<>> hosts_; ///< by name: in the order of their first line
    std::string last_host_;
    std::uint32_t last_place_ = 0;
};

/// "ts:us=1,op=2,off:sector=3,len:B=4,dev=5" with `separator` ("," ";" "tab" "blanks"), words "R=read,W=write,D=trim,F=flush" when `words` is empty.
[[nodiscard]] std::expected<ColumnSpec, std::string> parse_column_spec(const std::string& columns, const std::string& separator,
                                                                       const std::string& words, bool has_header);

} // namespace flashlab

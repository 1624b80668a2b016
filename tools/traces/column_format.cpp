#include "tools/traces/column_format.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace flashlab {

namespace {

std::uint32_t device_number(std::string_view text) {
    if (const auto number = parse_unsigned(text); number && *number <= 0xffff'ffffu) return static_cast<std::uint32_t>(*number);
    std::uint32_t hash = 2166136261u; // FNV-1a: a name is a device, too
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return hash;
}

/// By the number that --columns has; those counted from the end have none.
TraceParse no_column(int column) { return TraceParse::bad(column > 0 ? static_cast<std::uint32_t>(column) : 0, "the line has no such column"); }

} // namespace

std::optional<std::uint32_t> ColumnFormat::index_of(int column, std::size_t count) {
    const auto n = static_cast<int>(count);
    const int index = column > 0 ? column - 1 : n + column;
    if (column == 0 || index < 0 || index >= n) return std::nullopt;
    return static_cast<std::uint32_t>(index);
}

TraceParse ColumnFormat::parse(std::string_view text, TraceRequest& request) {
    if (text.empty() || (spec_.comment != '\0' && text.front() == spec_.comment)) return TraceParse::other();
    Line line;
    line.count = split_fields(text, spec_.separator, line.fields);
    if (line.count == 0) return TraceParse::bad(0, text.find_first_not_of(" \t") == std::string_view::npos ? "a blank line" : "too many columns");
    const TraceParse result = parse_columns(line, request);
    const bool is_first = std::exchange(is_first_, false);
    return result.kind == TraceParse::Kind::bad && spec_.has_header && is_first ? TraceParse::other() : result;
}

TraceParse ColumnFormat::parse_columns(const Line& line, TraceRequest& request) {
    if (line.count < spec_.columns_min || line.count > spec_.columns_max)
        return TraceParse::bad(0, line.count < spec_.columns_min ? "too few columns" : "too many columns");
    if (const auto action = index_of(spec_.action, line.count); action && line.fields[*action] != spec_.action_word) return TraceParse::other();
    request = {};
    if (const auto operation = parse_operation(line, request); operation.kind != TraceParse::Kind::request) return operation;
    if (spec_.time != 0) {
        const auto column = index_of(spec_.time, line.count);
        if (!column) return no_column(spec_.time);
        const auto time = parse_scaled(line.fields[*column], spec_.time_scale, spec_.decimal);
        if (!time) return TraceParse::bad(*column + 1, "the time is no number in range");
        request.time_ns = *time;
    }
    if (spec_.device != 0) {
        const auto column = index_of(spec_.device, line.count);
        if (!column) return no_column(spec_.device);
        request.device = device_number(line.fields[*column]);
        if (spec_.host != 0) {
            const auto host = index_of(spec_.host, line.count);
            if (!host) return no_column(spec_.host);
            request.device = device_of_host(line.fields[*host], request.device);
        }
    }
    if (spec_.queue != 0) {
        const auto column = index_of(spec_.queue, line.count);
        if (!column) return no_column(spec_.queue);
        const auto queue = parse_unsigned(line.fields[*column]);
        if (!queue || *queue >= most_queues) return TraceParse::bad(*column + 1, "the queue is no number from 0 to 255");
        request.queue = static_cast<std::uint16_t>(*queue);
    }
    if (const auto column = index_of(spec_.stream, line.count); !column) {
        if (spec_.stream != 0 && spec_.columns_min == 0) return no_column(spec_.stream); // a known format may leave it out
    } else {
        const auto stream = parse_unsigned(line.fields[*column]);
        if (!stream || *stream > 0xffff) return TraceParse::bad(*column + 1, "the stream is no number from 0 to 65535");
        request.stream = StreamId{static_cast<std::uint16_t>(*stream)};
    }
    return request.op == TraceOp::flush ? TraceParse::request() : parse_place(line, request);
}

/// The first host's devices keep their numbers.
std::uint32_t ColumnFormat::device_of_host(std::string_view host, std::uint32_t device) {
    if (host != last_host_ || hosts_.empty()) {
        const auto place = hosts_.try_emplace(std::string{host}, static_cast<std::uint32_t>(hosts_.size())).first;
        last_host_ = place->first;
        last_place_ = place->second;
    }
    return last_place_ == 0 ? device : device_number(fmt::format("{} {}", last_host_, device));
}

TraceParse ColumnFormat::parse_operation(const Line& line, TraceRequest& request) const {
    if (spec_.op == 0) return TraceParse::request();
    const auto column = index_of(spec_.op, line.count);
    if (!column) return no_column(spec_.op);
    const std::string_view text = line.fields[*column];
    if (spec_.op_is_flags) {
        const auto flags = parse_unsigned(text, 16);
        if (!flags) return TraceParse::bad(*column + 1, "the flags are no hexadecimal number");
        request.op = (*flags & 1) != 0 ? TraceOp::read : TraceOp::write;
        return TraceParse::request();
    }
    if (const auto word = std::ranges::find(spec_.words, text, &std::pair<std::string, OpWord>::first); word != spec_.words.end()) {
        request.op = word->second.op;
        request.fua = word->second.fua;
        return TraceParse::request();
    }
    if (std::ranges::find(spec_.other_words, text) != spec_.other_words.end()) return TraceParse::other();
    return TraceParse::bad(*column + 1, "the operation is none that this format knows");
}

TraceParse ColumnFormat::parse_place(const Line& line, TraceRequest& request) const {
    const auto at = index_of(spec_.offset, line.count);
    if (!at) return no_column(spec_.offset);
    const auto offset = parse_unsigned(line.fields[*at], spec_.offset_base);
    if (!offset || __builtin_mul_overflow(*offset, spec_.offset_unit, &request.offset))
        return TraceParse::bad(*at + 1, "the address is no number in range");
    const auto of = index_of(spec_.length, line.count);
    if (spec_.length != 0 && !of) return no_column(spec_.length);
    std::optional<std::uint64_t> length = of ? std::nullopt : std::optional<std::uint64_t>{1}; // no column: one unit each
    if (of && spec_.thousands != '\0') {
        std::array<char, 24> digits{};
        std::size_t n = 0;
        for (const char c : line.fields[*of])
            if (c != spec_.thousands && n < digits.size()) digits[n++] = c;
        length = parse_unsigned({digits.data(), n});
    } else if (of) {
        length = parse_unsigned(line.fields[*of]);
    }
    if (!length || __builtin_mul_overflow(*length, spec_.length_unit, &request.bytes))
        return TraceParse::bad(of.value_or(0) + 1, "the length is no number in range");
    if (std::uint64_t end = 0; __builtin_add_overflow(request.offset, request.bytes, &end) || request.bytes > longest_request_bytes(request.op))
        return TraceParse::bad(of.value_or(0) + 1, "the request is longer than anything can be");
    if (request.bytes == 0 || request.bytes % spec_.length_multiple != 0)
        return TraceParse::bad(of.value_or(0) + 1,
                               request.bytes == 0 ? "the length is zero" : "the length is no multiple of what this format counts in");
    return TraceParse::request();
}

namespace {

std::optional<std::uint64_t> time_unit(std::string_view unit) {
    if (unit == "s") return 1'000'000'000;
    if (unit == "ms") return 1'000'000;
    if (unit == "us") return 1'000;
    if (unit == "100ns") return 100;
    if (unit == "ns") return 1;
    return std::nullopt;
}

std::optional<std::uint64_t> byte_unit(std::string_view unit) {
    if (unit == "B") return 1;
    if (unit == "sector") return 512;
    if (unit == "KiB") return 1024;
    const auto bytes = parse_unsigned(unit);
    return bytes && *bytes >= 1 && *bytes <= (1u << 20) ? bytes : std::nullopt;
}

std::expected<void, std::string> set_column(ColumnSpec& spec, std::string_view part) {
    const auto wrong = [&](std::string_view why) {
        return std::unexpected(fmt::format("--columns: '{}': {}; an example: ts:us=1,op=2,off:sector=3,len:B=4,dev=5", part, why));
    };
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) return wrong("NAME[:UNIT]=COLUMN is wanted");
    std::string_view name = part.substr(0, equals), unit;
    if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
        unit = name.substr(colon + 1);
        name = name.substr(0, colon);
    }
    int column = 0;
    const std::string_view number = part.substr(equals + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), column);
    if (error != std::errc{} || end != number.data() + number.size() || column == 0 || column > static_cast<int>(max_fields) ||
        column < -static_cast<int>(max_fields))
        return wrong("columns count from 1, or from the end with -1");
    if (name == "ts") {
        const auto scale = time_unit(unit);
        if (!scale) return wrong("the unit of a time is s, ms, us, 100ns or ns");
        spec.time = column;
        spec.time_scale = *scale;
    } else if (name == "off" || name == "len") {
        const bool hexadecimal = unit.starts_with('x');
        const auto bytes = byte_unit(hexadecimal ? unit.substr(1) : unit);
        if (!bytes || (hexadecimal && name == "len")) return wrong("the unit is B, sector, KiB or a number of bytes (off: xB for hexadecimal)");
        (name == "off" ? spec.offset : spec.length) = column;
        (name == "off" ? spec.offset_unit : spec.length_unit) = *bytes;
        if (hexadecimal) spec.offset_base = 16;
    } else if (name == "op") {
        spec.op = column;
    } else if (name == "dev") {
        spec.device = column;
    } else if (name == "queue") {
        spec.queue = column;
    } else if (name == "stream") {
        spec.stream = column;
    } else if (name == "action") {
        spec.action = column;
        spec.action_word = unit;
    } else {
        return wrong("the names are ts, op, off, len, dev, queue, stream and action:WORD");
    }
    return {};
}

std::expected<TraceOp, std::string> parse_op_name(std::string_view name) {
    for (const TraceOp op : {TraceOp::read, TraceOp::write, TraceOp::trim, TraceOp::flush})
        if (name == to_string(op)) return op;
    return std::unexpected(fmt::format("--op-words: '{}' is none of read, write, trim, flush", name));
}

template <class Each>
std::expected<void, std::string> for_each_part(std::string_view text, Each each) {
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        if (auto done = each(text.substr(0, comma)); !done) return done;
        text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    }
    return {};
}

} // namespace

std::expected<ColumnSpec, std::string> parse_column_spec(const std::string& columns, const std::string& separator, const std::string& words,
                                                         bool has_header) {
    ColumnSpec spec;
    spec.has_header = has_header;
    if (separator == "tab" || separator == "\t")
        spec.separator = '\t';
    else if (separator == "blanks" || separator == " ")
        spec.separator = blanks;
    else if (separator.size() == 1)
        spec.separator = separator.front();
    else
        return std::unexpected(fmt::format("--separator '{}' is unknown: give tab, blanks or one character", separator));
    if (auto done = for_each_part(columns, [&](std::string_view part) { return set_column(spec, part); }); !done)
        return std::unexpected(done.error());
    if (spec.offset == 0) return std::unexpected(std::string{"--columns: 'off' is missing: a request has an address"});
    if (spec.length == 0) spec.length_unit = spec.offset_unit; // a sector each where addresses are sectors
    if (words.empty()) {
        for (const auto& [word, op] : {std::pair{"R", TraceOp::read},
                                       {"r", TraceOp::read},
                                       {"read", TraceOp::read},
                                       {"Read", TraceOp::read},
                                       {"W", TraceOp::write},
                                       {"w", TraceOp::write},
                                       {"write", TraceOp::write},
                                       {"Write", TraceOp::write},
                                       {"D", TraceOp::trim},
                                       {"F", TraceOp::flush}})
            spec.words.emplace_back(word, op);
        return spec;
    }
    const auto done = for_each_part(words, [&](std::string_view part) -> std::expected<void, std::string> {
        const std::size_t equals = part.find('=');
        const auto op = parse_op_name(equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1));
        if (!op) return std::unexpected(op.error());
        spec.words.emplace_back(part.substr(0, equals), *op);
        return {};
    });
    if (!done) return std::unexpected(done.error());
    return spec;
}

} // namespace flashlab

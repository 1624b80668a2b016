#include "tools/traces/blkparse_format.h"

#include <algorithm>

#include "tools/traces/trace_fields.h"

namespace flashlab {

/// F before the letter of the transfer asks for a flush, F after it for FUA; an F alone, or without data, is a flush.
bool parse_rwbs(std::string_view rwbs, bool has_length, TraceRequest& request) {
    TraceOp& op = request.op;
    if (rwbs.empty() || rwbs.front() == 'N') return false;
    if (rwbs.find('D') != std::string_view::npos) {
        op = TraceOp::trim;
    } else if (rwbs.find('R') != std::string_view::npos) {
        op = TraceOp::read;
    } else if (const auto write = rwbs.find('W'); write != std::string_view::npos && has_length) {
        op = TraceOp::write;
        request.fua = rwbs.find('F', write) != std::string_view::npos;
    } else if (rwbs.find('F') != std::string_view::npos) {
        op = TraceOp::flush;
    } else {
        return false;
    }
    return true;
}

namespace {

bool is_device(std::string_view text, std::uint32_t& number) {
    const std::size_t comma = text.find(',');
    const auto major = parse_unsigned(text.substr(0, comma));
    const auto minor = comma == std::string_view::npos ? std::nullopt : parse_unsigned(text.substr(comma + 1));
    if (!major || !minor || *major > 0xfff || *minor > 0xfffff) return false;
    number = static_cast<std::uint32_t>(*major << 20 | *minor);
    return true;
}

/// "CPU0 (8,33):", "Total (8,33):", " Reads Queued: …", "Throughput (R/W): …", blank lines.
bool is_of_summary(std::string_view line) {
    const std::string_view text = trimmed(line);
    return text.empty() || (((text.front() >= 'A' && text.front() <= 'Z') || (text.front() >= 'a' && text.front() <= 'z')) &&
                            text.find(':') != std::string_view::npos);
}

class BlkparseFormat final : public LineFormat {
public:
    explicit BlkparseFormat(char action) : action_{action} {}

    TraceParse parse(std::string_view line, TraceRequest& request) override {
        Fields fields;
        const std::size_t count = split_fields(line, blanks, fields);
        request = {};
        if (count == 0 || !is_device(fields[0], request.device))
            return (in_trace_ && is_of_summary(line)) || line.find_first_not_of(" \t") == std::string_view::npos || line.starts_with("CPU")
                       ? TraceParse::other()
                       : TraceParse::bad(1, "no device number (major,minor)");
        if (count < 7) return TraceParse::bad(0, "too few columns");
        const auto time = parse_scaled(fields[3], 1'000'000'000);
        if (!time || !parse_unsigned(fields[1]) || !parse_unsigned(fields[2]))
            return TraceParse::bad(4, "no cpu, sequence and time before the action");
        in_trace_ = true;
        if (fields[5].size() > 2 || fields[5].empty()) return TraceParse::bad(6, "the action is no letter");
        if (fields[5].size() != 1 || fields[5].front() != action_) return TraceParse::other();
        request.time_ns = *time;
        if (!std::ranges::all_of(fields[6], [](char c) { return c >= 'A' && c <= 'Z'; }))
            return TraceParse::bad(7, "what is read or written (RWBS) are capital letters");
        const bool has_length = count >= 10 && fields[8] == "+";
        if (!parse_rwbs(fields[6], has_length, request)) return TraceParse::other();
        if (request.op != TraceOp::flush && !has_length) // a command without data; else the line was cut
            return line.ends_with(']') ? TraceParse::other() : TraceParse::bad(8, "'sector + sectors' is missing");
        if (request.op == TraceOp::flush) return TraceParse::request();
        const auto first = parse_unsigned(fields[7]), sectors = parse_unsigned(fields[9]);
        if (!first || *first > ~std::uint64_t{0} / 1024) return TraceParse::bad(8, "the sector is no number in range");
        if (!sectors || *sectors == 0 || *sectors > longest_request_bytes(request.op) / 512)
            return TraceParse::bad(10, "the number of sectors is no number in range");
        request.offset = *first * 512;
        request.bytes = *sectors * 512;
        return TraceParse::request();
    }

private:
    char action_;
    bool in_trace_ = false;
};

} // namespace

std::unique_ptr<LineFormat> make_blkparse(char action) { return std::make_unique<BlkparseFormat>(action); }

} // namespace flashlab

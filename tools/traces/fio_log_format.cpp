#include "tools/traces/fio_log_format.h"

#include <algorithm>
#include <vector>

#include "tools/traces/trace_fields.h"

namespace flashlab {
namespace {

class FioLogFormat final : public LineFormat {
public:
    TraceParse parse(std::string_view line, TraceRequest& request) override {
        if (version_ == 0) return parse_first(line, request);
        Fields fields;
        const std::size_t count = split_fields(line, blanks, fields);
        if (count == 0) return trimmed(line).empty() ? TraceParse::other() : TraceParse::bad(0, "too many columns");
        return version_ == 1 ? parse_old(line, request) : parse_actions(fields, count, request);
    }

private:
    TraceParse parse_first(std::string_view line, TraceRequest& request) {
        if (trimmed(line) == "fio version 2 iolog" || trimmed(line) == "fio version 3 iolog") {
            version_ = line.find('2') != std::string_view::npos ? 2 : 3;
            return TraceParse::other();
        }
        const auto old = parse_old(line, request);
        if (old.kind != TraceParse::Kind::request)
            return TraceParse::bad(
                0, "no line of version 1 (0 or 1, offset, length), and the first line is neither 'fio version 2 iolog' nor 'fio version 3 iolog'");
        version_ = 1;
        return old;
    }

    /// "rw, offset, length": 0 = read, 1 = write.
    static TraceParse parse_old(std::string_view line, TraceRequest& request) {
        Fields fields;
        if (split_fields(line, ',', fields) != 3) return TraceParse::bad(0, "three columns are wanted: rw, offset, length");
        request = {};
        if (fields[0] != "0" && fields[0] != "1") return TraceParse::bad(1, "0 (read) or 1 (write) is wanted");
        request.op = fields[0] == "1" ? TraceOp::write : TraceOp::read;
        return place(fields[1], fields[2], 2, request);
    }

    TraceParse parse_actions(const Fields& fields, std::size_t count, TraceRequest& request) {
        request = {};
        const std::uint32_t first = version_ == 3 ? 1 : 0;
        if (version_ == 3) {
            const auto time = parse_scaled(fields[0], 1000);
            if (!time) return TraceParse::bad(1, "the time is no number of microseconds");
            request.time_ns = *time;
        } else {
            request.time_ns = waited_ns_;
        }
        if (count < first + 2) return TraceParse::bad(0, "too few columns");
        request.device = number_of(fields[first]);
        const std::string_view action = fields[first + 1];
        if (action == "add" || action == "open" || action == "close") return TraceParse::other();
        if (count != first + 4 && action != "sync" && action != "datasync") return TraceParse::bad(0, "file action offset length are wanted");
        if (action == "wait") {
            const auto microseconds = parse_unsigned(fields[first + 2]);
            if (!microseconds || *microseconds > longest_wait_us || waited_ns_ > longest_wait_us * 1000)
                return TraceParse::bad(first + 3, "the wait is no number of microseconds in range");
            waited_ns_ += *microseconds * 1000;
            return TraceParse::other();
        }
        if (action == "sync" || action == "datasync") {
            request.op = TraceOp::flush;
            return TraceParse::request();
        }
        if (action != "read" && action != "write" && action != "trim")
            return TraceParse::bad(first + 2, "the action is none of read, write, trim, sync, datasync, wait, add, open, close");
        request.op = action == "read" ? TraceOp::read : action == "write" ? TraceOp::write : TraceOp::trim;
        return place(fields[first + 2], fields[first + 3], first + 3, request);
    }

    static TraceParse place(std::string_view offset, std::string_view length, std::uint32_t column, TraceRequest& request) {
        const auto at = parse_unsigned(offset), bytes = parse_unsigned(length);
        if (!at || *at > (std::uint64_t{1} << 62)) return TraceParse::bad(column, "the offset is no number of bytes in range");
        if (!bytes || *bytes == 0 || *bytes > longest_request_bytes(request.op))
            return TraceParse::bad(column + 1, "the length is no number of bytes in range");
        request.offset = *at;
        request.bytes = *bytes;
        return TraceParse::request();
    }

    std::uint32_t number_of(std::string_view file) {
        const auto found = std::ranges::find(files_, file);
        const auto number = static_cast<std::uint32_t>(found - files_.begin());
        if (found == files_.end()) files_.emplace_back(file);
        return number;
    }

    static constexpr std::uint64_t longest_wait_us = std::uint64_t{1} << 50; ///< 35 years, one wait and all before it

    int version_ = 0;
    std::uint64_t waited_ns_ = 0;
    std::vector<std::string> files_;
};

} // namespace

std::unique_ptr<LineFormat> make_fio_log(char) { return std::make_unique<FioLogFormat>(); }

} // namespace flashlab

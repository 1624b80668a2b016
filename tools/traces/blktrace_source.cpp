#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "base/little_endian.h"
#include "tools/traces/trace_fields.h"
#include "tools/traces/trace_source.h"

namespace flashlab {
namespace {

constexpr std::size_t record_bytes = 48;
constexpr std::uint32_t magic = 0x65617400;

// Categories (high half of the action) and actions (low half) of the kernel's interface.
constexpr std::uint32_t is_write = 1u << 1, is_flush = 1u << 2, is_notify = 1u << 10, is_command = 1u << 9, is_discard = 1u << 13, is_fua = 1u << 15;
constexpr std::uint32_t action_queue = 1, action_issue = 7, action_complete = 8;

struct Event {
    std::uint64_t time = 0, sector = 0;
    std::uint32_t sequence = 0, bytes = 0, action = 0, device = 0;
};

/// One CPU's file, always one record ahead.
class CpuFile {
public:
    CpuFile(std::unique_ptr<ByteReader> reader, std::string name) : reader_{std::move(reader)}, name_{std::move(name)} {}
    std::expected<void, std::string> advance() {
        const auto record = reader_->take(record_bytes);
        if (!record) return std::unexpected(record.error());
        has_event_ = !record->empty();
        if (!has_event_) return {};
        ++number_;
        if (record->size() != record_bytes)
            return std::unexpected(
                fmt::format("{}: record {} has {} of {} bytes: the file is truncated", name_, number_, record->size(), record_bytes));
        const auto bytes = std::as_bytes(std::span{record->data(), record->size()});
        const auto mark = load_le<std::uint32_t>(bytes);
        if ((mark & 0xffffff00u) != magic)
            return std::unexpected(fmt::format("{}: record {}: {}", name_, number_,
                                               (__builtin_bswap32(mark) & 0xffffff00u) == magic
                                                   ? "written on a big-endian machine, which is not read here"
                                                   : "no blktrace record begins here: the file is damaged"));
        if ((mark & 0xff) != 7) return std::unexpected(fmt::format("{}: record {}: version {} of blktrace, 7 is known", name_, number_, mark & 0xff));
        event_ = {load_le<std::uint64_t>(bytes.subspan(8)),  load_le<std::uint64_t>(bytes.subspan(16)), load_le<std::uint32_t>(bytes.subspan(4)),
                  load_le<std::uint32_t>(bytes.subspan(24)), load_le<std::uint32_t>(bytes.subspan(28)), load_le<std::uint32_t>(bytes.subspan(36))};
        for (std::size_t rest = load_le<std::uint16_t>(bytes.subspan(46)); rest > 0;) {
            const auto skipped = reader_->take(rest);
            if (!skipped) return std::unexpected(skipped.error());
            if (skipped->empty()) return std::unexpected(fmt::format("{}: record {} ends in its payload: the file is truncated", name_, number_));
            rest -= skipped->size();
        }
        return {};
    }
    [[nodiscard]] bool has_event() const { return has_event_; }
    [[nodiscard]] const Event& event() const { return event_; }
    [[nodiscard]] std::string where() const { return fmt::format("{} record {}", name_, number_); }

private:
    std::unique_ptr<ByteReader> reader_;
    std::string name_;
    std::uint64_t number_ = 0;
    Event event_;
    bool has_event_ = false;
};

class BlktraceSource final : public TraceSource {
public:
    BlktraceSource(std::vector<CpuFile> files, std::uint32_t action) : files_{std::move(files)}, action_{action} {}

    std::expected<std::optional<TraceParse>, std::string> next(TraceRequest& request) override {
        CpuFile* earliest = nullptr;
        for (CpuFile& file : files_)
            if (file.has_event() && (earliest == nullptr || file.event().time < earliest->event().time)) earliest = &file;
        if (earliest == nullptr) return std::nullopt;
        where_ = earliest->where();
        const Event event = earliest->event();
        if (auto advanced = earliest->advance(); !advanced) return std::unexpected(advanced.error());
        return parse(event, request);
    }
    std::string where() const override { return where_; }

private:
    TraceParse parse(const Event& event, TraceRequest& request) const {
        const std::uint32_t category = event.action >> 16;
        if ((category & (is_notify | is_command)) != 0 || (event.action & 0xffff) != action_) return TraceParse::other();
        request = {event.time, 0, event.bytes, event.device, TraceOp::read};
        if ((category & is_discard) != 0)
            request.op = TraceOp::trim;
        else if (event.bytes == 0)
            request.op = TraceOp::flush;
        else if ((category & is_write) != 0)
            request.op = TraceOp::write;
        request.fua = request.op == TraceOp::write && (category & is_fua) != 0;
        if (request.op == TraceOp::flush) return (category & (is_flush | is_write)) != 0 ? TraceParse::request() : TraceParse::other();
        if (event.sector > ~std::uint64_t{0} / 1024 || event.bytes == 0) return TraceParse::bad(4, "the sector or length is out of range");
        request.offset = event.sector * 512;
        return TraceParse::request();
    }

    std::vector<CpuFile> files_;
    std::uint32_t action_;
    std::string where_;
};

/// NAME.blktrace.0, NAME.blktrace.1, …: the siblings of one of them, in order of CPU.
std::vector<std::string> cpu_files_of(const std::string& path) {
    const std::size_t mark = path.rfind(".blktrace.");
    if (mark == std::string::npos || !parse_unsigned(std::string_view{path}.substr(mark + 10))) return {path};
    std::vector<std::string> files;
    for (int cpu = 0; cpu < 4096; ++cpu)
        if (auto file = fmt::format("{}{}", path.substr(0, mark + 10), cpu); std::filesystem::exists(file)) files.push_back(std::move(file));
    return files;
}

} // namespace

std::expected<std::unique_ptr<TraceSource>, std::string> make_blktrace_source(const std::string& path, std::unique_ptr<ByteReader> reader,
                                                                              char action) {
    const auto paths = cpu_files_of(path);
    std::vector<CpuFile> files;
    if (paths.size() == 1) {
        files.emplace_back(std::move(reader), path);
    } else {
        for (const std::string& each : paths) {
            auto stream = open_byte_stream(each);
            if (!stream) return std::unexpected(stream.error());
            files.emplace_back(std::make_unique<ByteReader>(std::move(*stream)), each);
        }
    }
    for (CpuFile& file : files)
        if (auto first = file.advance(); !first) return std::unexpected(first.error());
    return std::make_unique<BlktraceSource>(std::move(files), action == 'Q' ? action_queue : action == 'C' ? action_complete : action_issue);
}

} // namespace flashlab

#include "tools/traces/trace_source.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/little_endian.h"
#include "tools/traces/text_mark.h"

namespace flashlab {
namespace {

class TextSource final : public TraceSource {
public:
    TextSource(std::unique_ptr<ByteReader> reader, std::unique_ptr<LineFormat> format) : reader_{std::move(reader)}, format_{std::move(format)} {}

    std::expected<std::optional<TraceParse>, std::string> next(TraceRequest& request) override {
        const auto line = reader_->line();
        ++number_;
        if (!line) return std::unexpected(line.error());
        if (!*line) return std::nullopt;
        if (number_ > 1) return format_->parse(**line, request);
        if (is_utf16(**line)) return std::unexpected(std::string{utf16_remedy});
        return format_->parse(without_mark(**line), request);
    }
    std::string where() const override { return fmt::format("line {}", number_); }

private:
    std::unique_ptr<ByteReader> reader_;
    std::unique_ptr<LineFormat> format_;
    std::uint64_t number_ = 0;
};

template <class T>
T field(std::string_view record, std::size_t at) {
    return load_le<T>(std::as_bytes(std::span{record.data(), record.size()}).subspan(at));
}

/// Fixed-size records; a rest at the end is an error of the file.
class RecordSource : public TraceSource {
public:
    RecordSource(std::unique_ptr<ByteReader> reader, std::size_t record_bytes) : reader_{std::move(reader)}, record_bytes_{record_bytes} {}

    std::expected<std::optional<TraceParse>, std::string> next(TraceRequest& request) override {
        const auto record = reader_->take(record_bytes_);
        if (!record) return std::unexpected(record.error());
        if (record->empty()) return std::nullopt;
        ++number_;
        if (record->size() != record_bytes_)
            return std::unexpected(fmt::format("record {} has {} of {} bytes: the file is truncated", number_, record->size(), record_bytes_));
        return parse(*record, request);
    }
    std::string where() const override { return fmt::format("record {}", number_); }

protected:
    [[nodiscard]] virtual TraceParse parse(std::string_view record, TraceRequest& request) = 0;
    std::unique_ptr<ByteReader> reader_;

private:
    std::size_t record_bytes_;
    std::uint64_t number_ = 0;
};

bool parse_scsi_command(std::uint16_t command, TraceOp& op) {
    switch (command) {
    case 0x08:
    case 0x28:
    case 0x88:
    case 0xa8:
        op = TraceOp::read;
        return true;
    case 0x0a:
    case 0x2a:
    case 0x8a:
    case 0xaa:
        op = TraceOp::write;
        return true;
    case 0x42:
        op = TraceOp::trim;
        return true;
    case 0x35:
    case 0x91:
        op = TraceOp::flush;
        return true;
    default:
        return false;
    }
}

/// Version 1: serial, bytes, segments (u32), command, version (u16), LBN, microseconds (u64). Version 2: command, version (u16), serial, bytes,
/// segments (u32), LBN, microseconds, response time (u64).
class VscsiSource final : public RecordSource {
public:
    VscsiSource(std::unique_ptr<ByteReader> reader, int version) : RecordSource{std::move(reader), version == 1 ? 32u : 40u}, version_{version} {}

private:
    TraceParse parse(std::string_view r, TraceRequest& request) override {
        const std::uint16_t command = field<std::uint16_t>(r, version_ == 1 ? 12 : 0);
        if (field<std::uint16_t>(r, version_ == 1 ? 14 : 2) >> 8 != version_)
            return TraceParse::bad(version_ == 1 ? 5 : 2, "the record is of another version");
        request = {};
        if (!parse_scsi_command(command, request.op)) return TraceParse::other();
        const std::uint64_t block = field<std::uint64_t>(r, 16);
        request.bytes = field<std::uint32_t>(r, version_ == 1 ? 4 : 8);
        if (__builtin_mul_overflow(field<std::uint64_t>(r, 24), std::uint64_t{1000}, &request.time_ns))
            return TraceParse::bad(7, "the time is out of range");
        if (block > ~std::uint64_t{0} / 1024) return TraceParse::bad(6, "the block number is out of range");
        request.offset = block * 512;
        if (request.bytes == 0 && request.op != TraceOp::flush) return TraceParse::bad(version_ == 1 ? 2 : 4, "the length is zero");
        return TraceParse::request();
    }
    int version_;
};

/// HP SRT, TR_IOREC-1.3: a text header up to a form feed, then 14 big-endian words.
class SrtSource final : public RecordSource {
public:
    explicit SrtSource(std::unique_ptr<ByteReader> reader) : RecordSource{std::move(reader), 56} {}

    std::expected<std::optional<TraceParse>, std::string> next(TraceRequest& request) override {
        if (!header_read_) {
            if (auto skipped = skip_header(); !skipped) return std::unexpected(skipped.error());
            header_read_ = true;
        }
        return RecordSource::next(request);
    }

private:
    std::expected<void, std::string> skip_header() {
        for (std::size_t n = 0; n < 65536; ++n) {
            const auto byte = reader_->take(1);
            if (!byte) return std::unexpected(byte.error());
            if (byte->empty()) break;
            if (byte->front() == '\f') return {};
        }
        return std::unexpected(std::string{"the header has no end (form feed): the file is truncated or no HP SRT trace"});
    }
    static std::uint32_t word(std::string_view r, std::size_t index) { return __builtin_bswap32(field<std::uint32_t>(r, index * 4)); }
    TraceParse parse(std::string_view r, TraceRequest& request) override {
        if (word(r, 0) != 56) return TraceParse::bad(1, "the record does not have 56 bytes");
        request = {};
        request.time_ns = std::uint64_t{word(r, 2)} * 1'000'000'000 + std::uint64_t{word(r, 3)} * 1000;
        request.bytes = word(r, 6);
        request.offset = std::uint64_t{word(r, 7)} * 256;
        request.device = word(r, 8) >> 8 & 0xff;
        request.op = (word(r, 11) & 1) != 0 ? TraceOp::read : TraceOp::write;
        return request.bytes == 0 ? TraceParse::bad(7, "the length is zero") : TraceParse::request();
    }
    bool header_read_ = false;
};

} // namespace

std::unique_ptr<TraceSource> make_text_source(std::unique_ptr<ByteReader> reader, std::unique_ptr<LineFormat> format) {
    return std::make_unique<TextSource>(std::move(reader), std::move(format));
}
std::unique_ptr<TraceSource> make_vscsi_source(std::unique_ptr<ByteReader> reader, int version) {
    return std::make_unique<VscsiSource>(std::move(reader), version);
}
std::unique_ptr<TraceSource> make_srt_source(std::unique_ptr<ByteReader> reader) { return std::make_unique<SrtSource>(std::move(reader)); }

std::string_view detect_binary_trace(std::string_view first) {
    if (first.starts_with("$$TR_IOREC")) return "srt";
    if (first.size() >= 48 && field<std::uint32_t>(first, 0) >> 8 == 0x656174) return "blktrace";
    TraceOp op{};
    const auto is_vscsi = [&](int version, std::size_t bytes, std::size_t command) {
        for (std::size_t at = 0; at + bytes <= std::min<std::size_t>(first.size(), bytes * 8); at += bytes)
            if (field<std::uint16_t>(first, at + command + 2) >> 8 != version || !parse_scsi_command(field<std::uint16_t>(first, at + command), op))
                return false;
        return first.size() >= bytes;
    };
    if (is_vscsi(1, 32, 12)) return "vscsi1";
    return is_vscsi(2, 40, 0) ? "vscsi2" : "";
}

} // namespace flashlab

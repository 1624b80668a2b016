#include "tools/traces/byte_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "tools/host/interruption.h"

namespace flashlab {
namespace {

constexpr std::size_t packed_buffer_bytes = 128 * 1024;

class FileStream final : public ByteStream {
public:
    FileStream(int fd, std::string name) : fd_{fd}, name_{std::move(name)} {}
    FileStream(const FileStream&) = delete;
    FileStream& operator=(const FileStream&) = delete;
    ~FileStream() override {
        if (fd_ > STDIN_FILENO) ::close(fd_);
    }
    std::expected<std::size_t, std::string> read(std::span<std::byte> to) override {
        for (;;) {
            const ssize_t got = ::read(fd_, to.data(), to.size());
            if (got >= 0) return static_cast<std::size_t>(got);
            if (errno != EINTR || Interruption::came()) return std::unexpected(fmt::format("{}: {}", name_, std::strerror(errno)));
        }
    }

private:
    int fd_;
    std::string name_;
};

/// Bytes already read, then the rest of the stream.
class RejoinedStream final : public ByteStream {
public:
    RejoinedStream(std::vector<std::byte> first, std::unique_ptr<ByteStream> rest) : first_{std::move(first)}, rest_{std::move(rest)} {}
    std::expected<std::size_t, std::string> read(std::span<std::byte> to) override {
        if (at_ == first_.size()) return rest_->read(to);
        const std::size_t n = std::min(to.size(), first_.size() - at_);
        std::copy_n(first_.begin() + static_cast<std::ptrdiff_t>(at_), n, to.begin());
        at_ += n;
        return n;
    }

private:
    std::vector<std::byte> first_;
    std::size_t at_ = 0;
    std::unique_ptr<ByteStream> rest_;
};

struct Progress {
    std::size_t consumed = 0;
    std::size_t produced = 0;
};

/// One packing. Members one after another in a file count as one content, as their own tools have it.
class Codec {
public:
    virtual ~Codec() = default;
    [[nodiscard]] virtual std::expected<Progress, std::string> run(std::span<const std::byte> in, std::span<std::byte> out) = 0;
    /// Between members: the file may end here.
    [[nodiscard]] virtual bool is_complete() const = 0;
};

class GzipCodec final : public Codec {
public:
    GzipCodec() { ok_ = ::inflateInit2(&z_, 15 + 16) == Z_OK; }
    ~GzipCodec() override { ::inflateEnd(&z_); }
    std::expected<Progress, std::string> run(std::span<const std::byte> in, std::span<std::byte> out) override {
        if (!ok_ || (complete_ && ::inflateReset(&z_) != Z_OK)) return std::unexpected(std::string{"gzip: out of memory"});
        complete_ = false;
        z_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
        z_.avail_in = static_cast<uInt>(in.size());
        z_.next_out = reinterpret_cast<Bytef*>(out.data());
        z_.avail_out = static_cast<uInt>(out.size());
        const int result = ::inflate(&z_, Z_NO_FLUSH);
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            return std::unexpected(fmt::format("gzip: {}", z_.msg != nullptr ? z_.msg : "damaged"));
        complete_ = result == Z_STREAM_END;
        return Progress{in.size() - z_.avail_in, out.size() - z_.avail_out};
    }
    bool is_complete() const override { return complete_; }

private:
    z_stream z_{};
    bool ok_ = false, complete_ = false;
};

class ZstdCodec final : public Codec {
public:
    ZstdCodec() : d_{::ZSTD_createDStream(), &::ZSTD_freeDStream} {}
    std::expected<Progress, std::string> run(std::span<const std::byte> in, std::span<std::byte> out) override {
        ZSTD_inBuffer i{in.data(), in.size(), 0};
        ZSTD_outBuffer o{out.data(), out.size(), 0};
        const std::size_t result = ::ZSTD_decompressStream(d_.get(), &o, &i);
        if (::ZSTD_isError(result) != 0) return std::unexpected(fmt::format("zstd: {}", ::ZSTD_getErrorName(result)));
        complete_ = result == 0;
        return Progress{i.pos, o.pos};
    }
    bool is_complete() const override { return complete_; }

private:
    std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> d_;
    bool complete_ = false;
};

class XzCodec final : public Codec {
public:
    XzCodec() { ok_ = ::lzma_stream_decoder(&z_, UINT64_MAX, LZMA_CONCATENATED) == LZMA_OK; }
    ~XzCodec() override { ::lzma_end(&z_); }
    std::expected<Progress, std::string> run(std::span<const std::byte> in, std::span<std::byte> out) override {
        if (!ok_) return std::unexpected(std::string{"xz: out of memory"});
        z_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
        z_.avail_in = in.size();
        z_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
        z_.avail_out = out.size();
        const lzma_ret result = ::lzma_code(&z_, in.empty() ? LZMA_FINISH : LZMA_RUN);
        if (result != LZMA_OK && result != LZMA_STREAM_END && result != LZMA_BUF_ERROR) return std::unexpected(std::string{"xz: damaged"});
        complete_ = result == LZMA_STREAM_END;
        return Progress{in.size() - z_.avail_in, out.size() - z_.avail_out};
    }
    bool is_complete() const override { return complete_; }

private:
    lzma_stream z_ = LZMA_STREAM_INIT;
    bool ok_ = false, complete_ = false;
};

class UnpackingStream final : public ByteStream {
public:
    UnpackingStream(std::unique_ptr<ByteStream> packed, std::unique_ptr<Codec> codec, std::string name)
        : packed_{std::move(packed)}, codec_{std::move(codec)}, name_{std::move(name)}, buffer_(packed_buffer_bytes) {}

    std::expected<std::size_t, std::string> read(std::span<std::byte> to) override {
        for (;;) {
            if (in_.empty() && !at_end_) {
                const auto got = packed_->read(buffer_);
                if (!got) return got;
                in_ = std::span{buffer_}.first(*got);
                at_end_ = *got == 0;
            }
            if (at_end_ && in_.empty() && codec_->is_complete()) return std::size_t{0};
            const auto step = codec_->run(in_, to);
            if (!step) return std::unexpected(fmt::format("{}: {}", name_, step.error()));
            in_ = in_.subspan(step->consumed);
            if (step->produced != 0) return step->produced;
            if (at_end_ && !codec_->is_complete() && step->consumed == 0)
                return std::unexpected(fmt::format("{}: the packed file ends in the middle: it is truncated", name_));
        }
    }

private:
    std::unique_ptr<ByteStream> packed_;
    std::unique_ptr<Codec> codec_;
    std::string name_;
    std::vector<std::byte> buffer_;
    std::span<const std::byte> in_;
    bool at_end_ = false;
};

std::unique_ptr<Codec> codec_for(std::span<const std::byte> first) {
    const auto begins_at = [&](std::size_t at, std::initializer_list<int> magic) {
        return first.size() >= at + magic.size() &&
               std::ranges::equal(first.subspan(at, magic.size()), magic, {}, [](std::byte b) { return std::to_integer<int>(b); });
    };
    const auto begins = [&](std::initializer_list<int> magic) { return begins_at(0, magic); };
    if (begins({0x1f, 0x8b})) return std::make_unique<GzipCodec>();
    const bool is_skippable =
        first.size() >= 4 && (first[0] & std::byte{0xf0}) == std::byte{0x50} && begins_at(1, {0x2a, 0x4d, 0x18}); // pzstd's first frame
    if (is_skippable || begins({0x28, 0xb5, 0x2f, 0xfd})) return std::make_unique<ZstdCodec>();
    if (begins({0xfd, '7', 'z', 'X', 'Z', 0x00})) return std::make_unique<XzCodec>();
    return nullptr;
}

std::expected<int, std::string> open_file(const std::string& path) {
    if (path == "-") return STDIN_FILENO;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
    struct stat status {};
    if (::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
        ::close(fd);
        return std::unexpected(fmt::format("{}: is a directory", path));
    }
    return fd;
}

} // namespace

std::expected<std::unique_ptr<ByteStream>, std::string> open_byte_stream(const std::string& path) {
    const std::string name = path == "-" ? "standard input" : path;
    const auto fd = open_file(path);
    if (!fd) return std::unexpected(fd.error());
    std::unique_ptr<ByteStream> file = std::make_unique<FileStream>(*fd, name);
    std::vector<std::byte> first(6);
    std::size_t have = 0;
    while (have < first.size()) {
        const auto got = file->read(std::span{first}.subspan(have));
        if (!got) return std::unexpected(got.error());
        if (*got == 0) break;
        have += *got;
    }
    first.resize(have);
    auto codec = codec_for(first);
    std::unique_ptr<ByteStream> whole = std::make_unique<RejoinedStream>(std::move(first), std::move(file));
    if (codec == nullptr) return whole;
    return std::make_unique<UnpackingStream>(std::move(whole), std::move(codec), name);
}

} // namespace flashlab

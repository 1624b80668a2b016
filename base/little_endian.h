/// Numbers as bytes on the media, written and read field by field.
///
/// Idea       A writer and a reader over a span. The format never depends on the compiler or the CPU.
/// Invariant  Writing past the span is a ContractViolation. Reading past the span sets failed(), which every decode() must ask.
/// Cost       A bounded memcpy per field.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/contract.h"

namespace flashlab {

static_assert(std::endian::native == std::endian::little, "FlashLab's media are little-endian; add byteswap here for other hosts");

template <std::unsigned_integral T>
[[nodiscard]] inline T load_le(std::span<const std::byte> from) {
    ensure(from.size() >= sizeof(T), "load_le: enough bytes");
    T value;
    std::memcpy(&value, from.data(), sizeof value);
    return value;
}

template <std::unsigned_integral T>
inline void store_le(std::span<std::byte> to, T value) {
    ensure(to.size() >= sizeof(T), "store_le: enough room");
    std::memcpy(to.data(), &value, sizeof value);
}

class LittleEndianWriter {
public:
    explicit LittleEndianWriter(std::span<std::byte> out) : out_{out} {}
    void u8(std::uint8_t v) { put(v); }
    void u16(std::uint16_t v) { put(v); }
    void u32(std::uint32_t v) { put(v); }
    void u64(std::uint64_t v) { put(v); }
    void bytes(std::span<const std::byte> v) {
        ensure(v.size() <= out_.size() - at_, "LittleEndianWriter: enough room");
        if (!v.empty()) std::memcpy(out_.data() + at_, v.data(), v.size());
        at_ += v.size();
    }
    void zeros(std::size_t n) {
        ensure(n <= out_.size() - at_, "LittleEndianWriter: enough room");
        if (n != 0) std::memset(out_.data() + at_, 0, n);
        at_ += n;
    }
    [[nodiscard]] std::span<const std::byte> written() const { return out_.first(at_); }
    [[nodiscard]] bool full() const { return at_ == out_.size(); }

private:
    template <std::unsigned_integral T>
    void put(T v) {
        store_le(out_.subspan(at_), v);
        at_ += sizeof v;
    }
    std::span<std::byte> out_;
    std::size_t at_ = 0;
};

class LittleEndianReader {
public:
    explicit LittleEndianReader(std::span<const std::byte> in) : in_{in} {}
    std::uint8_t u8() { return get<std::uint8_t>(); }
    std::uint16_t u16() { return get<std::uint16_t>(); }
    std::uint32_t u32() { return get<std::uint32_t>(); }
    std::uint64_t u64() { return get<std::uint64_t>(); }
    /// Returns an empty span when fewer than n bytes are left; failed() is true from then on.
    std::span<const std::byte> bytes(std::size_t n) {
        if (n > in_.size() - at_) {
            failed_ = true;
            at_ = in_.size();
            return {};
        }
        const auto out = in_.subspan(at_, n);
        at_ += n;
        return out;
    }
    [[nodiscard]] std::span<const std::byte> consumed() const { return in_.first(at_); }
    [[nodiscard]] std::size_t left() const { return in_.size() - at_; }
    [[nodiscard]] bool failed() const { return failed_; }

private:
    template <std::unsigned_integral T>
    T get() {
        const auto raw = bytes(sizeof(T));
        return raw.empty() ? T{0} : load_le<T>(raw);
    }
    std::span<const std::byte> in_;
    std::size_t at_ = 0;
    bool failed_ = false;
};

} // namespace flashlab

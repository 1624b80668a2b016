#include "base/image_generation.h"

#include <algorithm>

#include "base/crc32c.h"
#include "base/little_endian.h"

namespace flashlab {

namespace {

constexpr std::size_t crc_at = ImageGeneration::encoded_size - sizeof(std::uint32_t);

// The bits of the flags.
constexpr std::uint32_t announced_flag = 1, evidence_flag = 2, exact_flag = 4, second_flag = 8;

/// The finaliser of SplitMix64: the results of neighbouring numbers have nothing in common.
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

} // namespace

ImageGeneration ImageGeneration::next(std::uint64_t history) const {
    ImageGeneration after = *this; // what the evidence is stays for the caller to say
    after.number = number + 1;
    after.token = mixed(token ^ mixed(number ^ mixed(history)));
    after.token_before = token;
    after.announced = false;
    return after;
}

void ImageGeneration::encode(std::span<std::byte, encoded_size> out) const {
    LittleEndianWriter writer{out};
    writer.u64(number);
    writer.u64(token);
    writer.u64(token_before);
    writer.u32((announced ? announced_flag : 0) | (has_evidence ? evidence_flag : 0) | (is_exact ? exact_flag : 0) | (second_copy ? second_flag : 0));
    writer.u64(root);
    writer.u32(crc32c(writer.written()));
    ensure(writer.full(), "ImageGeneration: fields and encoded_size agree");
}

std::expected<ImageGeneration, std::string> ImageGeneration::decode(std::span<const std::byte, encoded_size> in) {
    if (std::ranges::all_of(in, [](std::byte b) { return b == std::byte{0}; })) return ImageGeneration{};
    if (load_le<std::uint32_t>(in.subspan<crc_at>()) != crc32c(in.first<crc_at>()))
        return std::unexpected(std::string{"its generation is damaged (checksum mismatch)"});
    LittleEndianReader reader{in};
    ImageGeneration generation;
    generation.number = reader.u64();
    generation.token = reader.u64();
    generation.token_before = reader.u64();
    const std::uint32_t flags = reader.u32();
    generation.announced = (flags & announced_flag) != 0;
    generation.has_evidence = (flags & evidence_flag) != 0;
    generation.is_exact = (flags & exact_flag) != 0;
    generation.second_copy = (flags & second_flag) != 0;
    generation.root = reader.u64();
    return generation;
}

bool belong_together(const ImageGeneration& first, const ImageGeneration& second) {
    if (first.number == second.number && first.token == second.token) return true;
    return first.announced && first.number == second.number + 1 && first.token_before == second.token;
}

} // namespace flashlab

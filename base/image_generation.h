/// Which state of a device an image belongs to: what pairs nand.img with pram.img.
///
/// Idea       Both images keep a number that grows when the device is opened for writing and when it is closed, and a token that follows from all that
///            was counted before: of two that do not agree one is a copy from another time.
/// Invariant  decode(encode(g)) == g; any flipped bit is noticed. All-zero is the generation of new images.
/// Cost       40 bytes an image; a few stores at open and close.
/// Power cut  A step is announced in one image, made in the other, then confirmed: whatever a kill leaves still belongs together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>

namespace flashlab {

struct ImageGeneration {
    static constexpr std::size_t encoded_size = 40;
    std::uint64_t number = 0;
    std::uint64_t token = 0;
    std::uint64_t token_before = 0; ///< of the generation before it
    bool announced = false;         ///< the sister may be one step behind: nothing was written since

    /// The next one; `history`: anything that tells this device's past from another's.
    [[nodiscard]] ImageGeneration next(std::uint64_t history) const;
    void encode(std::span<std::byte, encoded_size> out) const;
    [[nodiscard]] static std::expected<ImageGeneration, std::string> decode(std::span<const std::byte, encoded_size> in);
    friend bool operator==(const ImageGeneration&, const ImageGeneration&) = default;
};

/// `first` is the image that announces.
[[nodiscard]] bool belong_together(const ImageGeneration& first, const ImageGeneration& second);

} // namespace flashlab

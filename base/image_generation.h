/// Which state of a device an image belongs to. The generation tells whether nand.img and pram.img belong together.
///
/// Idea       Both images keep a number and a token. The number grows each time the device is opened for writing and each time it is closed. The
///            token follows from the whole history of the device. If two images do not agree, one of them is a copy from another time.
/// Invariant  decode(encode(g)) == g; any flipped bit is noticed. All-zero is the generation of new images.
///            The generation also carries the root of the evidence (image_evidence.h), and whether that evidence is exact.
/// Cost       40 bytes an image; a few stores at open and close.
/// Power cut  A step is announced in one image, made in the other, then confirmed in the first. The images that a kill leaves still belong together.
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
    std::uint64_t token_before = 0; ///< the token of the generation before
    bool announced = false;         ///< the other image may be one step behind: nothing was written since
    bool has_evidence = false;      ///< `root` is that of the evidence kept in the images
    bool is_exact = false;          ///< the images are what the evidence says; false: what it says, or later
    bool second_copy = false;       ///< the evidence that counts is the second of two copies
    std::uint64_t root = 0;

    /// The next generation. `history`: any number that tells this device's past from another device's past.
    [[nodiscard]] ImageGeneration next(std::uint64_t history) const;
    void encode(std::span<std::byte, encoded_size> out) const;
    [[nodiscard]] static std::expected<ImageGeneration, std::string> decode(std::span<const std::byte, encoded_size> in);
    friend bool operator==(const ImageGeneration&, const ImageGeneration&) = default;
};

/// `first` is the image that announces.
[[nodiscard]] bool belong_together(const ImageGeneration& first, const ImageGeneration& second);

} // namespace flashlab

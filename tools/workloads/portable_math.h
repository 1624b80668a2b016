/// Logarithm and exponential that give the same bits on every host.
///
/// Idea       The functions of the C library differ between versions, and between CPUs with and without fused multiply-add. A workload's addresses
///            must not differ.
/// Invariant  Only additions, multiplications and divisions of doubles, in a written order. Relative error below 1e-14.
/// Cost       About 10 ns.
#pragma once

#include <bit>
#include <cstdint>

namespace flashlab {

/// Natural logarithm of a positive normal number.
[[nodiscard]] constexpr double portable_log(double x) {
    constexpr double ln2 = 0.693147180559945309417;
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1022;
    double mantissa = std::bit_cast<double>((bits & 0x000fffffffffffffu) | 0x3fe0000000000000u); // in [0.5, 1)
    if (mantissa < 0.70710678118654752) {
        mantissa *= 2;
        --exponent;
    }
    const double z = (mantissa - 1) / (mantissa + 1);
    const double z2 = z * z;
    double sum = 0;
    for (int n = 21; n >= 1; n -= 2) // ln m = 2 (z + z^3/3 + z^5/5 ...), |z| < 0.172
        sum = sum * z2 + 1.0 / n;
    return static_cast<double>(exponent) * ln2 + 2 * z * sum;
}

/// e^x for |x| < 700.
[[nodiscard]] constexpr double portable_exp(double x) {
    constexpr double ln2_high = 0.693147180369123816490, ln2_low = 1.90821492927058770002e-10; // their sum is ln 2 to 85 bits
    const double halves = x * 1.44269504088896340736;
    const auto power = static_cast<std::int64_t>(halves < 0 ? halves - 0.5 : halves + 0.5);
    const double r = (x - static_cast<double>(power) * ln2_high) - static_cast<double>(power) * ln2_low; // |r| < 0.347
    double sum = 1;
    for (int n = 14; n >= 1; --n) sum = 1 + sum * r / n;
    return sum * std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
}

[[nodiscard]] constexpr double portable_pow(double base, double exponent) { return portable_exp(exponent * portable_log(base)); }

} // namespace flashlab

/// Seeded random numbers that are the same on every host: splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
///
/// Idea       std distributions differ between libraries; FlashLab's results must not.
/// Invariant  Same seed, same sequence, everywhere.
/// Cost       Three multiplications a draw, eight bytes of state.
#pragma once

#include <cstdint>

namespace flashlab {

class Random {
public:
    explicit constexpr Random(std::uint64_t seed) : state_{seed} {}
    constexpr std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    /// Uniform in [0, bound); bound > 0. Bias below 2^-32 for bounds below 2^32 (multiply-shift, no rejection).
    constexpr std::uint64_t below(std::uint64_t bound) { return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64); }
    constexpr bool chance(std::uint64_t parts, std::uint64_t of) { return below(of) < parts; }
    /// Uniform in [0, 1).
    constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    /// An independent stream, so that one consumer's draws do not shift another's.
    [[nodiscard]] constexpr Random fork() { return Random{next()}; }

private:
    std::uint64_t state_;
};

} // namespace flashlab

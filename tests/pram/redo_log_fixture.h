/// Where the redo log of these tests lies: a ring, and behind it the words' home.
#pragma once

#include <cstdint>

#include "pram/pram.h"

namespace flashlab::test {

inline constexpr PramRange ring{PramAddress{0}, 8192};
inline constexpr std::uint64_t home = 8192;

} // namespace flashlab::test

/// Bytes as a test writes them down.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace flashlab::test {

inline std::vector<std::byte> bytes(std::initializer_list<int> values) {
    std::vector<std::byte> out;
    for (const int v : values) out.push_back(static_cast<std::byte>(v));
    return out;
}

} // namespace flashlab::test

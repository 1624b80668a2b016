/// How a scheme's check() says what it found: a damaged drive has a problem a page, of which the first thousand tell enough.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ftl/block_device.h"

namespace flashlab {

inline constexpr std::size_t most_check_problems = 1000;

inline void report(std::vector<CheckProblem>& out, const char* invariant, std::string where, std::string detail) {
    if (out.size() < most_check_problems) out.push_back({invariant, std::move(where), std::move(detail)});
}

} // namespace flashlab

/// Catch2 v2 (Debian 12) and v3 (Debian 13) under one include, with the names of v3.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx; // not all of Catch: it has a contains() of its own
using Catch::Matchers::ContainsSubstring;
#else
#include <string>

#include <catch2/catch.hpp>
inline auto ContainsSubstring(const std::string& text) { return Catch::Matchers::Contains(text); }
#endif

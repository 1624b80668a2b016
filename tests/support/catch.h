/// Catch2 v2 (Debian 12) and v3 (Debian 13) under one include.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using namespace Catch;
#else
#include <catch2/catch.hpp>
#endif

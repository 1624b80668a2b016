// An id names a thing: it compares, orders and hashes, and nothing else.
#include <concepts>
#include <type_traits>
#include <unordered_set>

#include "base/id.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

template <class T>
concept Adds = requires(T a, T b) { a + b; };

} // namespace

TEST_CASE("an id does not convert, add or default", "[base]") {
    STATIC_REQUIRE_FALSE(std::is_convertible_v<std::uint32_t, Lpn>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<Lpn, std::uint32_t>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<Lpn, Ppn>);
    STATIC_REQUIRE_FALSE(std::is_default_constructible_v<Lpn>);
    STATIC_REQUIRE_FALSE(Adds<Lpn>);
    STATIC_REQUIRE_FALSE(std::equality_comparable_with<Lpn, Ppn>);
}

TEST_CASE("an id is as large as its number", "[base]") {
    STATIC_REQUIRE(sizeof(Ppn) == 4);
    STATIC_REQUIRE(sizeof(Ino) == 8);
    STATIC_REQUIRE(std::is_trivially_copyable_v<Ppn>);
}

TEST_CASE("ids are ordered like their numbers", "[base]") {
    CHECK(Lpn{1} < Lpn{2});
    CHECK(Lpn{2} == Lpn{2});
    CHECK(Lpn{3} != Lpn{2});
    CHECK(Sector{1ull << 40}.value() == 1ull << 40);
}

TEST_CASE("equal ids hash equally", "[base]") {
    std::unordered_set<Lpn> seen{Lpn{1}, Lpn{2}, Lpn{1}};
    CHECK(seen.size() == 2);
    CHECK(seen.contains(Lpn{2}));
}

/// Addresses of a trace on a device of another size.
#include "tools/traces/address_fit.h"

#include "tests/support/catch.h"

using namespace flashlab;

namespace {

constexpr std::uint64_t device_bytes = 16 * 4096;

std::vector<std::pair<std::uint64_t, std::uint64_t>> place(AddressFit& fit, std::uint64_t offset, std::uint64_t bytes, std::uint32_t device = 0) {
    const auto pieces = fit.place({0, offset, bytes, device, TraceOp::write});
    REQUIRE(pieces.has_value());
    std::vector<std::pair<std::uint64_t, std::uint64_t>> out;
    for (const AddressPiece& piece : **pieces) out.emplace_back(piece.offset, piece.bytes);
    return out;
}

using Pieces = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

} // namespace

TEST_CASE("addresses as they are may use the whole device, and beyond it the remedies are named", "[traces]") {
    AddressFit fit{FitPolicy::as_is, device_bytes};
    CHECK(place(fit, 0, device_bytes) == Pieces{{0, device_bytes}});
    CHECK(place(fit, 512, 1024) == Pieces{{512, 1024}});
    const auto beyond = fit.place({0, device_bytes - 512, 1024, 0, TraceOp::read});
    REQUIRE_FALSE(beyond.has_value());
    CHECK(beyond.error().find("--compact") != std::string::npos);
    CHECK_FALSE(fit.place({0, ~std::uint64_t{0} - 511, 1024, 0, TraceOp::read}).has_value());
    CHECK_FALSE(fit.place({0, 0, 512, 1, TraceOp::read}).has_value()); // another device
    CHECK((*fit.place({0, 0, 0, 0, TraceOp::flush}))->empty());
}

TEST_CASE("compact gives pages their place in the order of first touch, and keeps it", "[traces]") {
    AddressFit fit{FitPolicy::compact, device_bytes};
    CHECK(place(fit, 1'000'000 * 4096ull, 8192) == Pieces{{0, 8192}});
    CHECK(place(fit, 5 * 4096 + 512, 512) == Pieces{{2 * 4096 + 512, 512}});
    CHECK(place(fit, 4 * 4096, 2 * 4096) == Pieces{{3 * 4096, 4096}, {2 * 4096, 4096}}); // the second page was touched before
    CHECK(place(fit, 1'000'001 * 4096ull, 100) == Pieces{{4096, 100}});
    CHECK(place(fit, 5 * 4096, 4096, 7) == Pieces{{4 * 4096, 4096}}); // another device's page 5
    REQUIRE(fit.place({0, 1ull << 40, 11 * 4096, 0, TraceOp::write}).has_value());
    const auto full = fit.place({0, 1ull << 50, 4096, 0, TraceOp::write});
    REQUIRE_FALSE(full.has_value());
    CHECK(full.error().find("--size") != std::string::npos);
}

TEST_CASE("wrap covers a request's bytes once, splitting it at the end of the device", "[traces]") {
    AddressFit fit{FitPolicy::wrap, device_bytes};
    CHECK(place(fit, device_bytes * 5 + 4096, 4096) == Pieces{{4096, 4096}});
    CHECK(place(fit, device_bytes - 4096, 12288) == Pieces{{device_bytes - 4096, 4096}, {0, 8192}});
    CHECK(place(fit, 0, device_bytes * 3) == Pieces{{0, device_bytes}}); // longer than the device: once around
    CHECK(place(fit, 0, 4096, 3) != Pieces{{0, 4096}});                  // another device begins elsewhere
}

// Goal: the kernel copies page to page. That it is also faster is for the benchmark.
#include "tests/support/catch.h"

#include <cstdint>
#include <cstring>

#include "fs/fuse/read_buffer.h"
#include "fs/fuse/request_buffer.h"

using namespace flashlab;

namespace {
bool begins_a_page(const void* at) { return reinterpret_cast<std::uintptr_t>(at) % host_page_bytes == 0; }
} // namespace

TEST_CASE("the data of a write begin at a page from the second request on, in a buffer no shorter than libfuse's", "[fuse]") {
    constexpr std::size_t bytes = (1u << 20) + 4096;
    RequestBuffer buffer;
    buffer.align();
    CHECK(buffer.get()->mem == nullptr); // libfuse shall make the first
    buffer.get()->mem = std::malloc(bytes);
    REQUIRE(buffer.get()->mem != nullptr);
    for (int request = 0; request < 3; ++request) {
        std::memset(buffer.get()->mem, 0x5a, bytes);
        buffer.align();
        if (FUSE_VERSION < FUSE_MAKE_VERSION(3, 17)) CHECK(begins_a_page(static_cast<const std::byte*>(buffer.get()->mem) + 80));
    }
}

TEST_CASE("an answer to a read begins at a page", "[fuse]") {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{128u << 10}, std::size_t{1u << 20}, std::size_t{5000}}) {
        ReadBuffer buffer{bytes};
        CHECK(begins_a_page(buffer.first(bytes).data()));
    }
}

#include "fs/fuse/guard.h"

#include "base/contract.h"
#include "fs/fuse/capability_cache.h"
#include "fs/fuse/read_buffer.h"
#include "tests/support/catch.h"

using namespace flashlab;

TEST_CASE("values and errors pass the guard as they are", "[fuse]") {
    Guard guard;
    CHECK(guard.run("a", []() -> FsResult<int> { return 7; }).value() == 7);
    CHECK(guard.run("a", []() -> FsResult<int> { return std::unexpected(FsError{ENOSPC}); }).error() == FsError{ENOSPC});
    CHECK_FALSE(guard.tripped());
}

TEST_CASE("whatever is thrown becomes EIO and trips the guard for good", "[fuse]") {
    Guard guard;
    SECTION("a broken contract") {
        CHECK(guard.run("write", []() -> FsResult<int> { violated("a block freed twice"); }).error() == FsError{EIO});
    }
    SECTION("an exception of a library") {
        CHECK(guard.run("write", []() -> FsResult<int> { throw std::bad_alloc{}; }).error() == FsError{EIO});
    }
    SECTION("something that is no exception class") {
        CHECK(guard.run("write", []() -> FsResult<int> { throw 1; }).error() == FsError{EIO});
    }
    CHECK(guard.tripped());
    CHECK(guard.run("read", []() -> FsResult<int> { return 1; }).has_value()); // reading goes on
    CHECK(guard.tripped());
}

TEST_CASE("the capability cache knows only what it was told, and forgets what changed", "[fuse]") {
    const auto cache = std::make_unique<CapabilityCache>();
    CHECK_FALSE(cache->known_without(Ino{7}));
    cache->note_without(Ino{7});
    CHECK(cache->known_without(Ino{7}));
    CHECK_FALSE(cache->known_without(Ino{7 + 65536})); // the same slot
    cache->drop(Ino{7 + 65536});
    CHECK(cache->known_without(Ino{7}));
    cache->drop(Ino{7});
    CHECK_FALSE(cache->known_without(Ino{7}));
}

TEST_CASE("a thread's read buffer is lent again after the answer, and replaced while one is away", "[fuse]") {
    const std::byte* first = nullptr;
    {
        ReadBuffer buffer{1u << 20};
        first = buffer.first(1).data();
        ReadBuffer away{std::move(buffer)};
        ReadBuffer second{4096};
        CHECK(second.first(4096).data() != first);
    }
    ReadBuffer again{1u << 20};
    CHECK(again.first(1).data() == first);
}

// Which direct writes must make the kernel drop pages: seen from the order in which requests are served.
#include "fs/fuse/kernel_pages.h"

#include "tests/support/catch.h"

namespace flashlab {

namespace {
constexpr Ino file{7}, other_file{8};
constexpr std::uint64_t page = 4096;

/// A write whose drop is done at once.
bool drops(KernelPages& pages, Ino ino, std::uint64_t offset, std::uint64_t bytes) {
    const bool must = pages.note_direct_write(ino, offset, bytes);
    if (must) pages.note_dropped(ino);
    return must;
}
} // namespace

TEST_CASE("the first direct write of a page drops what may be cached of it, the next ones need not", "[fuse]") {
    KernelPages pages;
    CHECK(drops(pages, file, 0, page));
    CHECK_FALSE(drops(pages, file, 0, page));
    CHECK(drops(pages, file, page, page));
    CHECK(drops(pages, other_file, 0, page));
    CHECK(drops(pages, file, 0, 600 * page)); // beyond what was written, and over the end of what is noted together
    CHECK_FALSE(drops(pages, file, 511 * page, 2 * page));
    CHECK_FALSE(drops(pages, file, 0, 0));
}

TEST_CASE("a page that is cached again is dropped again, even if a single byte of it was touched", "[fuse]") {
    KernelPages pages;
    CHECK(drops(pages, file, 0, 8 * page));
    pages.note_cached(file, 3 * page + 4095, 2); // pages 3 and 4
    CHECK_FALSE(drops(pages, file, 0, 3 * page));
    CHECK(drops(pages, file, 3 * page, 1));
    CHECK(drops(pages, file, 5 * page - 1, 1));
    CHECK_FALSE(drops(pages, file, 3 * page, 2 * page));
    pages.note_cached(other_file, 0, page);
    CHECK_FALSE(drops(pages, file, 0, page));
}

TEST_CASE("while a drop is under way no direct write of the file is answered without one", "[fuse]") {
    KernelPages pages;
    CHECK(drops(pages, file, 0, 2 * page));
    pages.note_cached(file, 0, page);
    CHECK(pages.note_direct_write(file, 0, page)); // its pages are not gone yet
    CHECK(pages.note_direct_write(file, 0, page));
    pages.forget(file); // somebody closed it: what is under way stays known
    CHECK(pages.note_direct_write(file, page, page));
    pages.note_dropped(file);
    pages.note_dropped(file);
    pages.note_dropped(file);
    CHECK_FALSE(drops(pages, file, 0, 2 * page));
}

TEST_CASE("after the last direct writer nothing is known of a file", "[fuse]") {
    KernelPages pages;
    CHECK(drops(pages, file, 0, page));
    pages.forget(file);
    CHECK(drops(pages, file, 0, page));
    pages.forget(other_file);
    pages.note_dropped(other_file);
}

} // namespace flashlab

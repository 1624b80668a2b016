/// The attribute that names a file's stream: what the device is told with the file's data, who inherits it, which values are refused.
#include "fs/file_stream.h"
#include "tests/fs/fs_world.h"

using namespace flashlab;
using flashlab::test::FsWorld;

namespace {

int set_stream(FsWorld& world, Ino ino, std::string_view value) {
    const auto set = world.fs->set_xattr(world.call(), ino, stream_xattr, std::as_bytes(std::span{value}), XattrMode::any);
    return set ? 0 : set.error().error_number;
}

StreamId stream_written(FsWorld& world, Ino ino) {
    REQUIRE(world.write(ino, 0, std::string(20'000, 'x')) == 0);
    world.device.last_stream = no_stream;
    REQUIRE(world.sync(ino) == 0);
    return world.device.last_stream;
}

} // namespace

TEST_CASE("the data of a file carry the stream of its attribute, also after a mount; a file without one writes stream 0", "[fs][xattr]") {
    for (const std::uint64_t pram : {std::uint64_t{4} << 20, FsWorld::in_journal}) {
        FsWorld world{8192, pram};
        const Ino plain = world.create("plain"), tagged = world.create("tagged");
        CHECK(stream_written(world, plain) == no_stream);
        CHECK(stream_written(world, tagged) == no_stream);
        REQUIRE(set_stream(world, tagged, "3") == 0);
        CHECK(stream_written(world, tagged) == StreamId{3});
        CHECK(stream_written(world, plain) == no_stream);
        world.remount();
        CHECK(stream_written(world, world.find("tagged")) == StreamId{3});
        REQUIRE(world.fs->remove_xattr(world.call(), world.find("tagged"), stream_xattr).has_value());
        CHECK(stream_written(world, world.find("tagged")) == no_stream);
    }
}

TEST_CASE("what is made in a directory with a stream has it, and so has what is made in a directory made there", "[fs][xattr]") {
    FsWorld world;
    const Ino logs = world.mkdir("logs");
    REQUIRE(set_stream(world, logs, "249") == 0);
    CHECK(stream_written(world, world.create("a", logs)) == StreamId{249});
    const Ino deeper = world.mkdir("deeper", logs);
    CHECK(stream_written(world, world.create("b", deeper)) == StreamId{249});
    CHECK(world.fs->list_xattrs(world.call(), deeper)->value == std::string{stream_xattr} + '\0');
    CHECK(stream_written(world, world.create("c")) == no_stream);
    world.remount();
    CHECK(stream_written(world, world.create("d", world.find("deeper", world.find("logs")))) == StreamId{249});
}

TEST_CASE("a stream that is no number, or that no drive can have, is refused and nothing is kept", "[fs][xattr]") {
    FsWorld world;
    const Ino file = world.create("file");
    for (const char* value : {"", "x", "3x", " 3", "-1", "03", "00", "250", "65536", "99999999999999999999"}) {
        INFO(value);
        CHECK(set_stream(world, file, value) == EINVAL);
    }
    CHECK(set_stream(world, file, std::string_view{"3\0", 2}) == EINVAL);
    CHECK(world.fs->list_xattrs(world.call(), file)->value.empty());
    CHECK(set_stream(world, file, "0") == 0);
}

TEST_CASE("a stream that the drive does not have is refused, and the one before stays", "[fs][xattr]") {
    FsOptions options;
    options.streams = 4;
    FsWorld world{1024, 4u << 20, options};
    const Ino file = world.create("file");
    CHECK(set_stream(world, file, "3") == 0);
    CHECK(set_stream(world, file, "4") == EINVAL);
    CHECK(stream_written(world, file) == StreamId{3});
}

TEST_CASE("a file without the attribute carries the stream of who wrote it last; the kernel's flusher is nobody", "[fs][xattr]") {
    FsWorld world;
    const Ino file = world.create("file");
    const auto stream_after = [&](StreamId writer, bool from_page_cache) {
        const std::string bytes(20'000, 'x');
        const auto written = world.patient([&](FsCall call) {
            call.stream = writer;
            call.from_page_cache = from_page_cache;
            return world.fs->write(call, file, 0, std::as_bytes(std::span{bytes}));
        });
        REQUIRE(written.has_value());
        world.device.last_stream = no_stream;
        REQUIRE(world.sync(file) == 0);
        return world.device.last_stream;
    };
    CHECK(stream_after(StreamId{5}, false) == StreamId{5});
    CHECK(stream_after(StreamId{6}, true) == StreamId{5});
    CHECK(stream_after(no_stream, false) == no_stream);
    REQUIRE(set_stream(world, file, "0") == 0);
    CHECK(stream_after(StreamId{5}, false) == no_stream); // the attribute says so
    REQUIRE(set_stream(world, file, "7") == 0);
    CHECK(stream_after(StreamId{5}, false) == StreamId{7});
}

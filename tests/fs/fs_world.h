/// A file system on PRAM, or with its metadata in a journal, and a device in memory, with the calls that a test wants to write short.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "fs/file_system.h"
#include "fs/retry.h"
#include "pram/memory_pram_store.h"
#include "pram/pram.h"
#include "tests/support/catch.h"
#include "tests/support/memory_block_device.h"

namespace flashlab::test {

inline constexpr std::uint64_t kib = 1024;

class FsWorld {
public:
    static constexpr std::uint64_t in_journal = 0; ///< as `pram_bytes`: there is no PRAM
    explicit FsWorld(std::uint64_t pages = 1024, std::uint64_t pram_bytes = 4u << 20, FsOptions with = {}, std::uint32_t unit_bytes = 4096)
        : options{with}, cells{std::max<std::uint64_t>(pram_bytes, 8)}, device{pages, unit_bytes} {
        config.bytes = pram_bytes;
        if (pram_bytes == in_journal) {
            REQUIRE(FileSystem::format_journal(device, "test", FileTime{.seconds = 1}, now).has_value());
        } else {
            pram = std::make_unique<Pram>(config, cells, events, PramUndo::none);
            REQUIRE(FileSystem::format(*pram, range(), device, "test", FileTime{.seconds = 1}).has_value());
        }
        open();
    }
    [[nodiscard]] PramRange range() const { return {.at = PramAddress{0}, .bytes = config.bytes}; }
    void open() {
        auto opened =
            pram == nullptr ? FileSystem::open_journal(device, events, options, now) : FileSystem::open(*pram, range(), device, events, options, now);
        INFO((opened ? std::string{} : opened.error()));
        REQUIRE(opened.has_value());
        fs = std::move(*opened);
    }
    void remount() {
        REQUIRE(fs->shut_down(now).has_value());
        fs.reset();
        open();
    }
    /// The daemon dies; the device has all that it was given.
    void kill() {
        REQUIRE(device.flush(now).has_value());
        crash(0);
    }
    /// The daemon dies; the device loses what was not flushed.
    void crash(std::uint64_t seed) {
        fs.reset();
        device.cut(seed);
        open();
    }
    [[nodiscard]] FsCall call() {
        now += Duration{1000};
        ++wall.nanoseconds;
        return {.now = now, .wall = wall, .uid = 0, .gid = 0, .umask = 022, .may_override_suid = false};
    }
    [[nodiscard]] Ino create(std::string_view name, Ino parent = root_ino, std::uint32_t mode = S_IFREG | 0644) {
        const auto made = fs->make_node(call(), parent, name, mode, 0);
        REQUIRE(made.has_value());
        return made->value.ino;
    }
    [[nodiscard]] Ino mkdir(std::string_view name, Ino parent = root_ino) {
        const auto made = fs->make_directory(call(), parent, name, 0755);
        REQUIRE(made.has_value());
        return made->value.ino;
    }
    [[nodiscard]] Ino find(std::string_view name, Ino parent = root_ino) {
        const auto found = fs->lookup(call(), parent, name);
        if (!found) return Ino{0};
        fs->forget(found->value.ino, 1, now);
        return found->value.ino;
    }
    [[nodiscard]] Attributes stat(Ino ino) {
        const auto got = fs->attributes(call(), ino);
        REQUIRE(got.has_value());
        return got->value;
    }
    /// Makes the call until it does not answer "again"; time passes.
    template <class Work>
    auto patient(const Work& work) {
        FsCall at = call();
        auto result = until_done(at, work);
        now = std::max(now, at.now);
        return result;
    }
    /// As much as fits.
    [[nodiscard]] FsResult<Timed<std::size_t>> write_once(Ino ino, std::uint64_t offset, std::string_view bytes) {
        return patient([&](const FsCall& c) { return fs->write(c, ino, offset, std::as_bytes(std::span{bytes})); });
    }
    /// As applications do: again with the rest, until all is written or nothing more fits.
    [[nodiscard]] int write(Ino ino, std::uint64_t offset, std::string_view bytes) {
        while (!bytes.empty()) {
            const auto done = write_once(ino, offset, bytes);
            if (!done) return done.error().error_number;
            REQUIRE(done->value > 0);
            offset += done->value;
            bytes.remove_prefix(done->value);
        }
        return fs->host_cache() == HostCache::writethrough ? sync(ino) : 0;
    }
    [[nodiscard]] int allocate(Ino ino, FallocateMode mode, std::uint64_t offset, std::uint64_t bytes) {
        const auto done = patient([&](const FsCall& c) { return fs->allocate(c, ino, mode, offset, bytes); });
        return done ? 0 : done.error().error_number;
    }
    [[nodiscard]] std::string read(Ino ino, std::uint64_t offset, std::size_t bytes) {
        std::string text(bytes, '?');
        const auto got = fs->read(call(), ino, offset, std::as_writable_bytes(std::span{text}));
        REQUIRE(got.has_value());
        text.resize(got->value);
        return text;
    }
    [[nodiscard]] std::string contents(Ino ino) { return read(ino, 0, static_cast<std::size_t>(stat(ino).size)); }
    [[nodiscard]] int run(FsResult<std::unique_ptr<SlowCall>> begun) {
        if (!begun) return begun.error().error_number;
        while (true) {
            const auto step = (*begun)->step(now);
            if (!step) return step.error().error_number;
            if (const auto* done = std::get_if<Done>(&*step)) {
                now = std::max(now, done->at);
                return 0;
            }
            REQUIRE(std::get<ResumeAt>(*step).at > now);
            now = std::get<ResumeAt>(*step).at;
        }
    }
    [[nodiscard]] int sync(Ino ino) { return run(fs->begin_sync(call(), ino, SyncScope::data_and_metadata)); }
    [[nodiscard]] int rename(Ino from_parent, std::string_view from, Ino to_parent, std::string_view to, RenameMode mode = RenameMode::replace) {
        return run(fs->begin_rename(call(), from_parent, from, to_parent, to, mode));
    }
    [[nodiscard]] int unlink(std::string_view name, Ino parent = root_ino) {
        const auto done = fs->unlink(call(), parent, name);
        return done ? 0 : done.error().error_number;
    }
    [[nodiscard]] int truncate(Ino ino, std::uint64_t size) {
        AttributeChange change;
        change.which = AttributeChange::size;
        change.new_size = size;
        const auto done = patient([&](const FsCall& c) { return fs->change_attributes(c, ino, change); });
        return done ? 0 : done.error().error_number;
    }
    [[nodiscard]] std::vector<std::string> list(Ino directory) {
        std::vector<std::string> names;
        REQUIRE(fs->read_directory(call(), directory, 0, [&](std::string_view name, Ino, std::uint32_t, std::uint64_t) {
                      names.emplace_back(name);
                      return true;
                  }).has_value());
        return names;
    }
    /// Lets time pass until nothing is due.
    void settle(Duration until = Duration{60'000'000'000}) {
        const SimTime end = now + until;
        for (SimTime next = fs->tick(now); next < end; next = fs->tick(now)) now = std::max(now + Duration{1}, next);
    }
    void check() {
        for (const FsckProblem& problem : fs->check()) FAIL_CHECK(fmt::format("{}: {}: {}", problem.kind, problem.where, problem.detail));
    }

    FsOptions options;
    PramConfig config{};
    MemoryPramStore cells;
    MemoryBlockDevice device;
    NullEventSink events;
    std::unique_ptr<Pram> pram;
    std::unique_ptr<FileSystem> fs;
    SimTime now = sim_start;
    FileTime wall{.seconds = 1000};
};

} // namespace flashlab::test

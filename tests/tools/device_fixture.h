// Devices for tests: real directories of 32 MiB devices below /tmp.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

#include "tools/drive/config_file.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/device_directory.h"
#include "tools/drive/device_presets.h"
#include "tools/run/virtual_calls.h"

namespace flashlab::test {

namespace files = std::filesystem;

inline DevicePlan small_plan(std::uint64_t pram_bytes = 4u << 20) {
    ConfigSources sources;
    sources.preset = common_preset_name; // a map in PRAM, no write buffer: what is written is on flash
    sources.settings = {"pram.bytes=" + std::to_string(pram_bytes), "nand.pages_per_block=64", "nand.planes_per_die=1"};
    const auto config = gather_config(sources);
    REQUIRE(config.has_value());
    auto plan = plan_device(*config, 32u << 20);
    INFO((plan ? "" : plan.error()));
    REQUIRE(plan.has_value());
    return *plan;
}

inline void make(const files::path& directory, ExistingDevice existing = ExistingDevice::refuse) {
    const auto made = make_device_directory(directory, small_plan(), "test", existing);
    INFO((made ? "" : made.error()));
    REQUIRE(made.has_value());
}

inline std::unique_ptr<DeviceDirectory> open(const files::path& directory, DeviceAccess access = DeviceAccess::use) {
    OpenOptions options;
    options.access = access;
    auto opened = DeviceDirectory::open(directory, options);
    INFO((opened ? "" : opened.error()));
    REQUIRE(opened.has_value());
    return std::move(*opened);
}

inline void close(DeviceDirectory& opened) { REQUIRE(opened.close(opened.device().ready_at(), {}).has_value()); }

/// What a file holds, in runs of pieces that are not all zero. Whether zeros are stored or a hole is the host's file system's business: on tmpfs a
/// page becomes data by being read through a mapping.
inline std::map<off_t, std::string> extents(const files::path& path) {
    constexpr off_t piece = 4096;
    std::map<off_t, std::string> out;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(fd >= 0);
    std::string part;
    std::string* run = nullptr;
    off_t run_end = 0, next = 0;
    for (off_t at = 0; (at = ::lseek(fd, at, SEEK_DATA)) >= 0;) {
        const off_t end = ::lseek(fd, at, SEEK_HOLE);
        for (at = std::max(at - at % piece, next); at < end; at = next) {
            next = at + piece;
            part.resize(piece);
            const ssize_t got = ::pread(fd, part.data(), part.size(), at);
            if (got <= 0) FAIL("cannot read " << path.string());
            part.resize(static_cast<std::size_t>(got));
            if (part.find_first_not_of('\0') == std::string::npos) continue;
            if (run_end != at) run = nullptr;
            if (run == nullptr) run = &out[at];
            *run += part;
            run_end = next;
        }
    }
    out[static_cast<off_t>(files::file_size(path))] = "";
    ::close(fd);
    return out;
}

/// Name and content of every file.
inline std::map<std::string, std::map<off_t, std::string>> contents(const files::path& directory) {
    std::map<std::string, std::map<off_t, std::string>> out;
    for (const auto& entry : files::recursive_directory_iterator{directory})
        if (entry.is_regular_file()) out[files::relative(entry.path(), directory)] = extents(entry.path());
    return out;
}

inline void write_something(DeviceDirectory& opened, const char* name = "file") {
    auto& device = opened.device();
    const FsCall call{.now = device.ready_at(), .wall = FileTime{1, 0}};
    const auto node = device.fs().make_node(call, root_ino, name, 0100644, 0);
    REQUIRE(node.has_value());
    const std::vector<std::byte> data(100'000, std::byte{7});
    REQUIRE(device.fs().write(call, node->value.ino, 0, data).has_value());
    REQUIRE(sync_all(device.fs(), call.now).has_value());
}

/// A device whose power went in the middle of work.
inline void cut(const files::path& directory) {
    auto opened = open(directory, DeviceAccess::use);
    write_something(*opened);
    (void)opened->device().cut(opened->device().last_reserved_end() - Duration{1000}, 1);
    REQUIRE(opened->close(opened->device().ready_at(), {}).has_value());
}

} // namespace flashlab::test

// Devices full of files, whose images are damaged in place.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include <sys/mman.h>

#include "base/random.h"
#include "tests/tools/device_fixture.h"
#include "tools/drive/device_check.h"

namespace flashlab::test {

using Model = std::map<std::string, std::vector<std::byte>>;

struct Kind {
    const char* scheme;
    const char* metadata;
    bool killed; ///< not closed after the last sync
};

inline DevicePlan plan_of(const Kind& kind) {
    ConfigSources sources;
    sources.settings = {"nand.pages_per_block=64", "nand.planes_per_die=1", std::string{"fs.metadata="} + kind.metadata,
                        std::string{"ftl.scheme="} + kind.scheme};
    if (std::string{kind.metadata} == "pram") sources.settings.emplace_back("pram.bytes=4M");
    const auto config = gather_config(sources);
    REQUIRE(config.has_value());
    auto plan = plan_device(*config, std::string{kind.metadata} == "pram" ? 32u << 20 : 64u << 20);
    INFO((plan ? "" : plan.error()));
    REQUIRE(plan.has_value());
    return *plan;
}

/// Files of all sizes, some overwritten, some removed, in two sessions, all synced.
inline Model fill(const files::path& directory, bool killed, std::uint64_t seed) {
    Model model;
    Random random{seed};
    for (int session = 0; session < 2; ++session) {
        auto opened = open(directory, DeviceAccess::use);
        Device& device = opened->device();
        FileSystem& fs = device.fs();
        SimTime now = device.ready_at();
        for (int step = 0; step < 120; ++step) {
            const std::string name = "file" + std::to_string(random.below(40));
            auto found = fs.lookup(call_at(now), root_ino, name);
            if (found && random.chance(1, 6)) {
                REQUIRE(fs.unlink(call_at(now), root_ino, name).has_value());
                model.erase(name);
                continue;
            }
            if (!found) found = fs.make_node(call_at(now), root_ino, name, 0100644, 0);
            REQUIRE(found.has_value());
            std::vector<std::byte> data(1 + random.below(random.chance(1, 4) ? 200'000 : 9'000));
            for (std::byte& b : data) b = static_cast<std::byte>(random.next());
            const std::uint64_t offset = random.below(20'000);
            REQUIRE(fs.write(call_at(now), found->value.ino, offset, data).has_value());
            std::vector<std::byte>& file = model[name];
            if (file.size() < offset + data.size()) file.resize(offset + data.size());
            std::ranges::copy(data, file.begin() + static_cast<std::ptrdiff_t>(offset));
            if (step % 10 == 9) {
                const auto synced = sync_all(fs, now);
                REQUIRE(synced.has_value());
                now = *synced;
            }
        }
        const auto synced = sync_all(fs, now);
        REQUIRE(synced.has_value());
        if (session == 1 && killed)
            opened->abandon();
        else
            REQUIRE(opened->close(*synced, {}).has_value());
    }
    return model;
}

/// An image file whose bits are flipped in place and put back.
class Image {
public:
    explicit Image(const files::path& path) : bytes_(files::file_size(path)) {
        const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
        REQUIRE(fd >= 0);
        for (off_t at = 0; (at = ::lseek(fd, at, SEEK_DATA)) >= 0;) {
            const off_t end = ::lseek(fd, at, SEEK_HOLE);
            live_.emplace_back(static_cast<std::uint64_t>(at), static_cast<std::uint64_t>(end));
            at = end;
        }
        map_ = static_cast<std::byte*>(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
        ::close(fd);
        REQUIRE(map_ != MAP_FAILED);
        for (const auto& [from, end] : live_)
            for (std::uint64_t page = from; page + 512 <= end; page += 512)
                if (std::ranges::any_of(std::span{map_ + page, 512}, [](std::byte b) { return b != std::byte{0}; })) written_.push_back(page);
    }
    ~Image() { ::munmap(map_, bytes_); }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;

    /// Half of the bits where something was written, a quarter each in the first and in any part of the image.
    void flip(Random& random, std::uint64_t bits) {
        for (std::uint64_t i = 0; i < bits; ++i) {
            const std::uint64_t where = random.below(4);
            const std::uint64_t at = where < 2    ? written_[random.below(written_.size())] + random.below(512)
                                     : where == 2 ? written_[random.below(std::min<std::size_t>(written_.size(), 256))] + random.below(512)
                                                  : random.below(bytes_);
            flip(at, static_cast<unsigned>(random.below(8)));
        }
    }
    void flip(std::uint64_t at, unsigned bit) {
        map_[at] ^= static_cast<std::byte>(1u << bit);
        flipped_.emplace_back(at, bit);
    }
    void put_back() {
        for (const auto& [at, bit] : flipped_) map_[at] ^= static_cast<std::byte>(1u << bit);
        flipped_.clear();
    }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    /// Places of 512 bytes that are not all zero.
    [[nodiscard]] const std::vector<std::uint64_t>& written() const { return written_; }
    [[nodiscard]] std::string_view text(std::uint64_t at, std::size_t length) const { return {reinterpret_cast<const char*>(map_ + at), length}; }

private:
    std::uint64_t bytes_;
    std::byte* map_ = nullptr;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> live_;
    std::vector<std::uint64_t> written_;
    std::vector<std::pair<std::uint64_t, unsigned>> flipped_;
};

inline std::map<std::string, std::map<off_t, std::string>> images_of(const files::path& directory) {
    return {{"nand.img", extents(directory / "nand.img")}, {"pram.img", extents(directory / "pram.img")}};
}

/// Who reads it has a damaged drive: it names no place in our sources, and calls nothing a defect of ours.
inline void require_for_users(const std::string& message) {
    CHECK_THAT(message, !ContainsSubstring(".cpp:") && !ContainsSubstring(".h:") && !ContainsSubstring("defect"));
}

/// Problems of fsck --data; a device that does not open at all is one.
inline std::size_t problems_of(const files::path& directory) {
    OpenOptions options;
    options.access = DeviceAccess::look;
    std::vector<ImageDamage> damage;
    options.damage = &damage;
    options.tolerate_damage = true;
    auto opened = DeviceDirectory::open(directory, options);
    if (!opened) require_for_users(opened.error());
    if (opened) { // walked even where damage is known: structures that nothing vouches for
        const auto checked = check_device((*opened)->device(), DeviceCheckDepth::data, [](std::uint64_t) { return true; });
        for (const Json& problem : checked.problems.items()) require_for_users(problem["detail"].text());
        if (damage.empty()) return checked.problems.items().size();
    }
    return std::max<std::size_t>(damage.size(), 1);
}

inline constexpr std::array kinds{Kind{"hftl", "pram", false},        Kind{"hftl", "pram", true},    Kind{"page_map", "journal", false},
                                  Kind{"page_map", "journal", true},  Kind{"hftl", "journal", true}, Kind{"page_map", "pram", true},
                                  Kind{"fast", "pram", false},        Kind{"dftl", "journal", true}, Kind{"coftl", "pram", false},
                                  Kind{"log_block", "journal", true}, Kind{"coftl", "pram", true}};

} // namespace flashlab::test

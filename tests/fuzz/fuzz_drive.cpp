// A whole device with damaged images: bits flipped anywhere, files cut short. What opens serves what was written, or an error, and fsck does not
// stumble. A repair leaves a sound device that tells what is lost, or the images as they were.
//
// Input: the kind of device, flags (1: repair; 2, 4: cut nand.img, pram.img short), where to cut (2 bytes), then 5 bytes a flip: 2 for the image and
// one of its written sectors, 2 for the place in it, 1 for the bits.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/random.h"
#include "tests/support/temporary_directory.h"
#include "tools/drive/config_file.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/device_check.h"
#include "tools/drive/device_copy.h"
#include "tools/drive/device_directory.h"
#include "tools/drive/device_repair.h"
#include "tools/run/virtual_calls.h"

using namespace flashlab;

namespace {

namespace files = std::filesystem;
using Bytes = std::vector<std::byte>;

constexpr std::size_t sector = 512;
constexpr std::array<const char*, 2> image_names{"nand.img", "pram.img"};

[[noreturn]] void found(const std::string& what) {
    std::fprintf(stderr, "found: %s\n", what.c_str());
    __builtin_trap();
}

template <class T>
T must(std::expected<T, std::string> made) {
    if (!made) found(made.error());
    if constexpr (!std::is_void_v<T>) return std::move(*made);
}

class ImageFile {
public:
    explicit ImageFile(const files::path& path) : fd_{::open(path.c_str(), O_RDWR | O_CLOEXEC)}, bytes_{files::file_size(path)} {
        Bytes part(sector);
        for (off_t at = 0; (at = ::lseek(fd_, at, SEEK_DATA)) >= 0;) {
            const off_t end = ::lseek(fd_, at, SEEK_HOLE);
            for (; at < end; at += static_cast<off_t>(sector))
                if (::pread(fd_, part.data(), sector, at) > 0 && std::ranges::any_of(part, [](std::byte b) { return b != std::byte{0}; }))
                    written_.push_back(static_cast<std::uint64_t>(at));
        }
    }
    ~ImageFile() { ::close(fd_); }
    ImageFile(const ImageFile&) = delete;
    ImageFile& operator=(const ImageFile&) = delete;

    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] std::uint64_t place(std::uint64_t which, std::uint64_t in) const {
        const std::uint64_t at = (in & 0x8000) != 0 ? which * bytes_ >> 15 : written_[which % written_.size()] + in % sector;
        return std::min(at, bytes_ - 1);
    }

private:
    int fd_;
    std::uint64_t bytes_;
    std::vector<std::uint64_t> written_;
};

void flip(const files::path& path, std::uint64_t at, std::uint8_t mask) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    std::uint8_t byte = 0;
    if (::pread(fd, &byte, 1, static_cast<off_t>(at)) == 1) {
        byte ^= mask;
        if (::pwrite(fd, &byte, 1, static_cast<off_t>(at)) != 1) found("the image cannot be written");
    }
    ::close(fd);
}

struct Kind {
    const char* scheme;
    const char* metadata;
    bool is_killed;
};
constexpr std::array kinds{Kind{"hftl", "pram", false}, Kind{"page_map", "pram", true}, Kind{"page_map", "journal", false},
                           Kind{"coftl", "pram", true}, Kind{"hftl", "journal", true},  Kind{"dftl", "journal", true}};

/// A device full of files, and what is in them.
class Whole {
public:
    explicit Whole(const Kind& kind) {
        make(kind);
        fill(kind.is_killed);
        for (const char* name : image_names) images_.push_back(std::make_unique<ImageFile>(device() / name));
    }
    [[nodiscard]] files::path device() const { return work_ / "whole"; }
    [[nodiscard]] files::path copy() const { return work_ / "copy"; }
    [[nodiscard]] const ImageFile& image(std::size_t which) const { return *images_[which]; }
    [[nodiscard]] const std::map<std::string, Bytes>& model() const { return model_; }

private:
    void make(const Kind& kind) {
        ConfigSources sources;
        sources.settings = {"nand.pages_per_block=16", "nand.planes_per_die=1", std::string{"fs.metadata="} + kind.metadata,
                            std::string{"ftl.scheme="} + kind.scheme};
        const bool in_pram = std::string{kind.metadata} == "pram";
        if (in_pram) sources.settings.emplace_back("pram.bytes=1280K");
        const auto plan = must(plan_device(must(gather_config(sources)), 16u << 20));
        must(make_device_directory(device(), plan, "", ExistingDevice::refuse));
        shorten(device() / "device.toml");
    }
    /// A quarter of an execution was to read it: comments, and times and speeds that may be changed later. Each execution opens the device six times.
    static void shorten(const files::path& toml) {
        std::ifstream from{toml};
        std::string kept, section;
        for (std::string line; std::getline(from, line);) {
            if (line.starts_with('[')) section = line.substr(1, line.find(']') - 1) + ".";
            const ConfigKey* key = find_config_key(section + line.substr(0, line.find(' ')));
            if (!line.starts_with('#') && (key == nullptr || key->phase != ConfigPhase::mount)) kept += line + '\n';
        }
        std::ofstream{toml} << kept;
    }
    void fill(bool is_killed) {
        Random random{7};
        auto opened = must(DeviceDirectory::open(device(), OpenOptions{}));
        FileSystem& fs = opened->device().fs();
        SimTime now = opened->device().ready_at();
        for (int step = 0; step < 60; ++step) {
            const std::string name = "file" + std::to_string(random.below(16));
            auto file = fs.lookup(call_at(now), root_ino, name);
            if (!file) file = fs.make_node(call_at(now), root_ino, name, 0100644, 0);
            Bytes data(1 + random.below(random.chance(1, 8) ? 60'000 : 5'000));
            for (std::byte& b : data) b = static_cast<std::byte>(random.next());
            const std::uint64_t offset = random.below(9'000);
            if (!fs.write(call_at(now), file->value.ino, offset, data)) found("a write to a whole device fails");
            Bytes& bytes = model_[name];
            if (bytes.size() < offset + data.size()) bytes.resize(offset + data.size());
            std::ranges::copy(data, bytes.begin() + static_cast<std::ptrdiff_t>(offset));
            now = *sync_all(fs, now);
        }
        if (is_killed)
            opened->abandon();
        else
            must(opened->close(now, {}));
    }

    test::TemporaryDirectory work_;
    std::map<std::string, Bytes> model_;
    std::vector<std::unique_ptr<ImageFile>> images_;
};

bool holds(FileSystem& fs, const FsCall& call, const Attributes& node, const Bytes& data, bool may_be_zero) {
    Bytes got(4096);
    for (std::uint64_t at = 0; at < data.size(); at += got.size()) {
        const auto read = fs.read(call, node.ino, at, got);
        if (!read) continue;
        const std::size_t bytes = std::min<std::size_t>(read->value, data.size() - at);
        if (std::memcmp(got.data(), data.data() + at, bytes) == 0) continue;
        for (std::size_t i = 0; i < bytes; ++i)
            if (got[i] != data[at + i] && !(may_be_zero && got[i] == std::byte{0})) return false;
    }
    return true;
}

/// True: the device is whole. Traps when it serves a wrong byte without an error.
bool look_at(const files::path& directory, const std::map<std::string, Bytes>& model, const Repair* repair) {
    OpenOptions look;
    look.access = DeviceAccess::look;
    const auto opened = DeviceDirectory::open(directory, look);
    if (!opened) return false;
    FileSystem& fs = (*opened)->device().fs();
    const FsCall call = call_at((*opened)->device().ready_at());
    for (const auto& [name, data] : model) {
        auto file = fs.lookup(call, root_ino, name);
        if (!file && repair != nullptr) {
            if (std::ranges::none_of(repair->lost, [&](const LostPart& lost) { return lost.path == "/" + name; }))
                found(name + " is lost, and the repair does not say so");
            file = fs.lookup(call, root_ino, name + ".damaged");
            if (file && !holds(fs, call, file->value, data, true)) found("invented bytes in " + name);
            continue;
        }
        if (!file && file.error().error_number != EIO) found(name + " is missing");
        if (!file) continue;
        if (file->value.size != data.size()) found("another size of " + name);
        if (!holds(fs, call, file->value, data, false)) found("wrong bytes of " + name);
    }
    return true;
}

void check_as_fsck(const files::path& directory) {
    OpenOptions look;
    look.access = DeviceAccess::look;
    look.tolerate_damage = true;
    const auto opened = DeviceDirectory::open(directory, look);
    if (opened) (void)check_device((*opened)->device(), DeviceCheckDepth::data, [](std::uint64_t) { return true; });
}

/// What an image holds: its length, and the pieces of it that are not zeros. A hole and zeros that were written are the same.
struct ImageContent {
    std::uint64_t bytes = 0;
    std::map<std::uint64_t, Bytes> pieces;
    bool operator==(const ImageContent&) const = default;
};

ImageContent content_of(const files::path& image) {
    constexpr std::size_t piece = 4096;
    ImageContent content{.bytes = files::file_size(image), .pieces = {}};
    Bytes part(piece);
    const Bytes zeros(piece);
    const int fd = ::open(image.c_str(), O_RDONLY | O_CLOEXEC);
    for (off_t at = 0; (at = ::lseek(fd, at, SEEK_DATA)) >= 0;) {
        const off_t end = ::lseek(fd, at, SEEK_HOLE);
        for (at -= at % static_cast<off_t>(piece); at < end; at += static_cast<off_t>(piece)) {
            const ssize_t got = ::pread(fd, part.data(), piece, at);
            if (got <= 0) found("the image cannot be read");
            const auto read = std::span{part}.first(static_cast<std::size_t>(got));
            if (std::memcmp(read.data(), zeros.data(), read.size()) != 0) // byte by byte each comparison would be told to the fuzzer
                content.pieces.emplace(static_cast<std::uint64_t>(at), Bytes{read.begin(), read.end()});
        }
    }
    ::close(fd);
    return content;
}

std::vector<ImageContent> read_images(const files::path& directory) {
    std::vector<ImageContent> all;
    for (const char* name : image_names) all.push_back(content_of(directory / name));
    return all;
}

void repair(const Whole& whole, const files::path& directory) {
    const auto before = read_images(directory);
    const auto repaired = repair_device(directory);
    if (!repaired) {
        if (read_images(directory) != before) found("a repair that gave up has changed the images");
        return;
    }
    if (!look_at(directory, whole.model(), &*repaired)) found("a repaired device does not open");
}

struct Flip {
    std::size_t image;
    std::uint64_t at;
    std::uint8_t mask;
};

std::vector<Flip> flips_of(const Whole& whole, std::span<const std::uint8_t> data) {
    constexpr std::size_t most = 100;
    std::vector<Flip> flips;
    for (; data.size() >= 5 && flips.size() < most; data = data.subspan(5)) {
        const unsigned which = data[0] | data[1] << 8, in = data[2] | data[3] << 8;
        const std::size_t image = which & 1;
        flips.push_back({image, whole.image(image).place(which >> 1, in), data[4]});
    }
    return flips;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t head = 4;
    if (size < head) return 0;
    [[maybe_unused]] static const bool in_memory = ::access("/dev/shm", W_OK) == 0 && ::setenv("TMPDIR", "/dev/shm", 0) == 0;
    static std::array<std::unique_ptr<Whole>, kinds.size()> wholes;
    auto& made = wholes[data[0] % kinds.size()];
    if (!made) made = std::make_unique<Whole>(kinds[data[0] % kinds.size()]);
    const Whole& whole = *made;
    const std::uint8_t flags = data[1];
    const std::uint64_t keep = data[2] | data[3] << 8;
    const std::vector<Flip> flips = flips_of(whole, {data + head, size - head});
    const bool on_copy = (flags & 7) != 0;
    const files::path directory = on_copy ? whole.copy() : whole.device();
    if (on_copy) must(clone_device(whole.device(), directory));
    for (const Flip& one : flips) flip(directory / image_names[one.image], one.at, one.mask);
    for (std::size_t i = 0; i < image_names.size(); ++i)
        if ((flags & 2u << i) != 0) files::resize_file(directory / image_names[i], whole.image(i).bytes() * keep >> 16);
    (void)look_at(directory, whole.model(), nullptr);
    check_as_fsck(directory);
    if ((flags & 1) != 0) repair(whole, directory);
    if (on_copy)
        files::remove_all(directory);
    else
        for (const Flip& one : flips) flip(directory / image_names[one.image], one.at, one.mask);
    return 0;
}

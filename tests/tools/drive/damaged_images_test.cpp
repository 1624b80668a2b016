// Goal: whatever bits flip in the images of a device, nobody is served a wrong byte without an error, and fsck names the damage.
// Method: devices full of files, cleanly closed or killed; 1 to 100 bits of one image flipped, half of the time where something was written; then all
// files are compared with what was written, and fsck has to know better whenever they differ. Seeds are printed.
#include <map>
#include <set>

#include <fmt/format.h>
#include <sys/mman.h>

#include "base/contract.h"
#include "base/random.h"
#include "nand/image_page_store.h"
#include "pram/image_pram_store.h"
#include "tests/tools/device_fixture.h"
#include "tools/drive/device_check.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

using Model = std::map<std::string, std::vector<std::byte>>;

struct Kind {
    const char* scheme;
    const char* metadata;
    bool killed; ///< not closed after the last sync
};

DevicePlan plan_of(const Kind& kind) {
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
Model fill(const files::path& directory, bool killed, std::uint64_t seed) {
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

struct Seen {
    bool refused = false;
    std::uint64_t errors = 0; ///< calls that failed with EIO
    std::string wrong;        ///< what was served and is not what was written
};

/// Who reads it has a damaged drive: it names no place in our sources, and calls nothing a defect of ours.
void require_for_users(const std::string& message) {
    CHECK_THAT(message, !ContainsSubstring(".cpp:") && !ContainsSubstring(".h:") && !ContainsSubstring("defect"));
}

/// Every name, every byte.
Seen compare(const files::path& directory, const Model& model) {
    Seen seen;
    OpenOptions options;
    options.access = DeviceAccess::look;
    auto opened = DeviceDirectory::open(directory, options);
    if (!opened) {
        CHECK_THAT(opened.error(), ContainsSubstring(directory.string()));
        require_for_users(opened.error());
        seen.refused = true;
        return seen;
    }
    FileSystem& fs = (*opened)->device().fs();
    const FsCall call = call_at((*opened)->device().ready_at());
    std::set<std::string> names;
    const auto listed = fs.read_directory(call, root_ino, 0, [&](std::string_view name, Ino, std::uint32_t, std::uint64_t) {
        if (name != "." && name != "..") names.insert(std::string{name});
        return true;
    });
    if (!listed) ++seen.errors;
    for (const std::string& name : names)
        if (!model.contains(name)) seen.wrong = "a file that was not written: " + name;
    for (const auto& [name, data] : model) {
        const auto found = fs.lookup(call, root_ino, name);
        if (!found) {
            if (found.error().error_number != EIO) seen.wrong = "missing: " + name;
            ++seen.errors;
            continue;
        }
        if (found->value.size != data.size()) seen.wrong = "size of " + name;
        std::vector<std::byte> got(4096);
        for (std::uint64_t at = 0; at < data.size(); at += got.size()) {
            const auto read = fs.read(call, found->value.ino, at, got);
            if (!read)
                ++seen.errors;
            else if (!std::ranges::equal(std::span{got}.first(read->value),
                                         std::span{data}.subspan(at, std::min<std::size_t>(got.size(), data.size() - at))))
                seen.wrong = "bytes of " + name + " at " + std::to_string(at);
        }
    }
    return seen;
}

/// Problems of fsck --data; a device that does not open at all is one.
std::size_t problems_of(const files::path& directory) {
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

struct Tally {
    int images = 0, refused = 0, with_errors = 0, harmless = 0, named = 0;
};

constexpr std::array kinds{Kind{"hftl", "pram", false},       Kind{"hftl", "pram", true},    Kind{"page_map", "journal", false},
                           Kind{"page_map", "journal", true}, Kind{"hftl", "journal", true}, Kind{"page_map", "pram", true},
                           Kind{"fast", "pram", false},       Kind{"dftl", "journal", true}, Kind{"coftl", "pram", false},
                           Kind{"log_block", "journal", true}};

/// `images` damaged ones of one kind of device.
void damage_many(const Kind& kind, int images, const char* file, std::uint64_t seed, Tally& tally) {
    const TemporaryDirectory work;
    const auto directory = work / "device";
    const auto made = make_device_directory(directory, plan_of(kind), "", ExistingDevice::refuse);
    INFO((made ? "" : made.error()));
    REQUIRE(made.has_value());
    const Model model = fill(directory, kind.killed, seed);
    const Seen whole = compare(directory, model);
    INFO(kind.scheme << " " << kind.metadata << (kind.killed ? " killed" : " closed") << ", " << file);
    REQUIRE_FALSE(whole.refused);
    REQUIRE(whole.wrong == "");
    REQUIRE(whole.errors == 0);
    REQUIRE(problems_of(directory) == 0);
    Image image{directory / file};
    for (int i = 0; i < images; ++i) {
        Random random{seed * 1000 + static_cast<std::uint64_t>(i)};
        const std::uint64_t bits = 1 + random.below(i % 3 == 0 ? 3 : 100);
        image.flip(random, bits);
        INFO("image " << i << " of seed " << seed << ", " << bits << " bits");
        Seen seen;
        std::size_t problems = 0;
        try {
            seen = compare(directory, model);
        } catch (const ContractViolation& broken) {
            seen.wrong = broken.what();
        }
        problems = problems_of(directory);
        image.put_back();
        CHECK(seen.wrong == "");
        if (seen.refused || seen.errors != 0) CHECK(problems != 0);
        ++tally.images;
        tally.refused += seen.refused ? 1 : 0;
        tally.with_errors += !seen.refused && seen.errors != 0 ? 1 : 0;
        tally.harmless += !seen.refused && seen.errors == 0 ? 1 : 0;
        tally.named += problems != 0 ? 1 : 0;
    }
    REQUIRE(compare(directory, model).errors == 0);
}

void damage_all(int images_of_each) {
    for (const char* file : {"nand.img", "pram.img"}) {
        Tally tally;
        std::uint64_t seed = 1;
        for (const Kind& kind : kinds) {
            const bool has_pram = std::string{kind.metadata} == "pram" || std::string{kind.scheme} == "hftl";
            if (std::string{file} == "nand.img" || has_pram) damage_many(kind, images_of_each, file, seed, tally);
            ++seed;
        }
        fmt::print("{}: {} damaged images: {} refused, {} mounted with EIO where the damage lies, {} served everything right; fsck --data named "
                   "damage in {}\n",
                   file, tally.images, tally.refused, tally.with_errors, tally.harmless, tally.named);
    }
}

} // namespace

TEST_CASE("flipped bits in either image are never served as data: the mount refuses, or the read fails, and fsck names them", "[tools][damage]") {
    damage_all(4);
}

TEST_CASE("five hundred damaged images of each kind are never served as data", "[.][damage-long]") {
    damage_all(84); // 10 and 6 kinds: 840 of nand.img, 504 of pram.img
}

TEST_CASE(
    "each single flipped bit of the written part of the PRAM cells makes a mount refuse, names its place, and recovery looks at it with a warning",
    "[tools][damage]") {
    const TemporaryDirectory work;
    const auto directory = work / "device";
    make(directory);
    write_something(*open(directory));
    const std::uint64_t cells = [&] {
        const auto store = ImagePramStore::open(directory / "pram.img", PramImageAccess::private_copy);
        REQUIRE(store.has_value());
        return (*store)->header().cells_offset();
    }();
    const DeviceConfig config = *read_device_toml(directory);
    Image image{directory / "pram.img"};
    image.flip(cells + config.layout.fs_at + 520, 1); // the state in the superblock
    OpenOptions options;
    const auto refused = DeviceDirectory::open(directory, options);
    REQUIRE_FALSE(refused.has_value());
    CHECK_THAT(refused.error(), ContainsSubstring("superblock") && ContainsSubstring("fsck") && ContainsSubstring("recovery"));
    image.put_back();
    image.flip(cells + config.layout.ftl_at + config.layout.ftl_bytes - 1, 7);
    const auto also = DeviceDirectory::open(directory, options);
    REQUIRE_FALSE(also.has_value());
    CHECK_THAT(also.error(), ContainsSubstring("translation layer"));
    std::string warned;
    options.tolerate_damage = true;
    options.complain = [&](const std::string& what) { warned += what; };
    {
        const auto looked = DeviceDirectory::open(directory, options);
        REQUIRE(looked.has_value());
        CHECK_THAT(warned, ContainsSubstring("damaged"));
        const FsCall call = call_at((*looked)->device().ready_at());
        const auto changed = (*looked)->device().fs().make_directory(call, root_ino, "no", 0755);
        REQUIRE_FALSE(changed.has_value());
        CHECK(changed.error().error_number == EROFS);
    }
    image.put_back();
    CHECK(DeviceDirectory::open(directory, OpenOptions{}).has_value());
}

TEST_CASE("an image older than its sister is refused, whichever of the two it is, after a clean end and after a kill", "[tools][damage]") {
    for (const bool killed : {false, true}) {
        for (const char* file : {"nand.img", "pram.img"}) {
            CAPTURE(killed, file);
            const TemporaryDirectory work;
            const auto directory = work / "device";
            make(directory);
            files::copy_file(directory / file, work / "older");
            {
                auto opened = open(directory);
                write_something(*opened);
                if (killed)
                    opened->abandon();
                else
                    close(*opened);
            }
            files::copy_file(directory / file, work / "newer");
            files::copy_file(work / "older", directory / file, files::copy_options::overwrite_existing);
            const auto refused = DeviceDirectory::open(directory, OpenOptions{});
            REQUIRE_FALSE(refused.has_value());
            CHECK_THAT(refused.error(), ContainsSubstring("older than its sister") && ContainsSubstring(file));
            CHECK(problems_of(directory) != 0);
            files::copy_file(work / "newer", directory / file, files::copy_options::overwrite_existing);
            close(*open(directory));
        }
    }
}

TEST_CASE("a drive whose metadata in a journal do not read is refused with the image's name and a remedy", "[tools][damage][journal]") {
    const TemporaryDirectory work;
    const auto directory = work / "device";
    REQUIRE(make_device_directory(directory, plan_of({"hftl", "journal", false}), "", ExistingDevice::refuse).has_value());
    (void)fill(directory, false, 1);
    const DeviceConfig config = *read_device_toml(directory);
    const ImageLayout layout{*Geometry::make(config.ssd.nand.geometry)};
    for (const bool keeps_superblock : {false, true}) {
        CAPTURE(keeps_superblock);
        Image image{directory / "nand.img"};
        for (const std::uint64_t page : image.written())
            if (page >= layout.payload_at && page < layout.generation_at && !(keeps_superblock && image.text(page, 8) == "FLATJNL1"))
                image.flip(page + 300, 0);
        const auto refused = DeviceDirectory::open(directory, OpenOptions{});
        image.put_back();
        REQUIRE_FALSE(refused.has_value());
        INFO(refused.error());
        CHECK_THAT(refused.error(),
                   ContainsSubstring("nand.img") && (ContainsSubstring("restore") || ContainsSubstring("put back")) && ContainsSubstring("copy"));
        require_for_users(refused.error());
    }
    close(*open(directory));
}

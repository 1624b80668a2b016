// Goal: no device.toml, counters.json or image, however damaged, crashes a command or is changed by it; the message says where and what to do.
// Method: every key with every awkward value, every kind of broken file, random damage with printed seeds.
#include <random>
#include <sstream>

#include "base/contract.h"
#include "tests/support/file_text.h"
#include "tests/tools/device_fixture.h"
#include "tools/drive/device_history.h"
#include "tools/run/virtual_device.h"
#include "tools/text/json.h"

using namespace flashlab;
using namespace flashlab::test;
using Catch::Matchers::StartsWith;

namespace {

void write(const files::path& path, const std::string& text) { std::ofstream{path, std::ios::binary | std::ios::trunc} << text; }

/// The error of a look; "" when it opened. The device is compared before and after.
std::string look(const files::path& directory) {
    const auto before = contents(directory);
    std::string error;
    {
        OpenOptions options;
        options.access = DeviceAccess::look;
        const auto opened = DeviceDirectory::open(directory, options);
        error = opened ? "" : opened.error();
    }
    CHECK((contents(directory) == before));
    return error;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

/// Every byte that is not zero, with its place: damage to what nobody has written proves little.
std::vector<std::pair<off_t, char>> written_places(const std::map<off_t, std::string>& image) {
    std::vector<std::pair<off_t, char>> out;
    for (const auto& [start, data] : image)
        for (std::size_t i = 0; i < data.size(); ++i)
            if (data[i] != 0) out.emplace_back(start + static_cast<off_t>(i), data[i]);
    return out;
}

/// Opens with a clear error, or can be checked.
void survives(const files::path& directory) {
    OpenOptions options;
    options.access = DeviceAccess::look;
    const auto opened = DeviceDirectory::open(directory, options);
    if (!opened) {
        CHECK_THAT(opened.error(), ContainsSubstring(directory.string()));
        return;
    }
    try {
        (void)(*opened)->device().ssd().check();
        (void)(*opened)->device().fs().check();
    } catch (const ContractViolation&) { // fsck reports it
    }
}

} // namespace

TEST_CASE("a damaged, foreign or newer device.toml is refused with file, line and column where there is one, and a remedy", "[tools]") {
    const TemporaryDirectory work;
    make(work / "device");
    const auto path = work / "device/device.toml";
    const std::string good = text_of(path);
    const std::string file = path.string();
    const auto with = [&](const std::string& text) {
        write(path, text);
        return look(work / "device");
    };
    CHECK_THAT(with(""), StartsWith(file) && ContainsSubstring("restore it from a copy"));
    CHECK_THAT(with(std::string(100, '\0')), StartsWith(file + ":1:1"));
    CHECK_THAT(with("format = 1\nnonsense"), StartsWith(file + ":2:"));
    CHECK_THAT(with(std::string(100'000, '[')), StartsWith(file + ":1:"));
    CHECK_THAT(with("\xff\xfe" + good), ContainsSubstring("utf-8"));
    CHECK_THAT(with(good + "\n[nand]\nchannels = 8\n"), ContainsSubstring("redefine"));
    CHECK_THAT(with(good + std::string(2u << 20, '#')), ContainsSubstring("larger than 1 MiB"));
    CHECK_THAT(with(replaced(good, "format = 1", "format = 2")),
               StartsWith(file + ":4:10") && ContainsSubstring("newer") && ContainsSubstring("use the version that made it"));
    CHECK_THAT(with(replaced(good, "format = 1", "format = \"1\"")), StartsWith(file + ":4:10"));
    CHECK_THAT(with(replaced(good, "[nand]", "[nnad]")), ContainsSubstring("did you mean 'nand."));
    CHECK_THAT(with(replaced(good, "[nand]", "[nand.nand]")), ContainsSubstring("unknown key"));
    CHECK_THAT(with(replaced(good, "preset = \"modern-tlc\"", "preset = 3")), StartsWith(file + ":6:10") && ContainsSubstring("quotes"));
    for (std::size_t length = 0; length < good.size() - 2; length += 97) {
        CAPTURE(length);
        CHECK_THAT(with(good.substr(0, length)), StartsWith(file));
    }
    files::remove(path);
    CHECK_THAT(look(work / "device"), ContainsSubstring("no FlashLab device is here") && ContainsSubstring("flashlab mkfs"));
    files::create_directory(path);
    CHECK_THAT(look(work / "device"), ContainsSubstring("is a directory"));
}

TEST_CASE("a key that describes the images may neither be changed nor be removed after mkfs; times and speeds may", "[tools]") {
    const TemporaryDirectory work;
    make(work / "device");
    const auto path = work / "device/device.toml";
    const std::string good = text_of(path);
    const DeviceConfig config = *read_device_toml(work / "device");
    for (const auto& key : config_keys()) {
        CAPTURE(std::string{key.name});
        const std::string own{key.name.substr(key.name.find('.') + 1)};
        const std::string section = key.name == own ? "" : "\n[" + std::string{key.name.substr(0, key.name.find('.'))} + "]\n";
        const char* quote = key.type == ConfigType::text ? "\"" : "";
        const std::string line = "\n" + own + " = " + quote + key.get(config) + quote + "\n";
        std::string without = good;
        without.erase(without.find(line, without.find(section)), line.size() - 1);
        write(path, without);
        CHECK(look(work / "device").empty() == (key.phase == ConfigPhase::mount));
        if (key.type == ConfigType::text) continue;
        DeviceConfig other = config;
        // A DRAM or a buffer of one byte is refused for itself.
        const std::uint64_t step = key.name == "dram.size" ? 1u << 20 : key.name == "dram.write_buffer_bytes" ? 4096 : 1;
        if (!set_key(other, key.name, std::to_string(std::stoull(key.get(config)) + step))) continue;
        write(path, to_toml(other));
        CHECK(look(work / "device").empty() == (key.phase == ConfigPhase::mount));
    }
    write(path, good);
    CHECK(look(work / "device").empty());
}

TEST_CASE("whatever value a key is given, mkfs refuses it or makes a device that opens", "[tools]") {
    const TemporaryDirectory work;
    const auto key = GENERATE(range(std::size_t{0}, std::size_t{400}));
    const std::string_view preset = GENERATE(common_preset_name, default_preset_name);
    if (key >= config_keys().size()) return;
    const std::string name{config_keys()[key].name};
    for (const char* value : {"",
                              "0",
                              "1",
                              "2",
                              "3",
                              "4",
                              "7",
                              "8",
                              "63",
                              "64",
                              "256",
                              "512",
                              "513",
                              "1000",
                              "4096",
                              "4097",
                              "65536",
                              "1048577",
                              "1000000",
                              "4294967295",
                              "4294967296",
                              "9223372036854775807",
                              "18446744073709551615",
                              "18446744073709551616",
                              "-1",
                              "1.5",
                              "1e3",
                              "4K",
                              "1T",
                              "nan",
                              "\xc3\xa9",
                              "slc"}) {
        ConfigSources sources;
        sources.preset = preset;
        sources.settings = {"nand.pages_per_block=64", "pram.bytes=4M", name + "=" + value};
        CAPTURE(name, value);
        const auto config = gather_config(sources);
        if (!config) {
            CHECK_THAT(config.error(), ContainsSubstring("--set"));
            continue;
        }
        const auto plan = plan_device(*config, 32u << 20);
        if (!plan || plan->pram_bytes > (64u << 20)) // what the host has no room for is another test
            continue;
        const auto made = make_device_directory(work / "device", *plan, "", ExistingDevice::refuse);
        INFO((made ? "" : made.error()));
        if (name.starts_with("dram.") && !made) { // only the scheme, once made, knows how small its maps may be
            CHECK_THAT(made.error(), ContainsSubstring("dram.size"));
            CHECK_FALSE(files::exists(work / "device"));
            continue;
        }
        REQUIRE(made.has_value());
        CHECK(look(work / "device") == "");
        files::remove_all(work / "device");
    }
}

TEST_CASE("a value that does not fit the rest is reported with its place in the file", "[tools]") {
    const TemporaryDirectory work;
    ConfigSources sources;
    sources.file = (work / "f.toml").string();
    write(work / "f.toml", "[ftl]\ngroups = 0\nmapping_unit_pages = 3\n");
    const auto config = gather_config(sources);
    REQUIRE(config.has_value());
    const auto plan = plan_device(*config, 64u << 20);
    REQUIRE_FALSE(plan.has_value());
    CHECK_THAT(with_origin(plan.error(), sources), ContainsSubstring("f.toml:3:22") && ContainsSubstring("mapping_unit_pages"));
    CHECK(with_origin("something else", sources) == "something else");
}

TEST_CASE("a DRAM that does not hold a page beside the maps is refused with its place in the file, and the least that does", "[tools]") {
    const TemporaryDirectory work;
    ConfigSources sources;
    sources.file = (work / "f.toml").string();
    const auto refusal = [&](const std::string& bytes) {
        write(work / "f.toml", "[pram]\nbytes = 4194304\n[ftl]\nscheme = \"dftl\"\n[dram]\npartition = \"curve\"\nsize = " + bytes + "\n");
        const auto plan = plan_device(gather_config(sources).value(), 64u << 20, asked_keys(sources));
        REQUIRE(plan.has_value());
        const auto fits = check_dram_fits(plan->config);
        return fits ? std::string{} : with_origin(fits.error(), sources);
    };
    const std::string text = refusal("128");
    CHECK_THAT(text, ContainsSubstring("f.toml:7:8: dram.size = 128 is too small"));
    const std::string::size_type at = text.find("give dram.size=");
    REQUIRE(at != std::string::npos);
    const std::uint64_t least = std::stoull(text.substr(at + 15));
    CHECK(least > 4096);
    CHECK(refusal(std::to_string(least)).empty());
    CHECK_FALSE(refusal(std::to_string(least - 1)).empty());
}

TEST_CASE("damaged counters begin again at zero, are reported, and cost no data", "[tools]") {
    const TemporaryDirectory work;
    make(work / "device");
    const auto path = work / "device/counters.json";
    for (const std::string& text :
         {std::string{}, std::string{"{"}, std::string{"[]"}, std::string(50'000, '['), std::string{"{\"clock_ns\": -5}"},
          std::string{"{\"clock_ns\": 1e300}"}, std::string{"{\"clock_ns\": 9223372036854775807}"}, std::string{"{\"clock_ns\": \"x\"}"}}) {
        write(path, text);
        CAPTURE(text.substr(0, 40));
        CHECK_FALSE(DeviceHistory::read(work / "device").has_value());
        std::string said;
        OpenOptions options;
        options.access = DeviceAccess::look;
        options.complain = [&](const std::string& what) { said = what; };
        CHECK(DeviceDirectory::open(work / "device", options).has_value());
        CHECK_THAT(said, StartsWith(path.string()) && ContainsSubstring("begin again at zero"));
    }
}

TEST_CASE("JSON that nests without end is refused instead of recursed into", "[tools]") {
    CHECK_FALSE(Json::parse(std::string(1'000'000, '[')).has_value());
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += "{\"a\":";
    CHECK_FALSE(Json::parse(deep).has_value());
    CHECK(Json::parse("[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[[\"]").has_value());
}

TEST_CASE("random damage to the images is survived: a clear error or a device that can be checked, and no byte is changed by looking", "[tools]") {
    const TemporaryDirectory work;
    make(work / "device");
    if (GENERATE(false, true)) {
        cut(work / "device");
    } else {
        auto opened = open(work / "device", DeviceAccess::use);
        write_something(*opened);
        close(*opened);
    }
    const auto good = contents(work / "device");
    const auto seed = GENERATE(1u, 2u, 3u);
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    for (int round = 0; round < 60; ++round) {
        const char* name = random() % 2 == 0 ? "nand.img" : "pram.img";
        std::fstream image{work / "device" / name, std::ios::binary | std::ios::in | std::ios::out};
        const auto places = written_places(good.at(name));
        std::map<off_t, char> before;
        for (std::size_t left = random() % 4 == 0 ? 20 : 1; left > 0; --left) {
            const auto& [at, byte] = places[random() % places.size()];
            before.emplace(at, byte);
            image.seekp(at).put(static_cast<char>(random()));
        }
        image.flush();
        CAPTURE(round, name);
        survives(work / "device");
        for (const auto& [at, byte] : before) image.seekp(at).put(byte);
    }
    CHECK((contents(work / "device") == good));
}

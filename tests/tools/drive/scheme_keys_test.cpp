// Keys of one scheme beside another: refused where they were asked for, and only where they do nothing.
#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/device_fixture.h"
#include "tools/drive/config_file.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/scheme_keys.h"
#include "tools/run/virtual_device.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

std::expected<DeviceConfig, std::string> with_settings(std::vector<std::string> settings, std::optional<std::string> preset = {}) {
    ConfigSources sources;
    sources.preset = std::move(preset);
    sources.settings = std::move(settings);
    return gather_config(sources);
}

/// A value that the key allows and that is not the one it has.
std::string another_value(const ConfigKey& key, const DeviceConfig& config) {
    if (key.name == "ftl.victim") return "fifo";
    if (key.type == ConfigType::text) return key.get(config) == "PDWC" ? "CWDP" : "PDWC";
    return fmt::format("{}", key.get(config) == "1" ? (key.max == 1 ? 0 : 2) : key.max == 1 ? 1 : std::max<std::uint64_t>(key.min, 5));
}

/// All that a small drive shows of a load that overwrites it: the times of its answers and what its counters say.
std::string told_by(const DeviceConfig& config) {
    const auto plan = plan_device(config, 16u << 20);
    INFO((plan ? "" : plan.error()));
    REQUIRE(plan.has_value());
    NullEventSink events;
    auto device = make_virtual_device(*plan, Payload::none, events);
    REQUIRE(device.has_value());
    REQUIRE((*device)->start(sim_start).has_value());
    Ssd& ssd = (*device)->ssd();
    const std::uint64_t pages = ssd.identify().sectors / 8;
    SimTime now = (*device)->ready_at();
    const std::vector<std::byte> data(4096);
    std::uint64_t page = 1;
    for (int i = 0; i < 12'000; ++i) {
        page = page * 6364136223846793005u + 1442695040888963407u;
        const auto done = ssd.write(Sector{(page >> 33) % pages * 8}, 8, data, WriteDurability::volatile_ok, now);
        REQUIRE(done.has_value());
        now = *done;
    }
    const SampleEvent sample = ssd.sample(now);
    std::string out = fmt::format("{} {} {}", plan->logical_bytes, ns_since_start(now), sample.free_blocks);
    for (std::size_t c = 0; c < cause_count; ++c)
        out += fmt::format(" {} {} {}", sample.nand_reads[c], sample.nand_programs[c], sample.nand_erases[c]);
    return out;
}

} // namespace

TEST_CASE("every key that a scheme lists is a key, and a section that is called like a scheme is that scheme's, and what is built on it", "[tools]") {
    for (const Scheme* scheme : schemes()) {
        CAPTURE(scheme->name);
        for (const std::string_view key : scheme->keys) {
            CAPTURE(key);
            CHECK(find_config_key(key) != nullptr);
            CHECK(std::ranges::count(scheme->keys, key) == 1);
        }
        std::vector owners{scheme->name};
        if (scheme->name == "tpftl") owners.push_back("learnedftl"); // models beside tpftl's cache
        for (const ConfigKey& key : config_keys())
            if (key.name.starts_with(fmt::format("{}.", scheme->name))) CHECK(schemes_of_key(key.name) == owners);
    }
}

TEST_CASE("a key of another scheme is refused by --set, with its scheme named, wherever the scheme stands", "[tools]") {
    for (const ConfigKey& key : config_keys()) {
        const auto owners = schemes_of_key(key.name);
        const std::string setting = fmt::format("{}={}", key.name, another_value(key, DeviceConfig{}));
        if (owners.empty()) continue;
        for (const Scheme* scheme : schemes()) {
            CAPTURE(setting, scheme->name);
            const std::string chosen = fmt::format("ftl.scheme={}", scheme->name);
            const bool is_owner = std::ranges::find(owners, scheme->name) != owners.end();
            for (const auto& config : {with_settings({setting, chosen}), with_settings({chosen, setting})}) {
                CHECK(config.has_value() == is_owner);
                if (!config)
                    CHECK_THAT(config.error(), ContainsSubstring(std::string{key.name}) && ContainsSubstring(std::string{owners.front()}) &&
                                                   ContainsSubstring(chosen.substr(11)));
            }
        }
    }
    CHECK_THAT(with_settings({"coftl.cache_bytes=1M"}).error(),
               ContainsSubstring("coftl.cache_bytes is a key of coftl and does nothing with ftl.scheme = page_map") &&
                   ContainsSubstring("--ftl coftl"));
    CHECK_THAT(with_settings({"ftl.log_blocks=9"}).error(), ContainsSubstring("a key of block_map, log_block, fast and does nothing"));
}

TEST_CASE("a key of another scheme is refused in a file written by hand, with line and column, and nowhere because of what nobody asked for",
          "[tools]") {
    const TemporaryDirectory work;
    const std::string path = work / "my.toml";
    const auto from_file = [&](const std::string& text, std::vector<std::string> settings = {}) {
        std::ofstream{path} << text;
        ConfigSources sources;
        sources.file = path;
        sources.settings = std::move(settings);
        return gather_config(sources);
    };
    const std::string text = "[ftl]\nscheme = \"dftl\"\n[coftl]\nswap_sets = 4\n";
    CHECK_THAT(from_file(text).error(), ContainsSubstring("my.toml:4:13: coftl.swap_sets is a key of coftl"));
    CHECK(from_file(text, {"ftl.scheme=coftl"}).has_value());
    CHECK_FALSE(from_file("[coftl]\nwear_period = 32\n").has_value()); // the default's value, but asked for
    // What a preset, mkfs or the environment says.
    CHECK(with_settings({"ftl.scheme=hftl", "ftl.striping=1"}, "coftl").has_value());
    DeviceConfig made;
    made.ssd.ftl.scheme = "coftl";
    made.checksum = "12345678";
    CHECK(from_file(to_toml(made), {"ftl.scheme=dftl"}).has_value());
    ConfigSources sources;
    sources.environment = {{"FLASHLAB_COFTL_CACHE_BYTES", "1M"}};
    CHECK(gather_config(sources).has_value());
}

TEST_CASE("a key of another scheme is refused at a mount", "[tools]") {
    const TemporaryDirectory work;
    make(work / "device");
    OpenOptions options;
    options.access = DeviceAccess::look;
    options.settings = {"coftl.wear_period=7"};
    const auto opened = DeviceDirectory::open((work / "device"), options);
    REQUIRE_FALSE(opened.has_value());
    CHECK_THAT(opened.error(), ContainsSubstring("coftl.wear_period is a key of coftl and does nothing with ftl.scheme = hftl"));
    options.settings = {"ftl.gc_slice_us=500"};
    CHECK(DeviceDirectory::open((work / "device"), options).has_value());
}

TEST_CASE("a key that is refused does nothing: a drive with it is the drive without", "[tools]") {
    for (const Scheme* scheme : schemes()) {
        const auto plain = with_settings({fmt::format("ftl.scheme={}", scheme->name), "nand.pages_per_block=32", "nand.planes_per_die=1",
                                          "pram.bytes=4M", "ftl.wear_threshold=4"});
        REQUIRE(plain.has_value());
        const std::string told = told_by(*plain);
        DeviceConfig changed = *plain;
        std::string keys;
        for (const ConfigKey& key : config_keys()) {                              // all at once: each must do nothing
            if (key.name == "nand.subpages" || key.name == "nand.rain") continue; // of the chips: schemes that cannot do with them refuse them
            if (const auto owners = schemes_of_key(key.name); !owners.empty() && std::ranges::find(owners, scheme->name) == owners.end()) {
                REQUIRE(set_key(changed, key.name, another_value(key, *plain)).has_value());
                keys += fmt::format("{} ", key.name);
            }
        }
        CAPTURE(scheme->name, keys);
        CHECK(told_by(changed) == told);
    }
}

// The schema's rules, the order of precedence, and messages that name the remedy.
#include "tests/support/catch.h"

#include "nand/geometry.h"
#include "nand/presets.h"
#include "tools/config_file.h"
#include "tools/config_schema.h"
#include "tools/device_presets.h"

using namespace flashlab;
using Catch::Matchers::Contains;

namespace {
DeviceConfig planned() {
    DeviceConfig config;
    config.layout = PramLayout{0, 8192, 8192, 1u << 20};
    return config;
}
} // namespace

TEST_CASE("an unknown key names the nearest known one", "[tools]") {
    DeviceConfig config;
    CHECK_THAT(set_key(config, "nand.chanels", "4").error(), Contains("did you mean 'nand.channels'?"));
    CHECK_THAT(set_key(config, "channels", "4").error(), Contains("did you mean 'nand.channels'?"));
    CHECK_THAT(set_key(config, "ftl.schem", "hftl").error(), Contains("did you mean 'ftl.scheme'?"));
}

TEST_CASE("a value outside its range never enters and the error says what is allowed", "[tools]") {
    DeviceConfig config;
    CHECK_THAT(set_key(config, "nand.channels", "0").error(), Contains("1 to 256"));
    CHECK_THAT(set_key(config, "nand.channels", "257").error(), Contains("1 to 256"));
    CHECK_THAT(set_key(config, "nand.channels", "four").error(), Contains("whole number"));
    CHECK_THAT(set_key(config, "nand.cell", "plc").error(), Contains("slc, mlc, tlc, qlc"));
    CHECK(config.ssd.nand.geometry.channels == GeometryConfig{}.channels);
}

TEST_CASE("every key's default lies in its own range and setting it to its own text changes nothing", "[tools]") {
    const DeviceConfig before = planned();
    for (const auto& key : config_keys()) {
        CAPTURE(std::string{key.name});
        DeviceConfig after = before;
        REQUIRE(set_key(after, key.name, key.get(before)).has_value());
        CHECK(to_toml(after) == to_toml(before));
        CHECK_FALSE(key.help.empty());
    }
}

TEST_CASE("device.toml reads back as the configuration that wrote it", "[tools]") {
    DeviceConfig config = planned();
    REQUIRE(set_key(config, "nand.cell", "qlc").has_value());
    REQUIRE(set_key(config, "nand.page_read_ns", "12345").has_value());
    DeviceConfig back;
    const auto applied = apply_toml(back, to_toml(config), "device.toml");
    INFO((applied ? "" : applied.error()));
    REQUIRE(applied.has_value());
    CHECK(to_toml(back) == to_toml(config));
    CHECK(config_hash(back) == config_hash(config));
}

TEST_CASE("an error in a TOML file names file, line and column and changes nothing", "[tools]") {
    DeviceConfig config;
    CHECK_THAT(apply_toml(config, "[nand]\nchannels = 4\nchips = 2\n", "x.toml").error(), Contains("x.toml:3:1") && Contains("unknown key 'nand.chips'"));
    CHECK_THAT(apply_toml(config, "[nand]\nchannels = 4000\n", "x.toml").error(), Contains("x.toml:2:"));
    CHECK_THAT(apply_toml(config, "[nand\n", "x.toml").error(), Contains("x.toml:1:"));
    CHECK(config.ssd.nand.geometry.channels == GeometryConfig{}.channels);
}

TEST_CASE("settings beat the environment, which beats the preset", "[tools]") {
    ConfigSources sources;
    const auto preset = gather_config(sources);
    REQUIRE(preset.has_value());
    CHECK(preset->ssd.nand.timing.page_read == Duration{60'000});
    sources.environment = {{"FLASHLAB_NAND_PAGE_READ_NS", "7"}, {"FLASHLAB_NAND_CHANNELS", "2"}, {"FLASHLAB_ELSEWHERE", "x"}};
    sources.settings = {"nand.page_read_ns=9"};
    const auto config = gather_config(sources);
    REQUIRE(config.has_value());
    CHECK(config->ssd.nand.timing.page_read == Duration{9});
    CHECK(config->ssd.nand.geometry.channels == 2);
}

TEST_CASE("an environment variable of our sections that sets no key is refused", "[tools]") {
    DeviceConfig config;
    CHECK_THAT(apply_environment(config, {{"FLASHLAB_NAND_CHANELS", "2"}}, false).error(), Contains("did you mean FLASHLAB_NAND_CHANNELS?"));
}

TEST_CASE("at a mount only times and speeds can be set", "[tools]") {
    DeviceConfig config;
    CHECK(apply_settings(config, {"nand.page_read_ns=1"}, true).has_value());
    CHECK_FALSE(apply_settings(config, {"nand.channels=1"}, true).has_value());
    CHECK_FALSE(apply_settings(config, {"layout.fs_at=1"}, false).has_value());
    REQUIRE(apply_environment(config, {{"FLASHLAB_NAND_CHANNELS", "3"}}, true).has_value());
    CHECK(config.ssd.nand.geometry.channels == GeometryConfig{}.channels);
}

TEST_CASE("a device's flash is the NAND preset of its name, number for number: there is one table", "[tools]") {
    const auto devices = device_presets();
    REQUIRE(devices.size() == nand_presets().size());
    for (std::size_t i = 0; i < devices.size(); ++i) {
        CAPTURE(devices[i].name);
        CHECK(devices[i].name == nand_presets()[i].name);
        CHECK(devices[i].config.preset == devices[i].name);
        CHECK(devices[i].config.nand == nand_presets()[i].nand);
        CHECK(find_device_preset(devices[i].name)->config.nand == nand_presets()[i].nand);
    }
    CHECK(devices.front().name == default_preset_name);
    const auto hybrid = find_device_preset("k9g8g08u0m");
    CHECK(hybrid->config.pram.word_bytes == 2);
    CHECK(hybrid->config.pram.word_write == Duration{10'000});
}

TEST_CASE("every preset passes the checks of geometry and timing", "[tools]") {
    for (const auto& preset : device_presets()) {
        CAPTURE(preset.name);
        CHECK(Geometry::make(preset.config.nand.geometry).has_value());
        CHECK(preset.config.nand.timing.validate().has_value());
        CHECK_FALSE(preset.source.empty());
    }
    CHECK_THAT(find_device_preset("nosuch").error(), Contains("modern-tlc"));
}

// The schema's rules, the order of precedence, and messages that name the remedy.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

#include "ftl/make_ftl.h"
#include "ftl/schemes/page_plan.h"
#include "nand/geometry.h"
#include "nand/presets.h"
#include "tools/drive/config_file.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/device_plan.h"
#include "tools/drive/device_presets.h"

using namespace flashlab;
using flashlab::test::TemporaryDirectory;

namespace {
DeviceConfig planned() {
    DeviceConfig config;
    config.layout = PramLayout{0, 8192, 8192, 1u << 20};
    return config;
}
} // namespace

TEST_CASE("an unknown key names the nearest known one", "[tools]") {
    DeviceConfig config;
    CHECK_THAT(set_key(config, "nand.chanels", "4").error(), ContainsSubstring("did you mean 'nand.channels'?"));
    CHECK_THAT(set_key(config, "channels", "4").error(), ContainsSubstring("did you mean 'nand.channels'?"));
    CHECK_THAT(set_key(config, "ftl.schem", "hftl").error(), ContainsSubstring("did you mean 'ftl.scheme'?"));
}

TEST_CASE("a partition that an earlier version called adaptive is read, as the one that divides by curves now", "[tools][config]") {
    DeviceConfig config;
    REQUIRE(apply_toml(config, "[dram]\npartition = \"adaptive\"\n", "device.toml"));
    CHECK(config.ssd.dram.partition == "curve");
    for (const char* kind : {"curve", "ghost", "static", "none"}) CHECK(set_key(config, "dram.partition", kind));
    CHECK_THAT(set_key(config, "dram.partition", "ghosts").error(), ContainsSubstring("curve, ghost"));
}

TEST_CASE("a value outside its range never enters and the error says what is allowed", "[tools]") {
    DeviceConfig config;
    CHECK_THAT(set_key(config, "nand.channels", "0").error(), ContainsSubstring("1 to 256"));
    CHECK_THAT(set_key(config, "nand.channels", "257").error(), ContainsSubstring("1 to 256"));
    CHECK_THAT(set_key(config, "nand.channels", "four").error(), ContainsSubstring("whole number"));
    CHECK_THAT(set_key(config, "nand.cell", "plc").error(), ContainsSubstring("slc, mlc, tlc, qlc"));
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
    REQUIRE(set_key(back, "nand.page_read_ns", "12346").has_value());
    CHECK(config_hash(back) != config_hash(config));
}

TEST_CASE("an error in a TOML file names file, line and column and changes nothing", "[tools]") {
    DeviceConfig config;
    CHECK_THAT(apply_toml(config, "[nand]\nchannels = 4\nchips = 2\n", "x.toml").error(),
               ContainsSubstring("x.toml:3:1") && ContainsSubstring("unknown key 'nand.chips'"));
    CHECK_THAT(apply_toml(config, "[nand]\nchannels = 4000\n", "x.toml").error(), ContainsSubstring("x.toml:2:"));
    CHECK_THAT(apply_toml(config, "[nand\n", "x.toml").error(), ContainsSubstring("x.toml:1:"));
    CHECK(config.ssd.nand.geometry.channels == GeometryConfig{}.channels);
}

TEST_CASE("settings beat the environment, which beats the preset", "[tools]") {
    ConfigSources sources;
    const auto preset = gather_config(sources);
    REQUIRE(preset.has_value());
    CHECK(preset->ssd.nand.timing.page_read == find_device_preset(default_preset_name)->config.nand.timing.page_read);
    sources.environment = {{"FLASHLAB_NAND_PAGE_READ_NS", "7"}, {"FLASHLAB_NAND_CHANNELS", "2"}, {"FLASHLAB_ELSEWHERE", "x"}};
    sources.settings = {"nand.page_read_ns=9"};
    const auto config = gather_config(sources);
    REQUIRE(config.has_value());
    CHECK(config->ssd.nand.timing.page_read == Duration{9});
    CHECK(config->ssd.nand.geometry.channels == 2);
}

TEST_CASE("a drive of which nothing is said is like those sold; whoever names a layer, wherever, gets the drive that all can use", "[tools]") {
    TemporaryDirectory folder;
    const std::string file = folder / "my.toml";
    const auto preset_of = [](const ConfigSources& sources) { return gather_config(sources)->ssd.preset; };
    CHECK(preset_of({}) == default_preset_name);
    CHECK(preset_of({.settings = {"nand.page_read_ns=9", "ftl.victim=fifo"}}) == default_preset_name);
    CHECK(gather_config({})->ssd.ftl.scheme == "page_map");
    CHECK(gather_config({})->ssd.dram.is_protected);
    CHECK(preset_of({.settings = {"ftl.scheme=page_map"}}) == common_preset_name);
    CHECK(preset_of({.environment = {{"FLASHLAB_FTL_SCHEME", "dftl"}}}) == common_preset_name);
    std::ofstream{file} << "[ftl]\nscheme = \"fast\"\n";
    CHECK(preset_of({.file = file}) == common_preset_name);
    CHECK(preset_of({.preset = "tiny", .file = file}) == "tiny");
    for (const Scheme* scheme : schemes()) {
        CAPTURE(scheme->name);
        const auto config = gather_config({.settings = {fmt::format("ftl.scheme={}", scheme->name)}});
        REQUIRE(config.has_value());
        const auto plan = plan_device(*config, 1u << 30);
        INFO((plan ? "" : plan.error()));
        CHECK(plan.has_value());
    }
    for (const std::uint64_t mib : {64u, 1u << 10, 1u << 20}) {
        CAPTURE(mib);
        CHECK(plan_device(*gather_config({}), mib << 20).has_value());
    }
}

TEST_CASE("random writes cost a drive that is sold as much at any size, and it is not warned of", "[tools]") {
    for (const std::string preset : {"nvme-tlc", "micron-7450-max", "solidigm-p5520", "samsung-980pro-1t"}) {
        const DeviceConfig config = gather_config({.preset = preset}).value();
        const auto own = plan_device(config, std::nullopt);
        REQUIRE(own.has_value());
        CHECK(own->ftl.warnings.empty());
        for (const std::uint64_t mib : {256u, 1024u, 2500u, 16u << 10, 100u << 10}) {
            CAPTURE(preset, mib);
            const auto plan = plan_device(config, mib << 20);
            REQUIRE(plan.has_value());
            CHECK(plan->ftl.expected_waf <= own->ftl.expected_waf);
            CHECK(plan->ftl.is_paced == own->ftl.is_paced);
            CHECK((mib < 1024 || plan->ftl.expected_waf >= .95 * own->ftl.expected_waf)); // a smaller drive may have to have more to keep pace
            if (mib >= 1024 || preset == default_preset_name) CHECK(plan->ftl.warnings.empty());
        }
    }
}

TEST_CASE("a drive that is sold keeps its dies and its rates when it is made smaller, or says that it has fewer", "[tools]") {
    const auto dies = [](const SsdConfig& config) {
        return config.nand.geometry.channels * config.nand.geometry.chips_per_channel * config.nand.geometry.dies_per_chip;
    };
    for (const std::string preset :
         {"micron-7450-max", "solidigm-p5520", "samsung-980pro-1t", "samsung-870qvo-4t", "adata-atom50-1t", "lexar-nm800pro-2t"}) {
        const DeviceConfig config = gather_config({.preset = preset}).value();
        const auto erase_a_page = [](const SsdConfig& of) { return of.nand.timing.block_erase / of.nand.geometry.pages_per_block; };
        for (const std::uint64_t mib : {1500u, 4096u}) {
            CAPTURE(preset, mib);
            const auto plan = plan_device(config, mib << 20);
            REQUIRE(plan.has_value());
            CHECK(dies(plan->config.ssd) == dies(config.ssd));
            CHECK(erase_a_page(plan->config.ssd) == erase_a_page(config.ssd));
            CHECK(plan->ftl.warnings.empty());
        }
        DeviceConfig narrow = config;
        narrow.ssd.nand.geometry.channels = 2;
        CHECK(plan_device(narrow, std::uint64_t{4096} << 20, {"nand.channels"})->ftl.warnings.empty());
        const auto asked = plan_device(config, std::uint64_t{4096} << 20, {"nand.pages_per_block"});
        CHECK(asked->config.ssd.nand.geometry.pages_per_block == config.ssd.nand.geometry.pages_per_block);
        const auto tiny = plan_device(config, std::uint64_t{100} << 20);
        REQUIRE(tiny.has_value());
        CHECK(dies(tiny->config.ssd) < dies(config.ssd));
        REQUIRE_FALSE(tiny->ftl.warnings.empty());
        CHECK_THAT(tiny->ftl.warnings.back(), ContainsSubstring(fmt::format("of the {} dies of {}", dies(config.ssd), preset)));
    }
}

TEST_CASE("an SLC cache is as large a share of a drive of any size, unless its blocks are asked for", "[tools]") {
    const auto share = [](const DevicePlan& plan, std::uint32_t more) {
        const auto geometry = Geometry::make(plan.config.ssd.nand.geometry).value();
        const CacheRegion cache = cache_region_of(plan.config.ssd, geometry, plan.ftl.groups);
        return 1.0 * (cache.blocks_a_plane + cache.dynamic_blocks_a_group / geometry.planes_per_die() + more) / geometry.blocks_per_plane();
    };
    for (const std::string preset : {"samsung-980pro-1t", "samsung-870qvo-4t", "adata-atom50-1t", "lexar-nm800pro-2t"}) {
        const DeviceConfig config = gather_config({.preset = preset}).value();
        const auto own = plan_device(config, std::nullopt);
        REQUIRE(own.has_value());
        for (const std::uint64_t mib : {1024u, 1500u, 3072u, 8192u, 100u << 10}) {
            CAPTURE(preset, mib);
            const auto plan = plan_device(config, mib << 20);
            REQUIRE(plan.has_value());
            CHECK(share(*plan, 1) > share(*own, 0)); // whole blocks of each plane
            CHECK(share(*plan, 0) < share(*own, 1) + 1.0 / plan->config.ssd.nand.geometry.blocks_per_plane);
        }
        DeviceConfig asked = config;
        asked.ssd.ftl.options.set(page_option::slc_blocks, 320);
        CHECK(plan_device(asked, std::uint64_t{3072} << 20, {"ftl.slc_blocks"})->config.ssd.ftl.options[page_option::slc_blocks] == 320);
    }
}

TEST_CASE("a spare that was asked for stays, and a drive for other purposes keeps its own", "[tools]") {
    DeviceConfig config = gather_config({}).value();
    config.ssd.ftl.reserved_permille = 127;
    const auto asked = plan_device(config, 1u << 30, {"ftl.reserved_permille"});
    REQUIRE(asked.has_value());
    CHECK(asked->config.ssd.ftl.reserved_permille == 127);
    CHECK_THAT(asked->ftl.warnings.front(), ContainsSubstring("this drive is small for 16 independent dies"));
    CHECK(plan_device(gather_config({.preset = "modern-tlc"}).value(), 1u << 30)->config.ssd.ftl.reserved_permille ==
          gather_config({.preset = "modern-tlc"})->ssd.ftl.reserved_permille);
}

TEST_CASE("a drive for many streams of the host is as large as it was to be, or refused with what helps", "[tools]") {
    const auto with_streams = [](std::uint64_t size, int streams) {
        DeviceConfig config;
        for (const auto& [key, value] : {std::pair{"ftl.separation", std::string{"host"}}, {"ftl.host_streams", std::to_string(streams)}})
            if (const auto set = set_key(config, key, value); !set) FAIL(set.error());
        if (const auto set = set_key(config, "nand.subpages", "4"); !set) FAIL(set.error());
        return plan_device(config, size, {"ftl.separation", "ftl.host_streams"});
    };
    const std::uint32_t pages = GeometryConfig{}.pages_per_block;
    for (const std::uint64_t mib : {64, 256, 512, 4096})
        for (const int streams : {2, 4, 8, 16, 20, 31, 32, 90, 128, 250}) {
            CAPTURE(mib, streams);
            const std::uint64_t size = mib << 20;
            const auto plan = with_streams(size, streams);
            if (plan) {
                CHECK(plan->logical_bytes >= size);
                CHECK(plan->logical_bytes <= size + size / 4);
            } else {
                const bool never_fits = static_cast<std::uint32_t>(streams) * 3 >= pages / 2;
                CHECK_THAT(plan.error(),
                           ContainsSubstring(never_fits ? "(ftl.host_streams), with nand.subpages = 1 more" : "the least that has them is"));
                CHECK((!never_fits || plan.error().find("larger --size") == std::string::npos));
            }
        }
    CHECK(with_streams(std::uint64_t{4} << 30, 8).has_value());
}

TEST_CASE("a write buffer that holds no page of the flash is refused with the least", "[tools]") {
    DeviceConfig config;
    for (const std::uint64_t bytes : {1u, 4095u}) {
        config.ssd.dram.write_buffer_bytes = bytes;
        CHECK_THAT(plan_device(config, default_device_bytes).error(),
                   ContainsSubstring("holds no page of the flash: give 4096 or more, or 0 for none"));
    }
    for (const std::uint64_t bytes : {0u, 4096u}) {
        config.ssd.dram.write_buffer_bytes = bytes;
        CHECK(check_dram(config.ssd).has_value());
    }
}

TEST_CASE("a drive that keeps hot and cold apart collects by cost-benefit, unless a source names another policy", "[tools]") {
    TemporaryDirectory folder;
    using Settings = std::vector<std::string>;
    ConfigSources sources;
    const auto victim_with = [&sources](const Settings& settings) {
        sources.settings = settings;
        const auto config = gather_config(sources);
        if (!config) FAIL(config.error());
        return config->ssd.ftl.victim;
    };
    const Settings hot_and_cold{"ftl.separation=frequency"};
    CHECK(victim_with({}) == "greedy");
    CHECK(victim_with({"ftl.separation=cause"}) == "greedy");
    CHECK(victim_with(hot_and_cold) == "cost-benefit");
    CHECK(victim_with({"ftl.victim=greedy", "ftl.separation=frequency"}) == "greedy");
    sources.environment = {{"FLASHLAB_FTL_SEPARATION", "frequency"}};
    CHECK(victim_with({}) == "cost-benefit");
    sources.environment = {{"FLASHLAB_FTL_VICTIM", "fifo"}};
    CHECK(victim_with(hot_and_cold) == "fifo");
    sources.environment.clear();

    const auto write = [&](const std::string& text) {
        std::ofstream{folder / "drive.toml"} << text;
        sources.file = (folder / "drive.toml").string();
    };
    write("[ftl]\nseparation = \"frequency\"\n");
    CHECK(victim_with({}) == "cost-benefit");
    write("[ftl]\nvictim = \"greedy\"\n");
    CHECK(victim_with(hot_and_cold) == "greedy");
    DeviceConfig of_drive;
    of_drive.ssd.ftl.separation = "frequency";
    of_drive.checksum = "00000000"; // as mkfs writes it: it names every key, so that a drive like it is collected like it
    write(to_toml(of_drive));
    CHECK(victim_with({}) == "greedy");
}

TEST_CASE("an environment variable of our sections that sets no key is refused", "[tools]") {
    DeviceConfig config;
    CHECK_THAT(apply_environment(config, {{"FLASHLAB_NAND_CHANELS", "2"}}, false).error(), ContainsSubstring("did you mean FLASHLAB_NAND_CHANNELS?"));
}

TEST_CASE("every key of a section is set by its environment variable", "[tools]") {
    for (const auto& key : config_keys()) {
        const auto dot = key.name.find('.');
        if (dot == std::string_view::npos || key.phase == ConfigPhase::written_by_mkfs) continue;
        std::string variable = "FLASHLAB_";
        for (const char c : key.name) variable += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        CAPTURE(variable);
        DeviceConfig config;
        if (key.type != ConfigType::text || !key.choices.empty())
            CHECK_THAT(apply_environment(config, {{variable, "no such value"}}, false).error(), ContainsSubstring(variable));
        DeviceConfig changed = config;
        const std::string wanted = key.type == ConfigType::text
                                       ? (key.choices.empty() ? "other" : std::string{key.choices.substr(key.choices.rfind(' ') + 1)})
                                       : std::to_string(key.get(config) == std::to_string(key.min) ? key.min + 1 : key.min);
        REQUIRE(apply_environment(changed, {{variable, wanted}}, false).has_value());
        CHECK(key.get(changed) == wanted);
    }
}

TEST_CASE("a misspelt environment variable of any section is refused, one of no section is another program's", "[tools]") {
    DeviceConfig config;
    CHECK_THAT(apply_environment(config, {{"FLASHLAB_DRAM_SIEZ", "4M"}}, false).error(), ContainsSubstring("did you mean FLASHLAB_DRAM_SIZE?"));
    CHECK_THAT(apply_environment(config, {{"FLASHLAB_COFTL_SWAP_SET", "2"}}, true).error(),
               ContainsSubstring("did you mean FLASHLAB_COFTL_SWAP_SETS?"));
    CHECK_THAT(apply_environment(config, {{"FLASHLAB_LAYOUT_FS_AT", "0"}}, false).error(), ContainsSubstring("mkfs writes layout.fs_at itself"));
    for (const char* other : {"FLASHLAB_PRESET", "FLASHLAB_MOUNT", "FLASHLAB_CUT", "FLASHLAB_TRACES", "FLASHLAB_LIVE_FTL"})
        CHECK(apply_environment(config, {{other, "x"}}, false).has_value());
}

TEST_CASE("at a mount only times and speeds can be set", "[tools]") {
    DeviceConfig config;
    CHECK(apply_settings(config, {"nand.page_read_ns=1"}, true).has_value());
    CHECK_FALSE(apply_settings(config, {"nand.channels=1"}, true).has_value());
    CHECK_FALSE(apply_settings(config, {"layout.fs_at=1"}, false).has_value());
    REQUIRE(apply_environment(config, {{"FLASHLAB_NAND_CHANNELS", "3"}}, true).has_value());
    CHECK(config.ssd.nand.geometry.channels == GeometryConfig{}.channels);
}

TEST_CASE("a configuration file of a newer format, or with a layout of its own, makes no device", "[tools]") {
    const auto path = std::filesystem::temp_directory_path() / ("flashlab-config-" + std::to_string(::getpid()) + ".toml");
    const auto gather = [&](const std::string& text) {
        std::ofstream{path} << text;
        ConfigSources sources;
        sources.file = path.string();
        return gather_config(sources);
    };
    CHECK_THAT(gather("format = 2\n").error(), ContainsSubstring(":1:10") && ContainsSubstring("format 2 is newer"));
    CHECK_THAT(gather("[layout]\nfs_at = 4096\n").error(), ContainsSubstring(":1:") && ContainsSubstring("mkfs plans the layout itself"));
    // A device.toml describes another device like it: where its parts lie is planned anew.
    DeviceConfig made = planned();
    made.checksum = "12345678";
    const auto again = gather(to_toml(made));
    INFO((again ? "" : again.error()));
    REQUIRE(again.has_value());
    CHECK(again->format == device_format);
    CHECK(again->layout.fs_bytes == 0);
    CHECK(again->checksum.empty());
    std::filesystem::remove(path);
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
    CHECK_THAT(find_device_preset("nosuch").error(), ContainsSubstring("modern-tlc"));
}

/// Goal: what cannot be done is said before anything is made, with the exit code of wrong usage.
/// Method: the words of commands, as a user types them.
#include "tests/tools/device_fixture.h"
#include "tools/cli/command_line.h"
#include "tools/drive/config_file.h"
#include "tools/drive/config_schema.h"
#include "tools/host/complaint.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

int mkfs(const files::path& directory, const std::vector<std::string>& settings, bool dry_run, bool force = false) {
    std::vector<std::string> words{"mkfs", directory.string(), "--size", "64M", "--quiet"};
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    if (dry_run) words.emplace_back("--dry-run");
    if (force) words.emplace_back("--force");
    return run_words(words);
}

std::uint64_t ram_of(const std::vector<std::string>& settings) {
    ConfigSources sources;
    sources.settings = settings;
    const auto config = gather_config(sources);
    REQUIRE(config.has_value());
    const auto plan = plan_device(*config, 64u << 20);
    REQUIRE(plan.has_value());
    return plan->ram_bytes;
}

} // namespace

TEST_CASE("mkfs -n refuses what mkfs refuses, with the same exit code, and neither makes anything", "[tools]") {
    const TemporaryDirectory work;
    const std::vector<std::vector<std::string>> wrong{{"dram.size=1K"},
                                                      {"dram.size=64", "ftl.scheme=dftl"},
                                                      {"dram.size=4M", "ftl.scheme=fast", "dram.partition=ghost", "dram.ghost_bitmap_bytes=1000"},
                                                      {"dram.size=4M", "ftl.scheme=dftl", "dram.write_buffer_bytes=1M"},
                                                      {"ftl.scheme=fast", "ftl.log_blocks=4294967295"}};
    for (const auto& settings : wrong) {
        CAPTURE(settings);
        for (const bool dry_run : {true, false}) CHECK(mkfs(work / "new", settings, dry_run) == exit_usage);
        CHECK_FALSE(files::exists(work / "new"));
    }
    REQUIRE(mkfs(work / "device", {}, false) == exit_done);
    files::create_directory(work / "full");
    std::ofstream{work / "full/mine"} << "kept";
    for (const char* taken : {"device", "full", "full/mine"}) {
        CAPTURE(taken);
        for (const bool dry_run : {true, false}) CHECK(mkfs(work / taken, {}, dry_run) == exit_failed);
    }
    CHECK(mkfs(work / "device", {}, true, true) == exit_done);
}

TEST_CASE("a size keeps as many dies as ftl.groups asks for", "[tools]") {
    ConfigSources sources;
    sources.settings = {"ftl.groups=4"};
    const auto plan = plan_device(*gather_config(sources), 64u << 20);
    INFO((plan ? "" : plan.error()));
    REQUIRE(plan.has_value());
    CHECK(plan->ftl.groups == 4);
    sources.settings = {"ftl.groups=17"};
    CHECK_THAT(plan_device(*gather_config(sources), 64u << 20).error(), ContainsSubstring("the geometry has 16 dies"));
}

TEST_CASE("what can be seen to be wrong without a device is wrong usage", "[tools]") {
    CHECK(run_words({"ctl", "/nowhere", "set", "latency=foo"}) == exit_usage);
    CHECK(run_words({"snapshot", "/nowhere", "../x"}) == exit_usage);
    CHECK(run_words({"trace", "workload:finan"}) == exit_usage);
    CHECK(run_words({"bench", "--size", "64M", "--bs", "1000"}) == exit_usage);
    CHECK(run_words({"bench", "--size", "64M", "--bs", "512", "--level", "ftl"}) == exit_usage);
}

TEST_CASE("the RAM that mkfs names counts the drive's DRAM", "[tools]") {
    const std::uint64_t without = ram_of({"ftl.scheme=dftl"});
    CHECK(ram_of({"ftl.scheme=dftl", "dram.size=1G"}) >= without + (std::uint64_t{1} << 30));
    CHECK(ram_of({"ftl.scheme=dftl", "dram.write_buffer_bytes=256M"}) >= without + (std::uint64_t{256} << 20));
}

TEST_CASE("a key of the schema that is asked for is planned as asked, or refused with its name, with and without a size", "[tools]") {
    for (const auto& key : config_keys()) {
        if (key.phase == ConfigPhase::written_by_mkfs || key.name == "preset") continue;
        const std::string name{key.name};
        std::vector<std::string> values;
        if (key.type == ConfigType::text)
            for (const char* value : {"mlc", "dftl", "static", "journal", "cost_benefit"}) values.emplace_back(value);
        else
            for (const std::uint64_t value : {1u, 2u, 3u, 4u, 8u, 64u, 300u, 1u << 20, 1u << 24}) values.push_back(std::to_string(value));
        for (const std::string& value : values) {
            for (const bool sized : {false, true}) {
                CAPTURE(name, value, sized);
                ConfigSources sources;
                sources.settings = {name + "=" + value};
                const auto config = gather_config(sources);
                if (!config) continue;
                const auto plan = plan_device(*config, sized ? std::optional<std::uint64_t>{64u << 20} : std::nullopt, asked_keys(sources));
                if (!plan)
                    CHECK_FALSE(plan.error().empty());
                else
                    CHECK(key.get(plan->config) == key.get(*config));
            }
        }
    }
}

TEST_CASE("channels that were asked for are kept where a size would give them up, and a device.toml asks for none", "[tools]") {
    const TemporaryDirectory work;
    ConfigSources sources;
    sources.settings = {"nand.channels=2"};
    CHECK(plan_device(*gather_config(sources), 64u << 20, asked_keys(sources))->config.ssd.nand.geometry.channels == 2);
    CHECK(plan_device(*gather_config(sources), 64u << 20)->config.ssd.nand.geometry.channels == 1);
    REQUIRE(mkfs(work / "device", {}, false) == exit_done);
    ConfigSources like;
    like.file = (work / "device/device.toml").string();
    CHECK(asked_keys(like).empty());
    std::ofstream{work / "mine.toml"} << "[nand]\nchannels = 2\n";
    like.file = (work / "mine.toml").string();
    CHECK(asked_keys(like) == std::vector<std::string>{"nand.channels"});
}

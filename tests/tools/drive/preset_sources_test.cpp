/// Every number of every preset says where it comes from, and the papers' devices are the papers'.
#include "tools/drive/preset_sources.h"

#include <algorithm>

#include "tests/support/catch.h"
#include "tools/drive/config_schema.h"
#include "tools/drive/device_presets.h"

using namespace flashlab;

namespace {

bool is_number(const ConfigKey& key) { return key.type != ConfigType::text && key.phase != ConfigPhase::written_by_mkfs && key.name != "format"; }

std::uint64_t value(std::string_view preset, std::string_view name) {
    const auto found = find_device_preset(preset);
    REQUIRE(found.has_value());
    DeviceConfig config;
    config.ssd = found->config;
    const ConfigKey* key = find_config_key(name);
    REQUIRE(key != nullptr);
    return std::stoull(key->get(config));
}

} // namespace

TEST_CASE("every number of every preset carries a source", "[presets]") {
    for (const auto& preset : device_presets())
        for (const ConfigKey& key : config_keys()) {
            CAPTURE(preset.name, key.name);
            CHECK((!is_number(key) || !source_of(preset.name, key.name).empty()));
            if (key.name.starts_with("nand.") && !key.name.ends_with("seed") && is_number(key))
                CHECK((preset.name == "tiny" || number_sources(preset.name).size() > 3));
        }
}

TEST_CASE("every row of sources names keys that there are, of a preset that there is", "[presets]") {
    for (const auto& preset : device_presets()) {
        CAPTURE(preset.name);
        CHECK_FALSE(number_sources(preset.name).empty());
        for (const NumberSource& row : number_sources(preset.name)) {
            CAPTURE(row.keys);
            CHECK_FALSE(row.source.empty());
            CHECK(std::ranges::any_of(config_keys(), [&](const ConfigKey& key) { return names_key(row, key.name); }));
        }
    }
    CHECK(number_sources("nosuch").empty());
    CHECK(source_of("", "nand.channels").empty()); // no geometry is everywhere's
}

TEST_CASE("the papers' devices have the papers' numbers", "[presets]") {
    struct Number {
        const char* preset;
        const char* key;
        std::uint64_t paper;
    };
    constexpr Number numbers[] = {
        {"coftl", "nand.planes_per_die", 2},
        {"coftl", "nand.blocks_per_plane", 4096},
        {"coftl", "nand.pages_per_block", 256},
        {"coftl", "nand.page_bytes", 4096},
        {"coftl", "nand.spare_bytes", 224},
        {"coftl", "nand.page_program_ns", 900'000},
        {"coftl", "nand.page_read_ns", 50'000},
        {"coftl", "nand.block_erase_ns", 3'000'000},
        {"coftl", "nand.bus_ps_per_byte", 10'000},
        {"k9g8g08u0m", "nand.page_read_ns", 121'000},
        {"k9g8g08u0m", "nand.page_program_ns", 861'000},
        {"k9g8g08u0m", "nand.block_erase_ns", 1'500'000},
        {"k9g8g08u0m", "pram.word_read_ns", 80},
        {"k9g8g08u0m", "pram.word_write_ns", 10'000},
        {"k9g8g08u0m", "nand.pages_per_block", 128},
        {"dumbo", "nand.channels", 4},
        {"dumbo", "nand.chips_per_channel", 8},
        {"dumbo", "nand.page_bytes", 2048},
        {"dumbo", "nand.bus_ps_per_byte", 25'000},
        {"dumbo", "nand.page_read_ns", 27'320},
        {"dumbo", "nand.page_program_ns", 196'370},
        {"dumbo", "nand.host_interface_ps_per_byte", 40'000},
        {"dumbo", "nand.page_buffers_per_channel", 2},
        {"dumbo", "nand.bus_held_while_sensing", 1},
        {"dumbo", "host_link.ps_per_byte", 0},
        {"slc-64g", "nand.page_read_ns", 72'800},
        {"slc-64g", "nand.page_program_ns", 252'800},
        {"slc-64g", "nand.block_erase_ns", 1'500'000},
        {"slc-64g", "nand.page_bytes", 2048},
        {"slc-64g", "nand.pages_per_block", 64},
    };
    for (const Number& n : numbers) {
        CAPTURE(n.preset, n.key);
        CHECK(value(n.preset, n.key) == n.paper);
    }
    // Bytes as the papers count them.
    const auto bytes = [](const char* preset) {
        std::uint64_t product = value(preset, "nand.page_bytes");
        for (const char* key : {"nand.channels", "nand.chips_per_channel", "nand.dies_per_chip", "nand.planes_per_die", "nand.blocks_per_plane",
                                "nand.pages_per_block"})
            product *= value(preset, key);
        return product;
    };
    CHECK(bytes("coftl") == std::uint64_t{16} * 8 << 30);
    CHECK(bytes("k9g8g08u0m") == std::uint64_t{1} << 30);
    CHECK(bytes("dumbo") == std::uint64_t{4} << 30);
    CHECK(bytes("slc-64g") > std::uint64_t{64} << 30);
}

/// flashlab dump: pages and blocks of nand.img as they lie, without the translation layer: it may be what is broken.
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tools/cli/command_options.h"
#include "tools/drive/config_file.h"
#include "tools/drive/device_directory.h"
#include "tools/drive/device_images.h"
#include "tools/host/complaint.h"
#include "tools/host/interruption.h"
#include "tools/live/live_mount.h"
#include "tools/text/table.h"

namespace flashlab {
namespace {

struct DumpOptions {
    std::string directory;
    std::optional<std::uint64_t> page, block;
    bool data = false;
    OutputFormat format = OutputFormat::table;
};

std::string_view name_of(CellState state) {
    constexpr std::array<std::string_view, 6> names{"erased", "programmed", "torn", "garbage", "unstable", "weak"};
    return names.at(static_cast<std::size_t>(state));
}

std::string_view name_of(PageKind kind) {
    constexpr std::array<std::string_view, 8> names{"", "data", "translation", "checkpoint", "journal", "summary", "backup", "padding"};
    return names.at(static_cast<std::size_t>(kind));
}

std::string error_text(const HostIoError& error) { return std::strerror(error.error_number); }

/// One page: where it is, its state, what its OOB says.
std::expected<Json, std::string> page_of(PageStore& pages, const Geometry& geometry, Ppn page) {
    Json json = Json::object({{"page", static_cast<std::uint64_t>(page.value())},
                              {"block", static_cast<std::uint64_t>(geometry.block_of(page).value())},
                              {"page_in_block", geometry.page_in_block(page)}});
    const auto stored = pages.read_oob(page);
    if (!stored) {
        json.add("state", "damaged");
        json.add("error", error_text(stored.error()));
        return json;
    }
    json.add("state", name_of(stored->state));
    if (stored->state == CellState::erased || stored->state == CellState::weak) return json;
    if (!stored->oob) {
        json.add("oob", "does not parse");
        return json;
    }
    json.add("kind", name_of(stored->oob->kind));
    json.add("logical_page", static_cast<std::uint64_t>(stored->oob->lpn.value()));
    json.add("sequence", static_cast<std::uint64_t>(stored->oob->sequence.value()));
    json.add("scheme_word", stored->oob->scheme_word);
    return json;
}

/// As hexdump -C writes it, equal lines as one star.
std::string hex_of(std::span<const std::byte> data) {
    std::string text, last;
    bool starred = false;
    for (std::size_t at = 0; at < data.size(); at += 16) {
        std::string hex, plain;
        for (std::size_t i = at; i < at + 16 && i < data.size(); ++i) {
            const auto byte = std::to_integer<unsigned char>(data[i]);
            hex += fmt::format("{:02x} ", byte);
            plain += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '.';
        }
        const std::string line = fmt::format("{:48}|{}|\n", hex, plain);
        if (line != last) text += fmt::format("{:08x}  {}", at, line);
        if (line == last && !starred) text += "*\n";
        starred = line == last;
        last = line;
    }
    return text + fmt::format("{:08x}\n", data.size());
}

int print_page(PageStore& pages, const Geometry& geometry, Ppn page, const DumpOptions& o) {
    auto json = page_of(pages, geometry, page);
    if (!json) return complain("dump: " + json.error());
    std::vector<std::byte> data(o.data ? geometry.page_bytes() : 0);
    if (o.data)
        if (const auto read = pages.read_data(page, 0, data); !read)
            return complain(fmt::format("dump: page {}: {}", page.value(), error_text(read.error())));
    if (o.data && o.format != OutputFormat::table) {
        std::string hex;
        for (const std::byte byte : data) hex += fmt::format("{:02x}", std::to_integer<unsigned char>(byte));
        json->add("data", hex);
    }
    fmt::print("{}", shown(o.format, *json));
    if (o.data && o.format == OutputFormat::table) fmt::print("{}", hex_of(data));
    return exit_done;
}

int print_block(PageStore& pages, const Geometry& geometry, BlockId block, const DumpOptions& o) {
    std::array<BlockRecord, 1> record{};
    if (const auto read = pages.read_blocks(block, record); !read)
        return complain(fmt::format("dump: block {}: {}", block.value(), error_text(read.error())));
    Table table{{"page", "state", "kind", "logical_page", "sequence", "scheme_word"}};
    Json list{Json::Array{}};
    for (std::uint32_t i = 0; i < geometry.pages_per_block(); ++i) {
        const auto page = page_of(pages, geometry, geometry.page_of(block, i));
        if (!page) return complain("dump: " + page.error());
        const auto cell = [&](const char* key) { return (*page)[key].is_null() ? std::string{} : (*page)[key].text((*page)[key].dump()); };
        table.add({cell("page"), cell("state"), cell("kind"), cell("logical_page"), cell("sequence"), cell("scheme_word")});
        list.push(*page);
    }
    if (o.format == OutputFormat::table)
        fmt::print("block {}: erased {} times{}\n", block.value(), record[0].erase_count, record[0].grown_bad ? ", bad" : "");
    const Json json = Json::object({{"block", static_cast<std::uint64_t>(block.value())},
                                    {"erase_count", record[0].erase_count},
                                    {"grown_bad", record[0].grown_bad},
                                    {"pages", std::move(list)}});
    fmt::print("{}", shown(o.format, json, table));
    return exit_done;
}

int run_dump(const DumpOptions& o) {
    const Interruption interruption;
    if (o.page.has_value() == o.block.has_value()) return complain("dump: one of --page N and --block N is wanted", exit_usage);
    const auto config = read_device_toml(o.directory);
    if (!config) return complain("dump: " + config.error());
    if (const auto mounted = find_mount(o.directory))
        return complain(fmt::format("dump: {0}: it is mounted on {1}; unmount it first: flashlab umount {1}", o.directory, mounted->mount_point));
    const auto say = [](const std::string& text) { complain(text); };
    if (const auto free = wait_for_images(o.directory, DeviceAccess::look, say); !free) return complain("dump: " + free.error());
    const auto geometry = Geometry::make(config->ssd.nand.geometry);
    if (!geometry) return complain("dump: " + geometry.error());
    const auto images = open_device_images(o.directory, *config, DeviceAccess::look);
    if (!images) return complain("dump: " + images.error());
    if (!images->damage.empty()) complain("dump: the images are damaged: " + to_text(images->damage));
    if (o.block && *o.block >= geometry->blocks())
        return complain(fmt::format("dump: --block {}: there are {} blocks", *o.block, geometry->blocks()), exit_usage);
    if (o.page && *o.page >= geometry->pages())
        return complain(fmt::format("dump: --page {}: there are {} pages", *o.page, geometry->pages()), exit_usage);
    return o.page ? print_page(*images->pages, *geometry, Ppn{static_cast<std::uint32_t>(*o.page)}, o)
                  : print_block(*images->pages, *geometry, BlockId{static_cast<std::uint32_t>(*o.block)}, o);
}

} // namespace

void add_dump(CLI::App& app, Action& action) {
    auto [c, o] = add_command(app, action, run_dump, "dump", "A flash page or block as it lies in the image", "flashlab dump /tmp/disk --block 7");
    c.add_option("DIR", o.directory, "Device directory, not mounted")->required();
    auto* page = c.add_option("--page", o.page, "Physical page: state, and what its spare bytes say");
    c.add_option("--block", o.block, "Physical block: its erase count, and all its pages")->excludes(page);
    c.add_flag("--data", o.data, "of --page: the bytes, too")->needs(page);
    add_format(c, o.format, "One JSON object");
}

} // namespace flashlab

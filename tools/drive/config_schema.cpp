#include "tools/drive/config_schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/crc32c.h"
#include "ftl/blocks/victim_policies.h"
#include "ftl/host/arbiter.h"
#include "ftl/make_ftl.h"
#include "tools/drive/config_field.h"
#include "tools/drive/nand_keys.h"
#include "tools/drive/scheme_keys.h"
#include "tools/text/sizes.h"

namespace flashlab {
namespace {

constexpr std::uint64_t max_u32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t max_u64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t ns_per_second = 1'000'000'000;
using enum ConfigType;
using enum ConfigPhase;

/// "greedy, cost-benefit, d-choices or fifo".
std::string one_of(const std::vector<std::string_view>& names) {
    return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}
const std::string victim_help =
    fmt::format("Policy that chooses the full block to collect: {}. Left out with ftl.separation = frequency: cost-benefit.",
                one_of(names_of(victim_policies())));
const std::string arbiter_help = fmt::format("Policy that chooses whose queue's command takes a free slot: {}.", one_of(names_of(arbiters())));

/// Of all drives. The keys of the flash (tools/drive/nand_keys.h) and what schemes and policies declare come to it in config_keys().
#define KEY(name, type, phase, min, max, help, member)                                                                                               \
    ConfigKey { name, type, phase, min, max, "", help, FIELD(ssd.member) }
/// A key with the name of its field.
#define SAME(member, type, phase, min, max, help) KEY(#member, type, phase, min, max, help, member)
const std::array common_keys{
    ConfigKey{"format", integer, written_by_mkfs, 1, max_u32, "", "Version of this file's format; a newer one than this flashlab writes is refused.",
              FIELD(format)},
    SAME(preset, text, mkfs, 0, 0, "Preset that the values started from; flashlab presets lists them."),
    SAME(pram.bytes, size, mkfs, 1u << 16, std::uint64_t{1} << 40, "Size of the PRAM in bytes, a multiple of 4096; mkfs computes it from the drive."),
    SAME(pram.word_bytes, integer, mkfs, 2, 8, "Bytes that the PRAM writes at once, all or nothing: 2, 4 or 8."),
    KEY("pram.write_buffer_bytes", size, mkfs, 0, std::uint64_t{1} << 40,
        "Bytes of PRAM used as write buffer, so that answered writes survive a power cut. 0: a write buffer is in DRAM.", dram.pram_buffer_bytes),
    KEY("pram.word_read_ns", integer, mount, 1, 1'000'000, "Time to read one word of PRAM, in ns.", pram.word_read),
    KEY("pram.word_write_ns", integer, mount, 1, 1'000'000,
        "Time to write one word of PRAM, in ns. Larger: slower updates of what lies there (metadata, hftl's map).", pram.word_write),

    SAME(ftl.scheme, text, mkfs, 0, 0, "The flash translation layer: how logical pages are mapped to flash."),
    SAME(ftl.mapping_unit_pages, integer, mkfs, 1, 4,
         "Flash pages that share an entry of the map: 1, 2 or 4. Larger: a smaller map, but a smaller write reads and rewrites the unit."),
    SAME(ftl.striping, integer, mkfs, 1, 256,
         "Blocks of a page set of coftl. Larger: faster large requests, merges of more pages. Other schemes: nand.striping."),
    ConfigKey{"ftl.allocation", text, mount, 0, 0,
              "CWDP CWPD CDWP CDPW CPWD CPDW WCDP WCPD WDCP WDPC WPCD WPDC DCWP DCPW DWCP DWPC DPCW DPWC PCWD PCDW PWCD PWDC PDCW PDWC",
              "Units over which consecutive pages spread, the fastest first: C channel, W way (chip), D die, P plane.", FIELD(ssd.ftl.allocation)},
    SAME(ftl.groups, integer, mkfs, 0, 65536,
         "Independent groups of planes, written in turn. More: more parallel writes, fewer blocks in each. 0: as many as keep 64 blocks each."),
    SAME(ftl.reserved_permille, integer, mkfs, 0, 899,
         "Over-provisioning in thousandths of the blocks, at least 4 blocks a group. Larger: lower write amplification, less capacity."),
    SAME(ftl.victim, text, mount, 0, 0, victim_help),
    SAME(ftl.separation, text, mkfs, 0, 0,
         "With page maps: what shares superblocks: none, frequency (hot, cold), cause (host, copies) or host (its streams)."),
    SAME(ftl.wear_threshold, integer, mount, 0, 1'000'000'000,
         "Erases by which a block may lag behind its die's mean, and an eighth of it, before its data move. Smaller: more even wear. 0: off."),
    SAME(ftl.moving_ring, integer, mkfs, 0, 1,
         "1: blocks of checkpoints and journal change places with less worn ones (with ftl.wear_threshold; 3 blocks). 0: they wear faster."),
    SAME(ftl.scrub_retries, integer, mount, 0, 101,
         "Retries of one read after which its block's data are written anew (with nand.cell_errors). Smaller: shorter tails, more writes. 0: off."),
    SAME(ftl.scrub_days, integer, mount, 0, 36'500,
         "Age in days at which data are written anew (with nand.cell_errors). Smaller: fewer bit errors, more writes. 0: off."),
    SAME(ftl.gc_slice_us, integer, mount, 1, 10'000'000,
         "Longest background copy issued at a time, in microseconds of one plane. Larger: a host request can wait longer for it."),

    SAME(host_link.ps_per_byte, integer, mount, 0, ns_per_second,
         "Transfer time of one byte between host and drive, in ps. Larger is slower: 250 is 4 GB/s."),
    KEY("host_link.request_overhead_ns", integer, mount, 1, ns_per_second,
        "Time on the host link for each request, in ns. Larger: fewer requests per second.", host_link.request_overhead),
    SAME(host_link.pipelined, integer, mount, 0, 1,
         "1: each page crosses the link as soon as it is there. 0: reads cross when all pages are read, programs begin when all data are there."),
    KEY("host_link.controller_request_ns", integer, mount, 0, ns_per_second,
        "Controller CPU for each request, in ns, one after the other. Larger: fewer requests per second.", host_link.controller_request),
    KEY("host_link.firmware_latency_ns", integer, mount, 0, ns_per_second,
        "Latency that the firmware adds to each request, in ns. It overlaps with other requests, so it limits no rate.", host_link.firmware_latency),
    SAME(host_link.slots, integer, mount, 0, 65536,
         "Commands of several queues that the drive works on at once. More: higher throughput and latency. 0: all. A mount has one queue."),
    SAME(host_link.arbiter, text, mount, 0, 0, arbiter_help),

    KEY("dram.size", size, mount, 0, std::uint64_t{1} << 40,
        "DRAM of the drive in bytes, for write buffer and maps together; a page_map's table is beside it. 0: each has the size of its own key.",
        dram.size_bytes),
    ConfigKey{"dram.partition", text, mount, 0, 0, "curve ghost static none",
              "Who divides dram.size: curve or ghost (they follow the load), static (dram.map_share_permille) or none (each side's own key).",
              FIELD(ssd.dram.partition)},
    SAME(dram.map_share_permille, integer, mount, 0, 1000,
         "Share of the maps in dram.size, in thousandths; the write buffer has the rest. curve and ghost begin with it, static keeps it."),
    SAME(dram.tune_interval, integer, mount, 0, max_u32,
         "Requests between two decisions of curve or ghost. Larger: adapts later. 0: 1000, or 10000 for ghost with fast."),
    SAME(dram.tune_units, integer, mount, 1, 1u << 20,
         "With dram.partition = ghost: units moved at a decision, times the ratio of the benefits. Larger: adapts faster, may overshoot."),
    SAME(dram.ghost_floor_permille, integer, mount, 0, 1'000'000,
         "With dram.partition = ghost: hits assumed of a side that had none, in thousandths. Larger: it is given up in smaller steps."),
    SAME(dram.ghost_bitmap_bytes, size, mount, 8, 1u << 30,
         "With dram.partition = ghost: bitmap of evicted entries, a power of two in bytes, off dram.size. Larger: fewer false hits."),
    SAME(dram.ghost_reach_permille, integer, mount, 0, 1000,
         "With dram.partition = ghost: memory that a ghost stands for, in thousandths of dram.size. Larger: it looks further. 0: 30 (fast: 1000)."),
    SAME(dram.write_buffer_bytes, size, mount, 0, std::uint64_t{1} << 40,
         "Write buffer in DRAM, in bytes: writes are answered from it and programmed later. Larger: more overwrites never reach flash. 0: none."),
    SAME(dram.destage_lines, integer, mount, 0, 65536,
         "With dram.destage = ahead: lines (what one die programs together) under way at once. More: busier dies, reads wait longer. 0: one a die."),
    SAME(dram.destage_from_permille, integer, mount, 0, 1000,
         "With dram.destage = ahead: share of the write buffer kept for overwrites, in thousandths. Larger: fewer pages reach flash, less room."),
    SAME(dram.throttle_from_permille, integer, mount, 0, 1000,
         "With dram.throttle_ns: the share of the write buffer, in thousandths, from which on new pages wait. 1000: none waits before it is full."),
    KEY("dram.throttle_ns", integer, mount, 0, 1'000'000'000,
        "With dram.destage = ahead: how long a new page waits when the write buffer is full, in ns; the less the emptier. Smooths the speed. 0: not.",
        dram.throttle),
    ConfigKey{"dram.destage", text, mount, 0, 0, "full ahead",
              "When the write buffer is programmed: full (once it has no room) or ahead (line by line, in the background, before that).",
              FIELD(ssd.dram.destage)},
    KEY("dram.read_ahead", size, mount, 0, std::uint64_t{1} << 30,
        "Bytes that the drive reads ahead of a host that reads in order, for each of up to 8 such runs, in DRAM of their own. 0: none.",
        dram.read_ahead_bytes),
    KEY("dram.protected", integer, mount, 0, 1,
        "1: capacitors program the write buffer when the power fails. 0: a power cut loses what was not flushed.", dram.is_protected),

    ConfigKey{"fs.metadata", text, mkfs, 0, 0, "pram journal none",
              "Where the file system keeps names, attributes and extents: on PRAM, or in a journal on the drive. none: no file system, a raw drive.",
              FIELD(metadata)},

    ConfigKey{"layout.ftl_at", size, written_by_mkfs, 0, max_u64 / 2, "", "Where the translation layer's part of the PRAM begins, in bytes.",
              FIELD(layout.ftl_at)},
    ConfigKey{"layout.ftl_bytes", size, written_by_mkfs, 0, max_u64 / 2, "", "Size of the translation layer's part, in bytes: redo log and tables.",
              FIELD(layout.ftl_bytes)},
    ConfigKey{"layout.fs_at", size, written_by_mkfs, 0, max_u64 / 2, "", "Where the file system's part of the PRAM begins, in bytes.",
              FIELD(layout.fs_at)},
    ConfigKey{"layout.fs_bytes", size, written_by_mkfs, 0, max_u64 / 2, "",
              "Size of the file system's part, in bytes: superblock, redo log, bitmap, nodes.", FIELD(layout.fs_bytes)},
    ConfigKey{"layout.checksum", text, written_by_mkfs, 0, 0, "",
              "Checksum of the keys that describe the images. The device is refused if one of them was changed after mkfs.", FIELD(checksum)},
};
#undef SAME
#undef KEY
#undef FIELD

/// The flash comes before PRAM and all that stands on them.
std::vector<ConfigKey> keys_of_all_drives() {
    std::vector<ConfigKey> keys{common_keys.begin(), common_keys.end()};
    const auto flash = nand_keys();
    keys.insert(std::ranges::find(keys, "pram.bytes", &ConfigKey::name), flash.begin(), flash.end());
    return keys;
}

ConfigKey key_of(const Option& option) {
    ConfigKey key{option.key, option.is_size ? size : integer, option.phase == OptionPhase::mkfs ? mkfs : mount, option.min, option.max, {},
                  option.help};
    key.get = [&option](const DeviceConfig& c) { return as_text(c.ssd.ftl.options.number(option)); };
    key.set = [&option](DeviceConfig& c, std::uint64_t n, std::string_view) { c.ssd.ftl.options.put(option, n); };
    return key;
}

/// Behind the key that it names; else behind the last one of its section; a section of its own stands before that of the host's link.
void add_option(std::vector<ConfigKey>& keys, const Option& option) {
    const auto before = std::ranges::find_if(keys, [](const ConfigKey& key) { return key.name.starts_with("host_link."); });
    auto at = std::find_if(keys.rbegin(), keys.rend(), [&](const ConfigKey& key) {
                  return option.behind.empty() ? key.name.starts_with(option.key.substr(0, option.key.find('.') + 1)) : key.name == option.behind;
              }).base();
    keys.insert(at == keys.begin() ? before : at, key_of(option));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
        }
    }
    return row.back();
}

std::string listed(std::string_view blank_separated) {
    std::string out;
    for (const char c : blank_separated) {
        if (c == ' ')
            out += ", ";
        else
            out += c;
    }
    return out;
}

std::string_view when_of(const ConfigKey& key) {
    return key.phase == ConfigPhase::mkfs ? "mkfs" : key.phase == ConfigPhase::mount ? "mkfs, mount" : "by mkfs";
}

/// As the tables of keys say it: device.toml knows its scheme, a table does not.
std::string meaning_of(const ConfigKey& key) {
    const auto owners = schemes_of_key(key.name);
    if (const std::string policy = policies_of_key(key.name); !policy.empty()) return fmt::format("{} Only with {}.", key.help, policy);
    return owners.empty() ? std::string{key.help} : fmt::format("{} Only with {}.", key.help, fmt::join(owners, ", "));
}
std::string allowed_of(const ConfigKey& key) {
    return key.name == "ftl.scheme" ? fmt::format("{}", fmt::join(all_schemes(), ", ")) : key.range_text();
}

bool is_choice(std::string_view choices, std::string_view value) {
    return !value.empty() && fmt::format(" {} ", choices).find(fmt::format(" {} ", value)) != std::string::npos;
}

std::expected<std::uint64_t, std::string> parse_number(const ConfigKey& key, std::string_view value) {
    if (key.type == ConfigType::size) return parse_size(value);
    std::string digits;
    std::ranges::copy_if(value, std::back_inserter(digits), [](char c) { return c != '_'; });
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size())
        return std::unexpected(fmt::format("'{}' is not a whole number from 0 on", value));
    return number;
}

} // namespace

std::string ConfigKey::range_text() const {
    if (type == ConfigType::text) return choices.empty() ? "a name" : listed(choices);
    if (type == ConfigType::size) return fmt::format("{} to {}", format_size(min), max >= max_u64 / 2 ? "any" : format_size(max));
    return fmt::format("{} to {}", min, max);
}

std::span<const ConfigKey> config_keys() {
    static std::vector<ConfigKey> keys = keys_of_all_drives();
    static std::size_t schemes_known = 0, declared = 0;
    if (const std::size_t now = every_scheme().size(); now != schemes_known) { // at first, and where a scheme was admitted since
        schemes_known = now;
        const std::vector<const Option*> options = declared_options();
        for (; declared < options.size(); ++declared) add_option(keys, *options[declared]);
    }
    return keys;
}

const ConfigKey* find_config_key(std::string_view name) {
    if (name == "dram.bytes") // as it was called before it could be partitioned
        name = "dram.size";
    const auto found = std::ranges::find(config_keys(), name, &ConfigKey::name);
    return found == config_keys().end() ? nullptr : &*found;
}

std::string nearest_name(std::string_view wanted, const std::vector<std::string>& candidates) {
    std::string best;
    std::size_t best_distance = wanted.size() < 4 ? 1 : std::max<std::size_t>(2, wanted.size() / 2);
    for (const auto& candidate : candidates) {
        const std::size_t distance = edit_distance(wanted, candidate);
        if (distance < best_distance || (best.empty() && distance == best_distance)) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

std::string unknown_key_text(std::string_view name) {
    std::vector<std::string> names;
    for (const auto& key : config_keys()) {
        names.emplace_back(key.name);
        const auto dot = key.name.find('.');
        // A key written without its section is the commonest slip.
        if (dot != std::string_view::npos && key.name.substr(dot + 1) == name)
            return fmt::format("unknown key '{}'; did you mean '{}'?", name, key.name);
    }
    const std::string near = nearest_name(name, names);
    if (near.empty()) return fmt::format("unknown key '{}'; 'flashlab info --keys' lists the known ones", name);
    return fmt::format("unknown key '{}'; did you mean '{}'?", name, near);
}

std::expected<void, std::string> set_key(DeviceConfig& config, std::string_view name, std::string_view value) {
    const ConfigKey* key = find_config_key(name);
    if (key == nullptr) return std::unexpected(unknown_key_text(name));
    if (key->type == ConfigType::text) {
        if (name == "dram.partition" && value == "adaptive") value = "curve"; // as earlier versions called the one that is not static
        if ((value.empty() && key->phase != ConfigPhase::written_by_mkfs) || (!key->choices.empty() && !is_choice(key->choices, value)))
            return std::unexpected(fmt::format("{} = '{}': allowed: {}", name, value, key->range_text()));
        key->set(config, 0, value);
        return {};
    }
    const auto number = parse_number(*key, value);
    if (!number) return std::unexpected(fmt::format("{}: {}", name, number.error()));
    if (*number < key->min || *number > key->max) return std::unexpected(fmt::format("{} = {}: allowed: {}", name, value, key->range_text()));
    key->set(config, *number, {});
    return {};
}

std::string to_toml(const DeviceConfig& config) {
    std::string out = "# A FlashLab device, written by flashlab mkfs. Keys of geometry and layout describe the images and must stay as they are;\n"
                      "# times and speeds may be changed while the device is not mounted.\n";
    std::string_view section;
    for (const auto& key : config_keys()) {
        const auto dot = key.name.find('.');
        const std::string_view own = dot == std::string_view::npos ? std::string_view{} : key.name.substr(0, dot);
        if (own != section) out += fmt::format("\n[{}]\n", own);
        section = own;
        const std::string value = key.get(config);
        const char* quote = key.type == ConfigType::text ? "\"" : "";
        out += fmt::format("# {} ({})\n{} = {}{}{}\n", key.help, key.range_text(),
                           dot == std::string_view::npos ? key.name : key.name.substr(dot + 1), quote, value, quote);
    }
    return out;
}

Json to_json(const DeviceConfig& config) {
    Json out{Json::Object{}};
    for (const auto& key : config_keys()) {
        const std::string value = key.get(config);
        if (key.type == ConfigType::text) {
            out.add(std::string{key.name}, value);
        } else {
            std::uint64_t number = 0;
            std::from_chars(value.data(), value.data() + value.size(), number);
            out.add(std::string{key.name}, number);
        }
    }
    return out;
}

Table describe_config_keys() {
    const DeviceConfig defaults;
    Table table{{"key", "default", "allowed", "when", "meaning"}};
    for (const auto& key : config_keys())
        table.add({std::string{key.name}, key.get(defaults), allowed_of(key), std::string{when_of(key)}, meaning_of(key)});
    return table;
}

Json config_keys_as_json() {
    const DeviceConfig defaults;
    Json all{Json::Array{}};
    for (const auto& key : config_keys())
        all.push(Json::object(
            {{"key", key.name}, {"default", key.get(defaults)}, {"allowed", allowed_of(key)}, {"when", when_of(key)}, {"meaning", meaning_of(key)}}));
    Json out = Json::object({{"keys", std::move(all)}});
    if (Json counters = counters_of_schemes(); !counters.is_null()) out.add("counters", std::move(counters));
    return out;
}

namespace {

/// Of names and values, not of what to_toml() says about them.
template <class Counts>
std::string checksum_of(const DeviceConfig& config, const Counts& counts) {
    std::string text;
    for (const auto& key : config_keys())
        if (counts(key)) text += fmt::format("{}={}\n", key.name, key.get(config));
    return fmt::format("{:08x}", crc32c(std::as_bytes(std::span{text})));
}

} // namespace

std::string config_hash(const DeviceConfig& config) {
    return checksum_of(config, [](const ConfigKey&) { return true; });
}

std::string checksum_of_images_keys(const DeviceConfig& config, const std::function<bool(std::string_view)>& is_there) {
    return checksum_of(config,
                       [&](const ConfigKey& key) { return key.phase != ConfigPhase::mount && key.name != "layout.checksum" && is_there(key.name); });
}

} // namespace flashlab

#include "tools/imports/imported.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace flashlab {

namespace {

using Kind = ImportNote::Kind;

struct FemuOption {
    std::string value;
    std::size_t at = 0; ///< in the file
};

std::string place_in(const std::string& path, std::string_view text, std::size_t at) {
    const std::string_view before = text.substr(0, at);
    const auto line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
    const auto begin = before.rfind('\n');
    return fmt::format("{}:{}:{}", path, line, at - (begin == before.npos ? 0 : begin + 1) + 1);
}

constexpr std::string_view femu_device = "femu,";

/// Where a device of FEMU begins, at or after `from`: behind -device, and not in a comment of a script.
std::size_t device_in(std::string_view text, std::size_t from) {
    for (std::size_t at = text.find(femu_device, from); at != text.npos; at = text.find(femu_device, at + 1)) {
        const std::size_t line = text.substr(0, at).rfind('\n') + 1; // npos + 1 is 0
        const std::string_view before = text.substr(line, at - line);
        const std::size_t option = text.substr(0, at).find_last_not_of(" \t\r\n\\'\"=,") + 1; // npos + 1 is 0
        if (!text.substr(0, option).ends_with("-device")) continue;
        const std::size_t hash = before.find('#');
        if (hash == before.npos || (hash > 0 && before[hash - 1] != ' ' && before[hash - 1] != '\t')) return at;
    }
    return text.npos;
}

/// An option that makes a key as it is.
struct FemuKey {
    std::string key;
    double otherwise; ///< FEMU's, where the option is not given
};
const std::map<std::string, FemuKey, std::less<>> femu_keys{{"pgs_per_blk", {"nand.pages_per_block", 256}},
                                                            {"blks_per_pl", {"nand.blocks_per_plane", 256}},
                                                            {"pls_per_lun", {"nand.planes_per_die", 1}},
                                                            {"luns_per_ch", {"nand.chips_per_channel", 8}},
                                                            {"nchs", {"nand.channels", 8}},
                                                            {"pg_rd_lat", {"nand.page_read_ns", 40'000}},
                                                            {"pg_wr_lat", {"nand.page_program_ns", 200'000}},
                                                            {"blk_er_lat", {"nand.block_erase_ns", 2'000'000}}};
const std::map<std::string, std::string, std::less<>> femu_left_out{{"gc_thres_pcent", "collections keep pace with writes"},
                                                                    {"gc_thres_pcent_high", "collections keep pace with writes"},
                                                                    {"namespaces", "a drive has one"},
                                                                    {"queues", "bench --queue"},
                                                                    {"id", "a name of QEMU's"},
                                                                    {"serial", "a name of QEMU's"}};

/// What the size of the device leaves of the flash.
void take_spare(double size_mib, double raw_mib, std::string_view origin, Imported& out) {
    const std::string share = fmt::format("{} of {} MiB{}", size_mib, raw_mib, origin);
    constexpr long long most = 899;
    const long long spare = size_mib > 0 && size_mib < raw_mib ? std::llround(1000 * (1 - size_mib / raw_mib)) : 0;
    if (spare == 0) return out.note(Kind::nearly, "devsz_mb", share, "leaves no spare of the flash: ftl.reserved_permille stays as it is");
    out.take("devsz_mb", share, "ftl.reserved_permille", fmt::format("{}", std::min(most, spare)));
    if (spare > most) out.note(Kind::nearly, "devsz_mb", fmt::format("{} permille are spare", spare), fmt::format("{} are the most", most));
}

} // namespace

std::expected<Imported, std::string> import_femu(const std::string& path) {
    const auto text = text_to_import(path);
    if (!text) return std::unexpected(text.error());
    const auto device = device_in(*text, 0);
    if (device == std::string::npos)
        return std::unexpected(fmt::format(
            "{}:1:1: has no `-device femu,KEY=VALUE,...`: a script that puts its options together is imported as the line that it prints", path));
    std::map<std::string, FemuOption, std::less<>> options;
    const std::size_t begin = device + femu_device.size(), end = std::min(text->size(), text->find_first_of(" \t\r\n\"'\\", begin));
    for (std::size_t at = begin; at < end;) {
        const std::size_t stop = std::min(end, text->find(',', at));
        const std::string option = text->substr(at, stop - at);
        const auto equals = option.find('=');
        if (equals == std::string::npos) return std::unexpected(fmt::format("{}: {}: KEY=VALUE is wanted", place_in(path, *text, at), option));
        options[option.substr(0, equals)] = {option.substr(equals + 1), at + equals + 1};
        at = stop + 1;
    }
    Imported out;
    std::string error;
    const auto number = [&](std::string_view name, double otherwise) {
        const auto found = options.find(name);
        if (found == options.end()) return otherwise;
        const std::string& value = found->second.value;
        double read = 0;
        const auto done = std::from_chars(value.data(), value.data() + value.size(), read);
        if (done.ec == std::errc{} && done.ptr == value.data() + value.size() && read >= 0 && read < 1e15) return read;
        if (error.empty()) error = fmt::format("{}: {}={}: a number is wanted", place_in(path, *text, found->second.at), name, value);
        return otherwise;
    };
    const auto of_key = [&](std::string_view name) { return number(name, femu_keys.find(name)->second.otherwise); };
    for (const auto& [name, made] : femu_keys) {
        const auto given = options.find(name);
        out.take(name, given == options.end() ? "not given: FEMU's own" : given->second.value, made.key,
                 fmt::format("{}", std::llround(of_key(name))));
    }
    const double page = number("secsz", 512) * number("secs_per_pg", 8);
    out.take("secsz x secs_per_pg", fmt::format("{} B", page), "nand.page_bytes", fmt::format("{}", std::llround(page)));
    const double bus = number("ch_xfer_lat", 0);
    out.take("ch_xfer_lat", fmt::format("{}", bus), "nand.bus_ps_per_byte", fmt::format("{}", page > 0 ? std::llround(bus * 1000 / page) : 0));
    if (bus > 0) out.note(Kind::nearly, "ch_xfer_lat", fmt::format("{}", bus), "charged for each transfer; FEMU's black box has that switched off");
    out.keys.insert(out.keys.end(),
                    {{"nand.command_ns", "0"}, {"nand.factory_bad_per_million", "0"}, {"nand.cell", "slc"}, {"ftl.scheme", "page_map"}});
    out.note(Kind::nearly, "the flash", "", "one time for all pages: cells of one bit");
    out.note(Kind::nearly, "the map", "", "page_map, whole in DRAM, as FEMU's black box has it");
    const double raw = page * of_key("pgs_per_blk") * of_key("blks_per_pl") * of_key("pls_per_lun") * of_key("luns_per_ch") * of_key("nchs");
    take_spare(number("devsz_mb", 1024), raw / (1024 * 1024), options.contains("devsz_mb") ? "" : ", not given: FEMU's own", out);
    if (const auto mode = options.find("femu_mode"); mode != options.end() && mode->second.value != "1")
        out.note(Kind::nearly, "femu_mode", mode->second.value, "read as 1, the black box");
    if (!error.empty()) return std::unexpected(error);
    if (const auto further = device_in(*text, end); further != std::string::npos)
        out.note(Kind::left_out, "a further device", place_in(path, *text, further), "a drive is one device, the first");
    for (const auto& [name, option] : options) {
        if (femu_keys.contains(name) || name == "secsz" || name == "secs_per_pg" || name == "ch_xfer_lat" || name == "devsz_mb" ||
            name == "femu_mode")
            continue;
        const auto known = femu_left_out.find(name);
        out.note(Kind::left_out, name, option.value, known == femu_left_out.end() ? "not known" : known->second);
    }
    return out;
}

} // namespace flashlab

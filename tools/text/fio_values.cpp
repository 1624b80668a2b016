#include "tools/text/fio_values.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "tools/text/sizes.h"

namespace flashlab {

namespace {

std::string in_small_letters(std::string_view text) {
    std::string out{text};
    std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

} // namespace

std::expected<std::uint64_t, std::string> fio_size(std::string_view text, std::uint64_t kb_base) {
    const auto wrong = std::unexpected(fmt::format("'{}' is not a size: write a number, alone or with k, m, g, t or p", text));
    const std::string small = in_small_letters(text);
    const bool is_hexadecimal = small.starts_with("0x");
    const char* const end = small.data() + small.size();
    std::uint64_t whole = 0;
    auto read = std::from_chars(small.data() + (is_hexadecimal ? 2 : 0), end, whole, is_hexadecimal ? 16 : 10);
    if (read.ec != std::errc{}) return wrong;
    double part = 0; // apart, so that a whole number stays exact
    if (!is_hexadecimal && read.ptr != end && *read.ptr == '.') read = std::from_chars(read.ptr, end, part, std::chars_format::fixed);
    std::string_view unit{read.ptr, static_cast<std::size_t>(end - read.ptr)};
    if (unit.ends_with("ib")) kb_base = kb_base == 1000 ? 1024 : 1000;
    for (const char last : {'b', 'i'})
        if (unit.ends_with(last)) unit.remove_suffix(1);
    const std::size_t power = unit.empty() ? 0 : std::string_view{"kmgtp"}.find(unit) + 1; // npos + 1 is 0
    if (unit.size() > 1 || (power == 0 && !unit.empty())) return wrong;
    std::uint64_t factor = 1;
    for (std::size_t i = 0; i < power; ++i) factor *= kb_base;
    if (whole > std::numeric_limits<std::uint64_t>::max() / factor) return wrong; // too large
    return whole * factor + static_cast<std::uint64_t>(std::llround(part * static_cast<double>(factor)));
}

std::expected<std::string, std::string> fio_time(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> units{{{"usec", "us"}, {"msec", "ms"}, {"sec", "s"}, {"min", "m"}}};
    std::string out = in_small_letters(text);
    for (const auto& [fios, ours] : units)
        if (out.ends_with(fios)) out.replace(out.size() - fios.size(), fios.size(), ours);
    double days = 0;
    if (out.ends_with('d') && std::from_chars(out.data(), out.data() + out.size(), days).ptr == out.data() + out.size() - 1)
        out = fmt::format("{}h", days * 24);
    if (const auto ns = parse_seconds(out); !ns)
        return std::unexpected(fmt::format("'{}' is not a time: write seconds, or a number with us, ms, m, h or d", text));
    return out;
}

FioDirections fio_directions(std::string_view list) {
    const auto comma = list.find(',');
    if (comma == list.npos) return {list, list};
    const std::string_view rest = list.substr(comma + 1);
    return {list.substr(0, comma), rest.substr(0, rest.find(','))};
}

std::optional<std::vector<FioShare>> fio_shares(std::string_view list) {
    std::vector<FioShare> out;
    double sum = 0, blanks = 0;
    constexpr double blank = -1;
    for (bool is_last = list.empty(); !is_last;) {
        const std::string_view one = list.substr(0, list.find(':'));
        is_last = one.size() == list.size();
        list.remove_prefix(std::min(list.size(), one.size() + 1));
        const auto slash = std::min(one.find('/'), one.size());
        const std::string_view digits = one.substr(std::min(one.size(), slash + 1));
        double percent = blank;
        if (!digits.empty()) {
            const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), percent, std::chars_format::fixed);
            if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || !(percent > 0)) return std::nullopt;
        }
        out.push_back({one.substr(0, slash), percent});
        (percent == blank ? blanks : sum) += percent == blank ? 1 : percent;
    }
    if (out.empty() || sum > 100) return std::nullopt;
    for (FioShare& share : out)
        if (share.percent == blank) share.percent = (100 - sum) / blanks;
    return out;
}

bool is_fio_synchronous(std::string_view engine) {
    constexpr std::array<std::string_view, 12> others{"pvsync2",  "mmap", "splice",  "falloc",  "ftruncate", "filecreate",
                                                      "e4defrag", "mtd",  "pmemblk", "dev-dax", "libpmem",   "gfapi"};
    return (engine.ends_with("sync") && !engine.ends_with("async")) || std::ranges::find(others, engine) != others.end();
}

} // namespace flashlab

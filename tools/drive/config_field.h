/// What a configuration key's text and the field behind it make of each other: for each type of field.
///
/// Idea       FIELD(path) is the pair of functions that a ConfigKey holds for the field of that path in DeviceConfig.
/// Invariant  assign(as_text(v)) == v. The schema has checked range and words before assign() sees them.
/// Cost       At start only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tools/drive/device_config.h"

namespace flashlab {

inline constexpr std::array<std::string_view, 4> cell_names{"slc", "mlc", "tlc", "qlc"};

inline std::string as_text(std::uint32_t v) { return fmt::format("{}", v); }
inline std::string as_text(std::uint64_t v) { return fmt::format("{}", v); }
inline std::string as_text(bool v) { return v ? "1" : "0"; }
inline std::string as_text(Duration v) { return fmt::format("{}", v.count()); }
inline std::string as_text(const std::string& v) { return v; }
inline std::string as_text(CellType v) { return std::string{cell_names.at(static_cast<std::size_t>(v))}; }

inline std::string as_text(CellErrors v) { return std::string{cell_errors_names.at(static_cast<std::size_t>(v))}; }

inline void assign(CellErrors& to, std::uint64_t, std::string_view text) {
    to = static_cast<CellErrors>(std::ranges::find(cell_errors_names, text) - cell_errors_names.begin());
}
inline void assign(std::uint32_t& to, std::uint64_t n, std::string_view) { to = static_cast<std::uint32_t>(n); }
inline void assign(std::uint64_t& to, std::uint64_t n, std::string_view) { to = n; }
inline void assign(bool& to, std::uint64_t n, std::string_view) { to = n != 0; }
inline void assign(Duration& to, std::uint64_t n, std::string_view) { to = Duration{static_cast<std::int64_t>(n)}; }
inline void assign(std::string& to, std::uint64_t, std::string_view text) { to = text; }
inline void assign(CellType& to, std::uint64_t, std::string_view text) {
    to = static_cast<CellType>(std::ranges::find(cell_names, text) - cell_names.begin());
}

#define FIELD(path)                                                                                                                                  \
    [](const DeviceConfig& c) { return as_text(c.path); }, [](DeviceConfig& c, std::uint64_t n, std::string_view t) { assign(c.path, n, t); }

} // namespace flashlab

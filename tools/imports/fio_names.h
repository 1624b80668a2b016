/// The settings of fio's job files by name: which mean the same, and why some have no counterpart.
///
/// Cost       A look-up in a table.
/// Source     fio's HOWTO.
#pragma once

#include <string>
#include <string_view>

namespace flashlab {

/// Of names that mean the same, and of two forms of one setting, the name under which it is kept here.
[[nodiscard]] std::string_view fio_name(std::string_view setting);
/// Why a setting has no counterpart.
[[nodiscard]] std::string why_fio_left_out(std::string_view name);

} // namespace flashlab

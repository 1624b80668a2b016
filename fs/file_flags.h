/// The file flags of chattr(1) that mean something here; values as FS_IOC_GETFLAGS gives them.
#pragma once

#include <cstdint>

namespace flashlab {

inline constexpr std::uint32_t file_flag_sync = 0x8;
inline constexpr std::uint32_t file_flag_immutable = 0x10;
inline constexpr std::uint32_t file_flag_append = 0x20;
inline constexpr std::uint32_t file_flag_nodump = 0x40;
inline constexpr std::uint32_t file_flag_noatime = 0x80;
/// Either keeps names from being changed.
inline constexpr std::uint32_t locking_file_flags = file_flag_immutable | file_flag_append;
inline constexpr std::uint32_t file_flags_supported = file_flag_sync | file_flag_immutable | file_flag_append | file_flag_nodump | file_flag_noatime;

} // namespace flashlab

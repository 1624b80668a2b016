/// POSIX ACLs as bytes, for checks that set them as extended attributes.
///
/// Idea       The kernel's form: a version and entries of tag, rights and id, all little-endian.
/// Invariant  Entries stand in the order given; the kernel wants them sorted by tag.
/// Cost       A string.
/// Power cut  -
#pragma once

#include <array>
#include <initializer_list>
#include <string>

namespace live {

inline std::string acl_of(std::initializer_list<std::array<unsigned, 3>> entries) {
    std::string bytes{"\x02\0\0\0", 4};
    for (const auto& [tag, rights, id] : entries) {
        for (const unsigned half : {tag, rights}) bytes += {static_cast<char>(half & 0xff), static_cast<char>(half >> 8)};
        for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(id >> shift & 0xff);
    }
    return bytes;
}

} // namespace live

/// POSIX access control lists in their xattr form (version 2): inheritance, and agreement with the mode. The kernel enforces the lists.
///
/// Idea       An ACL is a list of (tag, permissions, id); owner, group-or-mask and other mirror the nine mode bits.
/// Invariant  A1 the mode bits of an inode with an ACL are those of its owner, mask (or owning group) and other entries.
/// Cost       Linear in the entries.
/// Source     POSIX.1e draft 17, 23.1; acl(5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace flashlab {

inline constexpr std::string_view acl_access_name = "system.posix_acl_access";
inline constexpr std::string_view acl_default_name = "system.posix_acl_default";

class PosixAcl {
public:
    enum Tag : std::uint16_t { user_obj = 1, user = 2, group_obj = 4, group = 8, mask = 16, other = 32 };
    struct Entry {
        std::uint16_t tag = 0;
        std::uint16_t permissions = 0;
        std::uint32_t id = 0;
    };

    /// nullopt for a malformed or unsorted list, a wrong version, or missing obligatory entries.
    [[nodiscard]] static std::optional<PosixAcl> decode(std::span<const std::byte> xattr);
    [[nodiscard]] std::vector<std::byte> encode() const;

    /// True: the list says no more than the nine mode bits do.
    [[nodiscard]] bool is_minimal() const { return entries_.size() == 3; }
    /// The nine mode bits that the list stands for.
    [[nodiscard]] std::uint32_t mode() const;
    /// Sets the entries that mirror the mode, after a chmod.
    void set_mode(std::uint32_t mode);
    /// Makes a new object's ACL from its directory's default ACL: permissions not in `mode` are taken away. Returns the object's nine mode bits.
    std::uint32_t restrict_to(std::uint32_t mode);

private:
    [[nodiscard]] Entry* find(std::uint16_t tag);
    [[nodiscard]] const Entry* find(std::uint16_t tag) const;
    std::vector<Entry> entries_;
};

} // namespace flashlab

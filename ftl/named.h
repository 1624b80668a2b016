/// Lists whose entries are chosen by name: victim policies, separation policies, arbiters.
///
/// Idea       Such a list is a span of entries with a `name`, in the order of the documentation.
/// Cost       A compare an entry.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace flashlab {

/// Null where there is none of that name.
template <class Entry>
[[nodiscard]] const Entry* find_named(std::span<const Entry> all, std::string_view name) {
    const auto found = std::ranges::find(all, name, &Entry::name);
    return found == all.end() ? nullptr : &*found;
}

template <class Entry>
[[nodiscard]] std::vector<std::string_view> names_of(std::span<const Entry> all) {
    std::vector<std::string_view> names;
    for (const Entry& entry : all) names.push_back(entry.name);
    return names;
}

} // namespace flashlab

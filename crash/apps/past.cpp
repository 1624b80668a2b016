#include "crash/apps/past.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "crash/apps/history_base.h"
#include "crash/apps/state_order.h"
#include "crash/apps/told_name.h"

namespace flashlab {

namespace {

PageRuns::interval_type run_of(std::uint32_t from, std::uint32_t behind) { return {from, behind}; }

std::uint32_t first_whole_page(std::uint64_t byte) { return static_cast<std::uint32_t>((byte + page_bytes - 1) / page_bytes); }

} // namespace

Past::Past(std::vector<Operation> history) : lines_{closes_first(std::move(history))}, facts_(lines_.size()) {
    nodes_[root_number].is_directory = true;
    nodes_[nameless_folder] = {.is_directory = true, .parent = root_number, .name = nameless_folder_name, .entries = {}};
    for (std::uint32_t i = 0; i < size(); ++i) follow(i);
}

const FilePast* Past::file(std::uint64_t ino) const {
    const auto found = files_.find(ino);
    return found == files_.end() ? nullptr : &found->second;
}

std::string Past::path_of(std::uint64_t directory, const std::string& name) const {
    std::string path = name;
    for (int depth = 0; directory != root_number && depth < 256; ++depth) {
        const auto node = nodes_.find(directory);
        if (node == nodes_.end()) break;
        path = path.empty() ? node->second.name : node->second.name + "/" + path;
        directory = node->second.parent;
    }
    return path.empty() ? "." : path;
}

std::uint64_t Past::find(std::uint64_t directory, const std::string& name) const {
    const auto node = nodes_.find(directory);
    if (node == nodes_.end()) return 0;
    const auto entry = node->second.entries.find(name);
    return entry == node->second.entries.end() ? 0 : entry->second;
}

void Past::put(std::uint64_t directory, const std::string& name, std::uint64_t ino) {
    nodes_[directory].entries[name] = ino;
    Node& node = nodes_[ino];
    node.parent = directory;
    node.name = name;
}

void Past::remove(std::uint64_t directory, const std::string& name) { nodes_[directory].entries.erase(name); }

void Past::follow_name(std::uint32_t i) {
    const Operation& line = lines_[i];
    LineFacts& facts = facts_[i];
    name_lines_.push_back(i);
    facts.path = path_of(line.parent, line.name);
    facts.ino = line.ino != 0 ? line.ino : find(line.parent, line.name);
    if (line.act == Act::make) nodes_[line.ino].is_directory = S_ISDIR(line.mode);
    if (line.act == Act::make || line.act == Act::link) put(line.parent, line.name, line.ino);
    if (line.act == Act::unlink || line.act == Act::rmdir) remove(line.parent, line.name);
    if (line.act == Act::rename || line.act == Act::exchange) {
        facts.to_path = path_of(line.to_parent, line.to_name);
        facts.replaced = find(line.to_parent, line.to_name);
        if (line.act == Act::rename) renames_[facts.ino].push_back(i);
        const auto file = files_.find(facts.ino);
        if (line.act == Act::rename && facts.replaced != 0 && facts.replaced != facts.ino && file != files_.end()) file->second.flushes.push_back(i);
        if (facts.replaced != facts.ino) { // two names of one file stay as they are
            remove(line.parent, line.name);
            put(line.to_parent, line.to_name, facts.ino);
            if (line.act == Act::exchange) put(line.parent, line.name, facts.replaced);
        }
    }
    facts.is_directory = nodes_[facts.ino].is_directory;
}

void Past::follow_data(std::uint32_t i) {
    const Operation& line = lines_[i];
    LineFacts& facts = facts_[i];
    Node& node = nodes_[line.ino];
    FilePast& file = files_[line.ino];
    file.lines.push_back(i);
    facts.size_before = node.size;
    std::uint64_t from = 0, to = 0; // bytes whose pages get a version
    if (line.act == Act::write) {
        from = line.offset;
        to = line.offset + line.data.size();
        node.size = std::max(node.size, to);
        for (auto page = static_cast<std::uint32_t>(from / page_bytes); page * std::uint64_t{page_bytes} < to; ++page)
            file.pages[page].lines.push_back(i);
    } else if (line.act == Act::truncate || line.act == Act::zero) {
        from = line.act == Act::zero ? line.offset : line.bytes;
        to = line.act == Act::zero ? line.offset + line.bytes : ~std::uint64_t{0};
        if (line.act == Act::truncate) {
            node.was_emptied = node.was_emptied || (line.bytes == 0 && node.size != 0);
            node.size = line.bytes;
        }
        for (auto page = file.pages.lower_bound(static_cast<std::uint32_t>(from / page_bytes)); page != file.pages.end(); ++page)
            if (page->first * std::uint64_t{page_bytes} < to) page->second.lines.push_back(i);
    } else if (line.act == Act::extend) {
        if (!keeps_size(line)) node.size = std::max(node.size, line.bytes);
    }
    facts.size_after = node.size;
    follow_blocks(i);
}

/// Which pages have a block. A call that allocates says so (`extend`); a truncation and a hole that is punched free whole blocks.
void Past::follow_blocks(std::uint32_t i) {
    const Operation& line = lines_[i];
    PageRuns& blocks = nodes_[line.ino].blocks;
    if (line.act == Act::write) {
        const auto [first, behind] = pages_of(i);
        for (std::uint32_t page = first; page < behind; ++page)
            if (!boost::icl::contains(blocks, page)) files_[line.ino].pages[page].fills.push_back(i);
        blocks.add(run_of(first, behind));
    } else if (line.act == Act::truncate) {
        blocks.subtract(run_of(first_whole_page(line.bytes), no_line));
    } else if (line.act == Act::zero) {
        const auto end = static_cast<std::uint32_t>(std::min<std::uint64_t>((line.offset + line.bytes) / page_bytes, no_line));
        blocks.subtract(run_of(first_whole_page(line.offset), end)); // nothing, where no page is whole
    } else if (line.act == Act::extend && line.offset < line.bytes) {
        const auto run = run_of(static_cast<std::uint32_t>(line.offset / page_bytes), first_whole_page(line.bytes));
        PageRuns fresh;
        fresh.add(run);
        fresh -= blocks;
        if (!fresh.empty()) files_[line.ino].reserved.emplace_back(i, std::move(fresh));
        blocks.add(run);
    }
}

void Past::follow(std::uint32_t i) {
    const Operation& line = lines_[i];
    LineFacts& facts = facts_[i];
    if (is_about_names(line.act)) return follow_name(i);
    if (line.act == Act::sync_all && first_cut_ == 0) first_cut_ = i + 1;
    if (line.act == Act::sync_all || line.act == Act::promise) return;
    facts.ino = line.ino;
    const Node& node = nodes_[line.ino];
    facts.is_directory = node.is_directory;
    facts.path = line.ino == root_number ? "." : path_of(node.parent, node.name);
    if (line.act == Act::close) {
        facts.flushes = std::exchange(nodes_[line.ino].was_emptied, false);
        if (facts.flushes) files_[line.ino].flushes.push_back(i);
    } else if (!is_sync(line.act)) {
        follow_data(i);
    }
}

std::pair<std::uint32_t, std::uint32_t> Past::pages_of(std::uint32_t i) const {
    const Operation& line = lines_[i];
    return {static_cast<std::uint32_t>(line.offset / page_bytes),
            static_cast<std::uint32_t>((line.offset + line.data.size() + page_bytes - 1) / page_bytes)};
}

bool Past::zeroes_in_part(std::uint32_t i) const {
    const Operation& line = lines_[i];
    if (line.act == Act::truncate) return line.bytes % page_bytes != 0 && line.bytes < facts_[i].size_before;
    return line.act == Act::zero && (line.offset % page_bytes != 0 || (line.offset + line.bytes) % page_bytes != 0);
}

bool Past::covers(std::uint32_t i, std::uint32_t page) const {
    const Operation& line = lines_[i];
    const std::uint64_t begin = page * std::uint64_t{page_bytes}, end = begin + page_bytes;
    if (line.act == Act::write) return line.offset <= begin && line.offset + line.data.size() >= end;
    if (line.act == Act::zero) return line.offset <= begin && line.offset + line.bytes >= end;
    return line.act == Act::truncate && line.bytes <= begin;
}

void Past::apply(std::uint32_t i, std::uint32_t page, std::span<std::byte, page_bytes> to) const {
    const Operation& line = lines_[i];
    const std::uint64_t begin = page * std::uint64_t{page_bytes}, end = begin + page_bytes;
    const std::uint64_t from = std::max(begin, line.act == Act::truncate ? line.bytes : line.offset);
    const std::uint64_t until = line.act == Act::write  ? std::min(end, line.offset + line.data.size())
                                : line.act == Act::zero ? std::min(end, line.offset + line.bytes)
                                                        : end;
    if (from >= until) return;
    if (line.act == Act::write)
        std::memcpy(to.data() + (from - begin), line.data.data() + (from - line.offset), until - from);
    else
        std::memset(to.data() + (from - begin), 0, until - from);
}

void Past::compose(std::uint64_t ino, std::uint32_t page, std::uint32_t version, std::span<std::byte, page_bytes> to) const {
    std::memset(to.data(), 0, to.size());
    if (version == no_line) return;
    const auto& lines = files_.at(ino).pages.at(page).lines;
    const auto last = std::ranges::upper_bound(lines, version);
    auto first = last;
    while (first != lines.begin()) {
        --first;
        if (covers(*first, page)) break;
    }
    for (; first != last; ++first) apply(*first, page, to);
}

std::uint64_t Past::content_id(std::uint64_t ino, std::uint32_t page, std::uint32_t version) const {
    if (version == no_line) return 1;
    const PagePast& past = files_.at(ino).pages.at(page);
    past.ids.resize(past.lines.size());
    std::uint64_t& id = past.ids[static_cast<std::size_t>(std::ranges::lower_bound(past.lines, version) - past.lines.begin())];
    if (id != 0) return id;
    std::array<std::byte, page_bytes> bytes{};
    compose(ino, page, version, bytes);
    std::uint64_t hash = 0x9e3779b97f4a7c15u;
    bool is_zero = true;
    for (std::size_t at = 0; at < page_bytes; at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, 8);
        is_zero = is_zero && word == 0;
        hash = (hash ^ word) * 0xbf58476d1ce4e5b9u;
        hash ^= hash >> 29;
    }
    id = is_zero ? 1 : hash | 2;
    return id;
}

std::string Past::kind(std::uint32_t i) const {
    std::string of = kind_of_path(facts_[i].path);
    if (const auto found = renames_.find(facts_[i].ino); found != renames_.end())
        if (const auto next = std::ranges::lower_bound(found->second, i); next != found->second.end())
            of = kind_of_path(facts_[*next].to_path) + ", before its rename";
    return fmt::format("{} {}", static_cast<int>(lines_[i].act), of);
}

std::string Past::told(std::uint32_t i) const {
    const Operation& line = lines_[i];
    const LineFacts& facts = facts_[i];
    const std::string path = told_name(facts.path);
    switch (line.act) {
    case Act::make:
        return S_ISDIR(line.mode)   ? fmt::format("mkdir {}", path)
               : S_ISLNK(line.mode) ? fmt::format("symlink {} -> {}", path, told_name(line.data))
                                    : fmt::format("create {}", path);
    case Act::link:
        return fmt::format("link {}", path);
    case Act::unlink:
        return fmt::format("unlink {}", path);
    case Act::rmdir:
        return fmt::format("rmdir {}", path);
    case Act::rename:
        return fmt::format("rename {} -> {}", path, told_name(facts.to_path));
    case Act::exchange:
        return fmt::format("exchange {} and {}", path, told_name(facts.to_path));
    case Act::write:
        return fmt::format("write {} {}+{}{}", path, line.offset, line.data.size(),
                           facts.size_after > facts.size_before ? fmt::format(" (size {} -> {})", facts.size_before, facts.size_after) : "");
    case Act::truncate:
        return fmt::format("truncate {} {} -> {}", path, facts.size_before, line.bytes);
    case Act::zero:
        return fmt::format("zero {} {}+{}", path, line.offset, line.bytes);
    case Act::extend:
        return fmt::format("fallocate {} {}", path, line.bytes);
    case Act::chmod:
        return fmt::format("chmod {} {:o}", path, line.mode & 07777);
    case Act::set_xattr:
        return fmt::format("setxattr {} {}", path, told_name(line.name));
    case Act::drop_xattr:
        return fmt::format("removexattr {} {}", path, told_name(line.name));
    case Act::fsync:
        return fmt::format("fsync {}", path);
    case Act::fdatasync:
        return fmt::format("fdatasync {}", path);
    case Act::sync_all:
        return "everything is synced";
    case Act::close:
        return fmt::format("close {}", path);
    case Act::promise:
        return "promise " + quoted_words(line.data);
    }
    return {};
}

} // namespace flashlab

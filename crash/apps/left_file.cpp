// The content of a file in a state that a power cut left: which write is there, in which pages, and how far the size has come.
#include <algorithm>
#include <array>
#include <cstring>

#include "crash/apps/left_state.h"

namespace flashlab {

namespace {

std::uint64_t mixed(std::uint64_t into, std::uint64_t word) {
    into = (into ^ word) * 0xbf58476d1ce4e5b9u;
    return into ^ (into >> 31);
}

/// Only sectors that differ can be told apart: a tear of equal ones is no tear.
void settle_tear(const Past& past, std::uint64_t ino, LeftPage& page) {
    std::array<std::byte, page_bytes> older{}, newer{};
    past.compose(ino, page.page, page.older, older);
    past.compose(ino, page.page, page.version, newer);
    unsigned kept = 0, lost = 0;
    for (std::size_t sector = 0; sector < page_bytes / 512; ++sector) {
        if (std::memcmp(older.data() + sector * 512, newer.data() + sector * 512, 512) == 0) continue;
        ((page.sectors >> sector & 1) != 0 ? kept : lost) |= 1u << sector;
    }
    if (lost == 0)
        page = {.page = page.page, .version = page.version};
    else if (kept == 0)
        page = {.page = page.page, .version = page.older};
    else
        page.sectors = static_cast<std::uint8_t>(kept);
}

} // namespace

void LeftState::make_file(std::uint64_t ino) {
    Growing growing;
    growing.file.ino = ino;
    growing.file.mode = mode_of(ino);
    if (const FilePast* past = past_.file(ino)) {
        const std::uint32_t until = std::min(durable_->data_until(ino), wanted_.cut);
        start_durable(*past, until, growing);
        for (auto i = std::ranges::lower_bound(past->lines, until); i != past->lines.end() && *i < wanted_.cut; ++i) change(*i, *past, growing);
    }
    finish(growing);
}

/// What is durable is there without a question: the newest version of each page before `until`.
void LeftState::start_durable(const FilePast& past, std::uint32_t until, Growing& to) const {
    const auto behind = std::ranges::lower_bound(past.lines, until);
    if (behind == past.lines.begin()) return;
    to.file.size = past_.facts(*(behind - 1)).size_after;
    for (const auto& [page, versions] : past.pages) {
        const auto newest = std::ranges::lower_bound(versions.lines, until);
        if (newest != versions.lines.begin()) to.pages[page] = {.page = page, .version = *(newest - 1)};
    }
    for (auto i = past.lines.begin(); i != behind; ++i) {
        const Operation& line = past_.line(*i);
        if (line.act == Act::set_xattr) to.file.xattrs[line.name] = line.data;
        if (line.act == Act::drop_xattr) to.file.xattrs.erase(line.name);
    }
}

void LeftState::change(std::uint32_t i, const FilePast& past, Growing& to) {
    const Operation& line = past_.line(i);
    if (line.act == Act::write) return write(i, to);
    if (!is_kept(i)) { // lost_ has it already
        if (zeroes_first_.contains(i)) zero_in_part(i, past, to);
        if (past_.facts(i).size_before != past_.facts(i).size_after && model_.names != NameOrder::any) to.grows = false;
        return;
    }
    const auto touch = [&](std::uint64_t from, std::uint64_t end) {
        for (auto page = past.pages.lower_bound(static_cast<std::uint32_t>(from / page_bytes)); page != past.pages.end(); ++page) {
            if (page->first * std::uint64_t{page_bytes} >= end) return;
            if (std::ranges::binary_search(page->second.lines, i)) to.pages[page->first] = {.page = page->first, .version = i};
        }
    };
    if (line.act == Act::truncate) {
        to.file.size = line.bytes;
        touch(line.bytes, ~std::uint64_t{0});
    } else if (line.act == Act::zero) {
        touch(line.offset, line.offset + line.bytes);
    } else if (line.act == Act::extend) {
        if (!keeps_size(line)) to.file.size = std::max(to.file.size, line.bytes);
    } else if (line.act == Act::set_xattr) {
        to.file.xattrs[line.name] = line.data;
    } else if (line.act == Act::drop_xattr) {
        to.file.xattrs.erase(line.name);
    }
}

/// A truncation or a hole zeroes the rest of a page in the page cache, and that may be written back before the journal has the record.
void LeftState::zero_in_part(std::uint32_t i, const FilePast& past, Growing& to) const {
    const Operation& line = past_.line(i);
    const std::uint64_t from = line.act == Act::truncate ? line.bytes : line.offset;
    const std::uint64_t last = line.act == Act::truncate ? from : from + line.bytes;
    for (const std::uint64_t at : {from, last}) {
        const auto page = static_cast<std::uint32_t>(at / page_bytes);
        const auto present = to.pages.find(page);
        if (at % page_bytes == 0 || present == to.pages.end() || !std::ranges::binary_search(past.pages.at(page).lines, i)) continue;
        if (block_of(i, page, to) == BlockOf::stays) present->second = {.page = page, .version = i};
    }
}

LeftState::BlockOf LeftState::block_of(std::uint32_t i, std::uint32_t page, const Growing& file) const {
    if (model_.names != NameOrder::prefix) return BlockOf::stays;
    const FilePast& past = *past_.file(file.file.ino);
    const auto& fills = past.pages.at(page).fills;
    const auto behind = std::ranges::upper_bound(fills, i);
    std::uint32_t filled = behind == fills.begin() ? 0 : *(behind - 1);
    bool is_reserved = false; // by fallocate: reads zeros until all of a write is there
    for (auto r = past.reserved.rbegin(); r != past.reserved.rend() && r->first > filled && !is_reserved; ++r) {
        is_reserved = r->first < i && boost::icl::contains(r->second, page);
        if (is_reserved) filled = r->first;
    }
    if (filled >= names_until_ && filled >= durable_->data_until(file.file.ino)) return BlockOf::is_lost;
    const auto present = file.pages.find(page);
    const bool has_bytes = present != file.pages.end() && (!is_reserved || (present->second.version != no_line && present->second.version > filled));
    return filled == i || !has_bytes ? BlockOf::is_new : BlockOf::stays;
}

void LeftState::write(std::uint32_t i, Growing& to) {
    const Operation& line = past_.line(i);
    const auto asked = write_losses_.find(i);
    const WriteLoss none;
    const WriteLoss& loss = asked == write_losses_.end() ? none : asked->second;
    const std::uint64_t end = line.offset + line.data.size(), size_before = to.file.size;
    const bool wants_to_grow = end > size_before;
    // One that changed no size brings none, where the change before it is lost.
    const bool grew = past_.facts(i).size_after != past_.facts(i).size_before;
    // The journal that has a carrier has all sizes before it.
    bool may_grow = is_before_carrier(i) || (grew && to.grows && !loss.size && (model_.names != NameOrder::prefix || i < names_until_));
    const bool could_grow = may_grow;
    const bool by_commit = model_.append == AppendRule::by_commit;
    if (by_commit && i >= names_until_) {
        to.grows = to.grows && !wants_to_grow;
        lost_.push_back({.line = i});
        return;
    }
    std::vector<Loss> lost;
    const auto [first, behind] = past_.pages_of(i);
    for (std::uint32_t page = first; page < behind; ++page) {
        const bool carried = is_carried(i, page);
        const auto hit = carried ? loss.pages.end() : std::ranges::find(loss.pages, page, &Loss::page);
        const std::uint64_t page_end = std::min(end, (page + 1) * std::uint64_t{page_bytes});
        const bool grows_here = page_end > to.file.size, apart = grows_here && is_apart(i, page);
        const BlockOf block = block_of(i, page, to);
        const bool torn = hit != loss.pages.end() && hit->part == Loss::Part::tear && (!grows_here || apart) && block == BlockOf::stays;
        bool there = block != BlockOf::is_lost && (carried || (!loss.data && (hit == loss.pages.end() || torn)));
        if ((by_commit || model_.append == AppendRule::together) && grows_here) there = there && may_grow;
        if (there) {
            LeftPage& left = to.pages[page];
            const std::uint32_t older = left.page == page ? left.version : no_line;
            left = {.page = page, .version = i, .older = torn ? older : no_line, .sectors = torn ? hit->sectors : std::uint8_t{0xff}};
        }
        if (!there) lost.push_back({.line = i, .part = Loss::Part::page, .page = page});
        if (torn) lost.push_back(*hit);
        if (!grows_here) continue;
        may_grow = carried || (may_grow && (there || apart));
        if (may_grow) to.file.size = page_end;
    }
    const bool has_grown = !wants_to_grow || to.file.size >= end;
    if (!has_grown && model_.append != AppendRule::apart) to.grows = false;
    const bool no_page = std::ranges::count(lost, Loss::Part::page, &Loss::part) == static_cast<std::ptrdiff_t>(behind - first);
    // A size that came a part of the way is told by pages: this loss must lead to the same state again.
    if (no_page && (has_grown || to.file.size == size_before))
        lost.assign(1, {.line = i, .part = wants_to_grow && has_grown ? Loss::Part::data : Loss::Part::all});
    // Where it grew up to a lost page, that page says so already.
    if (!has_grown && !no_page && !could_grow) lost.push_back({.line = i, .part = Loss::Part::size});
    lost_.insert(lost_.end(), lost.begin(), lost.end());
}

void LeftState::finish(Growing& from) {
    LeftFile& file = from.file;
    std::uint64_t id = mixed(mixed(1, file.size), file.mode);
    for (auto& [number, page] : from.pages) {
        page.page = number;
        if (number * std::uint64_t{page_bytes} >= file.size) break;
        if (page.sectors != 0xff) settle_tear(past_, file.ino, page);
        const std::uint64_t content = past_.content_id(file.ino, number, page.version);
        if (content == 1 && page.sectors == 0xff) continue; // zeros
        id = mixed(mixed(id, number), content);
        if (page.sectors != 0xff) id = mixed(mixed(id, page.sectors), past_.content_id(file.ino, number, page.older));
        file.pages.push_back(page);
    }
    for (const auto& [name, value] : file.xattrs) {
        for (const char c : name + "=" + value) id = mixed(id, static_cast<unsigned char>(c));
    }
    file.id = id;
    tree_.files.emplace(file.ino, std::move(file));
}

} // namespace flashlab

#include "tools/live/block_trace.h"

#include <algorithm>
#include <charconv>
#include <compare>

namespace flashlab {

namespace {

std::optional<std::uint64_t> number_at(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} ? std::optional{value} : std::nullopt;
}

std::string_view next_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    return word;
}

} // namespace

/// "  sqlite3-4711  [001] ..... 12.345678: block_bio_queue: 7,0 WS 2048 + 8 [sqlite3]". A command may hold anything, brackets and hyphens, too.
std::optional<BlockTrace::Line> BlockTrace::parsed(std::string_view line) {
    for (std::size_t cpu = line.find(" ["); cpu != std::string_view::npos; cpu = line.find(" [", cpu + 1)) {
        std::string_view rest = line.substr(cpu + 2), who = line.substr(0, cpu);
        const std::size_t digits = rest.find_first_not_of("0123456789");
        if (digits == 0 || !rest.substr(std::min(digits, rest.size())).starts_with("] ")) continue;
        rest.remove_prefix(digits + 1);
        (void)next_word(rest); // flags
        const std::string_view time = next_word(rest);
        if (time.find_first_not_of("0123456789.") != time.size() - 1 || !time.ends_with(':') || rest.empty()) continue;
        who.remove_prefix(std::min(who.find_first_not_of(' '), who.size()));
        who = who.substr(0, who.find_last_not_of(' ') + 1);
        const std::size_t hyphen = who.rfind('-');
        if (hyphen == std::string_view::npos) continue;
        if (const auto pid = number_at(who.substr(hyphen + 1))) return Line{static_cast<std::uint32_t>(*pid), who.substr(0, hyphen), rest.substr(1)};
    }
    return std::nullopt;
}

void BlockTrace::take(std::string_view line) {
    constexpr std::string_view queued = "block_bio_queue: ";
    const auto known = parsed(line);
    if (!known) {
        const bool is_write = line.contains(std::string{queued} + device_ + ' '); // a write that is not joined shifts those behind it
        has_gaps_ = has_gaps_ || is_write || (line.contains("LOST") && line.contains("EVENTS"));
    } else if (known->event.starts_with(queued)) {
        take_write(known->pid, known->command, known->event.substr(queued.size()));
    } else if (known->event.starts_with("sys_")) {
        take_call(known->pid, known->command, known->event);
    }
}

void BlockTrace::take_write(std::uint32_t pid, std::string_view command, std::string_view what) {
    const std::string_view device = next_word(what), flags = next_word(what), first = next_word(what), plus = next_word(what),
                           count = next_word(what);
    const auto first_sector = number_at(first), sectors = number_at(count);
    if (device != device_ || plus != "+" || !first_sector || !sectors || *sectors == 0 || !flags.contains('W')) return;
    TracedWrite write{pid, std::string{command}, std::string{flags}, *first_sector, static_cast<std::uint32_t>(*sectors)};
    if (const auto own = under_way_.find(pid); own != under_way_.end()) {
        write.sync = own->second.sync;
    } else if (facts_.is_of_kernel(pid)) {
        for (const auto& [_, one] : under_way_)
            if (one.is_of_disk && (!write.sync || one.sync < *write.sync)) write.sync = one.sync;
    } else if (flags.contains('S')) {
        if (auto synced = facts_.synced_write(pid)) {
            write.sync = syncs_.size();
            syncs_.push_back({pid, std::string{command}, std::move(synced->call), std::move(synced->path)});
        }
    }
    writes_.push_back(std::move(write));
}

/// "sys_fsync(fd: 5)" begins one, "sys_fsync -> 0x0" ends it.
void BlockTrace::take_call(std::uint32_t pid, std::string_view command, std::string_view what) {
    if (what.contains(" -> ")) {
        under_way_.erase(pid);
        return;
    }
    const std::size_t name_ends = what.find('('), descriptor = what.find("fd: ");
    if (name_ends == std::string_view::npos) return;
    TracedSync sync{pid, std::string{command}, std::string{what.substr(4, name_ends - 4)}, {}};
    bool is_of_disk = sync.call == "sync"; // that one is of all disks; msync names no file
    if (descriptor != std::string_view::npos)
        if (std::uint32_t fd = 0;
            std::from_chars(what.data() + descriptor + 4, what.data() + what.size(), fd, 16).ec == std::errc{}) { // the kernel writes it so
            const OnDisk where = facts_.where(pid, fd);
            if (where == OnDisk::no) return;
            is_of_disk = where == OnDisk::yes;
            sync.path = facts_.path_of(pid, fd);
        }
    under_way_[pid] = {syncs_.size(), is_of_disk};
    syncs_.push_back(std::move(sync));
}

std::vector<JoinedWrite> join_writes(std::span<const TracedWrite> traced, std::span<const LoggedWrite> logged) {
    struct OfSector {
        std::uint64_t sector;
        std::size_t write;
        auto operator<=>(const OfSector&) const = default;
    };
    std::vector<OfSector> waiting; // by sector, then in the order of the trace
    for (std::size_t i = 0; i < traced.size(); ++i)
        for (std::uint32_t s = 0; s < traced[i].sectors; ++s) waiting.push_back({traced[i].first_sector + s, i});
    std::ranges::sort(waiting);
    std::vector<std::uint32_t> taken(waiting.size()); // at a sector's first: how many of its writes are joined
    std::vector<JoinedWrite> joined;
    for (const LoggedWrite& request : logged) {
        const std::size_t before = joined.size();
        for (std::uint64_t sector = request.first_sector; sector < request.first_sector + request.sectors; ++sector) {
            const auto first = std::ranges::lower_bound(waiting, sector, {}, &OfSector::sector);
            if (first == waiting.end() || first->sector != sector) continue;
            std::uint32_t& so_far = taken[static_cast<std::size_t>(first - waiting.begin())];
            if (waiting.end() - first <= so_far || first[so_far].sector != sector) continue;
            const auto next = first + so_far++;
            const auto has_it = [&](const JoinedWrite& j) { return j.write == next->write; };
            if (std::ranges::none_of(std::span{joined}.subspan(before), has_it)) joined.push_back({next->write, request.request});
        }
    }
    return joined;
}

} // namespace flashlab

#include "tools/live/block_trace.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <unordered_map>

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

/// "  sqlite3-4711  [001] ..... 12.345678: block_bio_queue: 7,0 WS 2048 + 8 [sqlite3]". A command may hold blanks and hyphens.
void BlockTrace::take(std::string_view line) {
    if (line.contains("LOST") && line.contains("EVENTS")) has_gaps_ = true;
    const std::size_t flags = line.find("] "), cpu = line.rfind('[', flags);
    if (flags == std::string_view::npos || cpu == std::string_view::npos) return;
    const std::size_t time_ends = line.find(": ", flags), event_ends = line.find_first_of(":( ", time_ends + 2);
    if (time_ends == std::string_view::npos || event_ends == std::string_view::npos) return;
    std::string_view who = line.substr(0, cpu);
    who = who.substr(std::min(who.find_first_not_of(' '), who.size()));
    who = who.substr(0, who.find_last_not_of(' ') + 1);
    const std::size_t hyphen = who.rfind('-');
    if (hyphen == std::string_view::npos) return;
    const auto pid = number_at(who.substr(hyphen + 1));
    if (!pid) return;
    const std::string_view event = line.substr(time_ends + 2, event_ends - time_ends - 2), command = who.substr(0, hyphen);
    if (event == "block_bio_queue") return take_write(static_cast<std::uint32_t>(*pid), command, line.substr(event_ends + 1));
    if (event.starts_with("sys_")) take_call(static_cast<std::uint32_t>(*pid), command, line.substr(time_ends + 2));
}

void BlockTrace::take_write(std::uint32_t pid, std::string_view command, std::string_view what) {
    const std::string_view device = next_word(what), flags = next_word(what), first = next_word(what), plus = next_word(what),
                           count = next_word(what);
    const auto first_sector = number_at(first), sectors = number_at(count);
    if (device != device_ || plus != "+" || !first_sector || !sectors || *sectors == 0 || !flags.contains('W')) return;
    TracedWrite write{pid, std::string{command}, std::string{flags}, *first_sector, static_cast<std::uint32_t>(*sectors)};
    if (const auto own = under_way_.find(pid); own != under_way_.end())
        write.sync = own->second;
    else if (!under_way_.empty() && facts_.is_of_kernel(pid))
        write.sync = std::ranges::min_element(under_way_, {}, [](const auto& one) { return one.second; })->second;
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
    if (descriptor != std::string_view::npos)
        if (std::uint32_t fd = 0;
            std::from_chars(what.data() + descriptor + 4, what.data() + what.size(), fd, 16).ec == std::errc{}) // the kernel writes it so
            sync.path = facts_.path_of(pid, fd);
    under_way_[pid] = syncs_.size();
    syncs_.push_back(std::move(sync));
}

std::vector<JoinedWrite> join_writes(std::span<const TracedWrite> traced, std::span<const LoggedWrite> logged) {
    std::unordered_map<std::uint64_t, std::deque<std::size_t>> of_sector;
    for (std::size_t i = 0; i < traced.size(); ++i)
        for (std::uint32_t s = 0; s < traced[i].sectors; ++s) of_sector[traced[i].first_sector + s].push_back(i);
    std::vector<JoinedWrite> joined;
    for (const LoggedWrite& request : logged) {
        const std::size_t before = joined.size();
        for (std::uint32_t s = 0; s < request.sectors; ++s) {
            const auto waiting = of_sector.find(request.first_sector + s);
            if (waiting == of_sector.end() || waiting->second.empty()) continue;
            const std::size_t write = waiting->second.front();
            waiting->second.pop_front();
            const auto has_it = [&](const JoinedWrite& j) { return j.write == write; };
            if (std::ranges::none_of(std::span{joined}.subspan(before), has_it)) joined.push_back({write, request.request});
        }
    }
    return joined;
}

} // namespace flashlab

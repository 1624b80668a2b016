#include "crash/apps/state_order.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "crash/apps/history_base.h"

namespace flashlab {

namespace {

constexpr unsigned tiers = 6;
constexpr std::size_t few = 8, many = 32;
constexpr double most_states = 1e300;
constexpr std::size_t lines_looked_at = 200'000'000, fewest_points = 64; ///< of an estimate: about a second
constexpr std::size_t most_known = 4096, lines_known = 8'000'000;        ///< some 30 bytes a line of the history, at each of the points known

template <class Items>
auto newest(const Items& items, std::size_t most) {
    std::vector<std::uint32_t> out(items.rbegin(), items.rend());
    if (out.size() > most) out.resize(most);
    return out;
}

std::vector<Loss> whole(const std::vector<std::uint32_t>& lines, Loss::Part part = Loss::Part::all) {
    std::vector<Loss> losses;
    for (const std::uint32_t line : lines) losses.push_back({.line = line, .part = part});
    return losses;
}

/// The last, the first, then between them, ever finer.
std::vector<std::uint32_t> spread(const std::vector<std::uint32_t>& cuts) {
    std::vector<std::uint32_t> order;
    std::vector<bool> taken(cuts.size());
    const auto take = [&](std::size_t i) {
        if (!taken[i]) order.push_back(cuts[i]);
        taken[i] = true;
    };
    take(cuts.size() - 1);
    take(0);
    for (std::size_t parts = 2; order.size() < cuts.size(); parts *= 2)
        for (std::size_t i = parts - 1; i > 0; --i) take(i * cuts.size() / parts);
    return order;
}

bool adds_no_state(const Past& past, std::uint32_t line) { return past.line(line).act == Act::close && !past.facts(line).flushes; }

} // namespace

std::string kind_of_path(const std::string& path) {
    std::string kind;
    for (std::size_t i = 0; i < path.size();) {
        const auto is_part = [&](std::size_t at) { return at < path.size() && std::isalnum(static_cast<unsigned char>(path[at])) != 0; };
        if (!is_part(i)) {
            kind += path[i++];
            continue;
        }
        std::size_t end = i;
        bool digits = false, capital = false, small = false;
        for (; is_part(end); ++end) {
            const auto letter = static_cast<unsigned char>(path[end]);
            digits = digits || std::isdigit(letter) != 0;
            small = small || std::islower(letter) != 0;
            capital = capital || (end > i && std::isupper(letter) != 0);
        }
        const auto hex = [&](std::size_t at) { return std::isxdigit(static_cast<unsigned char>(path[at])) != 0; };
        const bool shelf = end - i == 2 && hex(i) && hex(i + 1); // of stores that spread files by a hash: 3f/4e/...
        // Of mkstemp and of hashes; a third of mkstemp's have no digit.
        const bool drawn = shelf || (digits && end - i >= 5) || (small && capital && end - i == 6);
        if (drawn) {
            kind += '#';
        } else {
            for (; i < end; ++i)
                if (const bool digit = std::isdigit(static_cast<unsigned char>(path[i])) != 0; !digit || kind.empty() || kind.back() != '#')
                    kind += digit ? '#' : path[i];
        }
        i = end;
    }
    return kind;
}

StateOrder::StateOrder(const Past& past, const Persistence& model, std::uint64_t seed, std::uint32_t from)
    : past_{past}, model_{model}, random_{seed} {
    plan(std::max(from, past.first_cut()));
}

void StateOrder::plan(std::uint32_t from) {
    std::map<std::string, std::vector<std::uint32_t>> kinds;
    for (std::uint32_t cut = from; cut <= past_.size(); ++cut) {
        if (cut > from && adds_no_state(past_, cut - 1)) continue;
        const auto side = [&](std::uint32_t line) {
            return line < past_.size() ? fmt::format("{} {}", static_cast<int>(past_.line(line).act), kind_of_path(past_.facts(line).path)) : "end";
        };
        kinds[fmt::format("{}|{}", cut > from ? side(cut - 1) : "begin", side(cut))].push_back(cut);
        all_cuts_.push_back(cut);
    }
    cuts_ = all_cuts_.size();
    for (const auto& [kind, cuts] : kinds) {
        unsigned round = 0;
        for (const std::uint32_t cut : spread(cuts)) {
            ++round;
            for (unsigned tier = 0; tier < tiers; ++tier)
                jobs_.push_back({.priority = tier + static_cast<unsigned>(std::bit_width(round)) - 1, .tier = tier, .cut = cut});
        }
    }
    std::ranges::stable_sort(jobs_, [](const Job& a, const Job& b) { return std::pair{a.priority, b.tier} < std::pair{b.priority, a.tier}; });
}

UnsyncedLines find_unsynced(const Past& past, const Persistence& model, std::uint32_t cut) {
    UnsyncedLines lines{std::make_shared<Durability>(past, model, cut), {}, {}};
    for (std::uint32_t i = past.first_cut(); i < cut; ++i) {
        const Act act = past.line(i).act;
        if (is_sync(act) || act == Act::promise || act == Act::close) continue;
        if (act == Act::make && past.line(i).parent == nameless_folder) continue; // no cut leaves a file without a name, synced or not
        if (act == Act::write) {
            if (!lines.durable->data_is_durable(i)) lines.writes.push_back(i);
        } else if (is_about_names(act) ? !lines.durable->name_is_durable(i)
                                       : i >= lines.durable->names_until() && !lines.durable->data_is_durable(i)) {
            lines.names.push_back(i);
        }
    }
    return lines;
}

const UnsyncedLines& StateOrder::unsynced(std::uint32_t cut) {
    const auto found = known_.find(cut);
    if (found != known_.end()) return found->second;
    if (known_.size() > std::min(most_known, lines_known / (std::size_t{past_.size()} + 1))) known_.clear();
    return known_.emplace(cut, find_unsynced(past_, model_, cut)).first->second;
}

CutState StateOrder::draw_at(std::uint32_t cut) {
    edges_.clear();
    for (unsigned tier = 0; tier < tiers; ++tier) add_edges({.priority = 0, .tier = tier, .cut = cut});
    const std::uint64_t drawn = random_.below(2 * edges_.size());
    return drawn < edges_.size() ? edges_[drawn] : draw(cut);
}

CutState StateOrder::next() {
    while (edges_.empty() && job_ < jobs_.size()) add_edges(jobs_[job_++]);
    if (edges_.empty()) return draw(draw_cut());
    CutState state = std::move(edges_.front());
    edges_.pop_front();
    return state;
}

void StateOrder::add_edges(const Job& job) {
    const UnsyncedLines& u = unsynced(job.cut);
    if (u.names.empty() && u.writes.empty()) {
        if (job.tier == 0) push(job.cut, {});
        return;
    }
    switch (job.tier) {
    case 0:
        return add_wholes(job.cut, u);
    case 1:
        return add_kinds(job.cut, u);
    case 2:
        return add_all_but_one(job.cut, u);
    case 3:
        return add_last_writes(job.cut, u);
    case 4:
        return add_only_one(job.cut, u);
    default:
        return add_single_writes(job.cut, u);
    }
}

void StateOrder::add_wholes(std::uint32_t cut, const UnsyncedLines& u) {
    std::vector<Loss> all = whole(u.names);
    for (const Loss& loss : whole(u.writes)) all.push_back(loss);
    push(cut, all);
    push(cut, {});
}

/// Names without data, data without names, sizes without bytes, bytes without sizes.
void StateOrder::add_kinds(std::uint32_t cut, const UnsyncedLines& u) {
    push(cut, whole(u.writes));
    push(cut, whole(u.names));
    push(cut, whole(u.writes, Loss::Part::size));
    if (size_may_come_alone(model_)) push(cut, whole(u.writes, Loss::Part::data));
}

void StateOrder::add_all_but_one(std::uint32_t cut, const UnsyncedLines& u) {
    std::map<std::uint64_t, std::vector<std::uint32_t>> by_file;
    for (const std::uint32_t line : u.writes) by_file[past_.facts(line).ino].push_back(line);
    for (const auto& [ino, lines] : by_file) push(cut, whole(lines));
    for (const std::uint32_t line : newest(u.names, many)) {
        push(cut, {{.line = line}});
        if (may_zero_first(past_, model_, line)) push(cut, {{.line = line, .part = Loss::Part::size}});
        std::vector<Loss> losses = whole(u.writes);
        losses.push_back({.line = line});
        if (!u.writes.empty()) push(cut, std::move(losses));
    }
}

void StateOrder::add_last_writes(std::uint32_t cut, const UnsyncedLines& u) {
    std::map<std::uint64_t, std::uint32_t> last;
    for (const std::uint32_t line : u.writes) last[past_.facts(line).ino] = line;
    std::vector<std::uint32_t> lines;
    for (const auto& [ino, line] : last) lines.push_back(line);
    std::ranges::sort(lines);
    for (const std::uint32_t line : newest(lines, few)) {
        const auto [first, behind] = past_.pages_of(line);
        push(cut, {{.line = line}});
        push(cut, {{.line = line, .part = Loss::Part::size}});
        push(cut, {{.line = line, .part = Loss::Part::page, .page = behind - 1}});
        push(cut, {{.line = line, .part = Loss::Part::page, .page = first}});
        for (const std::uint8_t sectors : {std::uint8_t{0x01}, std::uint8_t{0xfe}, std::uint8_t{0x0f}})
            if (model_.tears_pages) push(cut, {{.line = line, .part = Loss::Part::tear, .page = first, .sectors = sectors}});
        if (model_.tears_pages) push(cut, {{.line = line, .part = Loss::Part::tear, .page = behind - 1, .sectors = 0x01}});
    }
}

void StateOrder::add_only_one(std::uint32_t cut, const UnsyncedLines& u) {
    std::vector<std::uint32_t> all = u.names;
    all.insert(all.end(), u.writes.begin(), u.writes.end());
    std::ranges::sort(all);
    for (const std::uint32_t kept : newest(all, many)) {
        std::vector<Loss> losses = whole(all);
        std::erase_if(losses, [&](const Loss& loss) { return loss.line == kept; });
        push(cut, std::move(losses));
    }
}

void StateOrder::add_single_writes(std::uint32_t cut, const UnsyncedLines& u) {
    const auto writes = newest(u.writes, many);
    for (const std::uint32_t line : writes) {
        push(cut, {{.line = line}});
        const auto [first, behind] = past_.pages_of(line);
        for (std::uint32_t page = first; page < std::min<std::uint32_t>(behind, first + few); ++page)
            push(cut, {{.line = line, .part = Loss::Part::page, .page = page}});
    }
    const auto names = newest(u.names, few);
    for (std::size_t i = 0; i < names.size(); ++i)
        for (std::size_t j = i + 1; j < names.size(); ++j) push(cut, {{.line = names[i]}, {.line = names[j]}});
}

/// Every other time a point with many choices: points with few are soon exhausted.
std::uint32_t StateOrder::draw_cut() {
    const auto any = [&] { return all_cuts_[random_.below(all_cuts_.size())]; };
    const auto choices = [&](std::uint32_t cut) {
        const auto found = choices_.find(cut);
        if (found != choices_.end()) return found->second;
        const UnsyncedLines& u = unsynced(cut);
        return choices_[cut] = u.names.size() + u.writes.size();
    };
    std::uint32_t best = any();
    if (random_.chance(1, 2)) return best;
    for (int i = 0; i < 7; ++i)
        if (const std::uint32_t other = any(); choices(other) > choices(best)) best = other;
    return best;
}

CutState StateOrder::draw(std::uint32_t cut) {
    const UnsyncedLines& u = unsynced(cut);
    constexpr std::array<std::uint64_t, 4> of_16{8, 2, 14, 1};
    const std::uint64_t chance = of_16[random_.below(of_16.size())];
    CutState state{cut, {}};
    for (const std::uint32_t line : u.names)
        if (random_.chance(chance, 16))
            state.losses.push_back(
                {.line = line, .part = may_zero_first(past_, model_, line) && random_.chance(1, 2) ? Loss::Part::size : Loss::Part::all});
    for (const std::uint32_t line : u.writes) {
        if (!random_.chance(chance, 16)) continue;
        const auto [first, behind] = past_.pages_of(line);
        const auto page = first + static_cast<std::uint32_t>(random_.below(behind - first));
        switch (random_.below(5)) {
        case 0:
            state.losses.push_back({.line = line, .part = Loss::Part::size});
            break;
        case 1:
            state.losses.push_back({.line = line, .part = size_may_come_alone(model_) ? Loss::Part::data : Loss::Part::all});
            break;
        case 2:
            for (std::uint32_t p = first; p < behind; ++p)
                if (random_.chance(1, 2)) state.losses.push_back({.line = line, .part = Loss::Part::page, .page = p});
            break;
        case 3:
            state.losses.push_back({.line = line, .part = Loss::Part::tear, .page = page, .sectors = static_cast<std::uint8_t>(random_.next())});
            break;
        default:
            state.losses.push_back({.line = line});
        }
    }
    return state;
}

/// Can the write have met a block that the device had? At most its first one.
bool StateOrder::meets_block(const UnsyncedLines& u, std::uint32_t line) const {
    const std::uint64_t ino = past_.facts(line).ino;
    const FilePast& file = *past_.file(ino);
    const auto& fills = file.pages.at(past_.pages_of(line).first).fills;
    const std::uint32_t written_until = std::max(u.durable->data_until(ino), file.flushes.empty() ? 0 : file.flushes.back());
    return !fills.empty() && fills.front() < std::min(line, written_until);
}

double StateOrder::possible_at(std::uint32_t cut) {
    const UnsyncedLines& u = unsynced(cut);
    double items = 0, growing = 1;
    const double choices = model_.tears_pages ? 8 : 1; // a page, or each of its sectors
    for (const std::uint32_t line : u.writes) {
        const auto [first, behind] = past_.pages_of(line);
        const bool grows = past_.facts(line).size_after != past_.facts(line).size_before;
        if (grows && model_.append == AppendRule::by_block) items += (behind - first) + (meets_block(u, line) ? choices + 1 : 0); // zeros
        if (grows && model_.append != AppendRule::apart)
            growing += choices * (behind - first);
        else
            items += choices * (behind - first) + (grows ? 1 : 0);
    }
    items += static_cast<double>(std::ranges::count_if(u.names, [&](auto line) { return may_zero_first(past_, model_, line); }));
    if (model_.names == NameOrder::any) items += static_cast<double>(u.names.size());
    const double names = model_.names == NameOrder::prefix ? static_cast<double>(u.names.size()) + 1 : 1;
    return items > 990 ? most_states : std::exp2(items) * names * growing;
}

PossibleStates StateOrder::possible() {
    const std::size_t affordable = std::max(fewest_points, lines_looked_at / (std::size_t{past_.size()} + 1));
    const std::size_t step = (all_cuts_.size() + affordable - 1) / affordable;
    PossibleStates possible;
    for (std::size_t i = 0; i < all_cuts_.size() && possible.states < most_states; i += step) {
        possible.states += possible_at(all_cuts_[i]) * static_cast<double>(std::min(step, all_cuts_.size() - i));
        ++possible.points;
    }
    possible.states = std::min(possible.states, most_states);
    return possible;
}

} // namespace flashlab

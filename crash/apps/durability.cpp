#include "crash/apps/durability.h"

#include <algorithm>

namespace flashlab {

namespace {

/// Does the line change names of this directory?
bool is_in(const Operation& line, std::uint64_t directory) {
    return line.parent == directory || ((line.act == Act::rename || line.act == Act::exchange) && line.to_parent == directory);
}

bool is_of(const Past& past, std::uint32_t line, std::uint64_t ino) {
    const LineFacts& facts = past.facts(line);
    return facts.ino == ino || (past.line(line).act == Act::exchange && facts.replaced == ino);
}

std::span<const std::uint32_t> part_of(const std::vector<std::uint32_t>& lines, std::uint32_t from, std::uint32_t to) {
    const auto first = std::ranges::lower_bound(lines, from);
    return {first, std::max(first, std::ranges::lower_bound(lines, to))};
}

} // namespace

std::span<const std::uint32_t> Durability::names_between(std::uint32_t from, std::uint32_t to) const { return part_of(past_.name_lines(), from, to); }

Durability::Durability(const Past& past, const Persistence& model, std::uint32_t cut) : past_{past}, model_{model} {
    names_until_ = all_data_until_ = std::min(cut, past.first_cut());
    const bool chooses = model.file_sync == SyncReach::own_names || model.file_sync == SyncReach::nothing;
    if (chooses) forced_.resize(cut);
    for (std::uint32_t i = past.first_cut(); i < cut; ++i) {
        const Operation& line = past.line(i);
        if (line.act == Act::sync_all) {
            names_until_ = std::max(names_until_, reach_of(i));
            all_data_until_ = std::max(all_data_until_, reach_of(i));
        } else if (is_sync(line.act)) {
            past.facts(i).is_directory ? sync_directory(reach_of(i), line.ino) : sync_file(reach_of(i), line.ino, line.act == Act::fdatasync);
        }
    }
    if (model.names == NameOrder::all) names_until_ = cut;
    age(cut);
}

std::uint32_t Durability::data_until(std::uint64_t ino) const {
    const auto found = data_until_.find(ino);
    return found == data_until_.end() ? all_data_until_ : std::max(found->second, all_data_until_);
}

bool Durability::data_is_durable(std::uint32_t line) const {
    const Act act = past_.line(line).act;
    const std::uint64_t ino = past_.facts(line).ino;
    if (act != Act::chmod && act != Act::set_xattr && act != Act::drop_xattr) return line < data_until(ino);
    const auto found = attributes_until_.find(ino);
    return line < std::max(all_data_until_, found == attributes_until_.end() ? 0 : found->second);
}

void Durability::age(std::uint32_t cut) {
    if (cut == 0 || model_.names_age_ms == 0) return;
    const std::uint64_t now = past_.line(cut - 1).at_ms;
    while (names_until_ < cut && past_.line(names_until_).at_ms + model_.names_age_ms < now) ++names_until_;
    while (all_data_until_ < cut && past_.line(all_data_until_).at_ms + model_.data_age_ms < now) ++all_data_until_;
}

/// The first line that the sync need not have met. Alone it meets all lines up to its own.
std::uint32_t Durability::reach_of(std::uint32_t sync) const {
    const std::uint64_t meanwhile = past_.line(sync).bytes;
    return meanwhile == 0 ? sync + 1 : sync - static_cast<std::uint32_t>(std::min<std::uint64_t>(meanwhile, sync - past_.first_cut()));
}

void Durability::sync_file(std::uint32_t end, std::uint64_t ino, bool data_only) {
    const std::uint32_t before = data_until(ino);
    const std::uint32_t attributes_before = std::max(all_data_until_, attributes_until_[ino]); // a sync of data left the later ones waiting
    data_until_[ino] = std::max(before, end);
    // btrfs logs whatever of the inode has changed; ext4 waits with attributes, and POSIX asks for none. Of XFS the weaker promise is taken.
    if (!data_only || model_.file_sync == SyncReach::own_names) attributes_until_[ino] = std::max(attributes_until_[ino], end);
    if (model_.file_sync == SyncReach::nothing) return;
    if (model_.file_sync == SyncReach::own_names) {
        for (const std::uint32_t i : names_between(names_until_, end))
            if (is_of(past_, i, ino)) force(i);
        return;
    }
    // The inode's own change that waits in the journal: a sync of data alone looks at its making and at its size only. The journal may have been
    // committed right behind it, by age; then this sync commits nothing, and what came later waits.
    std::uint32_t last_change = 0;
    if (const FilePast* file = past_.file(ino))
        for (const std::uint32_t i : part_of(file->lines, data_only ? before : attributes_before, end)) {
            const bool is_size = past_.facts(i).size_after != past_.facts(i).size_before;
            const bool is_write = past_.line(i).act == Act::write;
            if (is_write ? is_size && i >= before : is_size || !data_only) last_change = i + 1;
        }
    for (const std::uint32_t i : names_between(names_until_, end))
        if (is_of(past_, i, ino) && (!data_only || past_.line(i).act == Act::make)) last_change = std::max(last_change, i + 1);
    names_until_ = std::max(names_until_, last_change);
}

void Durability::sync_directory(std::uint32_t end, std::uint64_t directory) {
    attributes_until_[directory] = std::max(attributes_until_[directory], end);
    std::uint32_t last_change = 0;
    if (const FilePast* itself = past_.file(directory)) // its rights and attributes
        if (const auto waiting = part_of(itself->lines, names_until_, end); !waiting.empty()) last_change = waiting.back() + 1;
    for (const std::uint32_t i : names_between(names_until_, end)) {
        if (!(is_in(past_.line(i), directory) || past_.facts(i).ino == directory)) continue;
        last_change = std::max(last_change, i + 1);
        const bool of_itself = !is_in(past_.line(i), directory);
        if (!forced_.empty() && (!of_itself || model_.file_sync == SyncReach::own_names)) force(i);
    }
    if (!forced_.empty() || last_change == 0) return;
    names_until_ = std::max(names_until_, model_.file_sync == SyncReach::everything ? end : last_change);
}

/// btrfs replays its log into a tree that must be sound: what had the same name before goes with it, and the directories above.
void Durability::force(std::uint32_t i) {
    if (i < names_until_ || forced_[i]) return;
    forced_[i] = true;
    if (model_.file_sync != SyncReach::own_names) return;
    const Operation& line = past_.line(i);
    const bool moves = line.act == Act::rename || line.act == Act::exchange;
    for (const std::uint32_t j : names_between(names_until_, i)) {
        const Operation& other = past_.line(j);
        const bool other_moves = other.act == Act::rename || other.act == Act::exchange;
        const auto concerns = [&](std::uint64_t directory, const std::string& name) {
            return (other.parent == directory && other.name == name) || (other_moves && other.to_parent == directory && other.to_name == name);
        };
        if (concerns(line.parent, line.name) || (moves && concerns(line.to_parent, line.to_name))) force(j);
    }
    force_ancestors(line.parent, i);
    if (moves) force_ancestors(line.to_parent, i);
}

void Durability::force_ancestors(std::uint64_t directory, std::uint32_t before) {
    for (const std::uint32_t j : names_between(names_until_, before))
        if (past_.facts(j).ino == directory) force(j);
}

} // namespace flashlab

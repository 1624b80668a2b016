#include "crash/apps/left_state.h"

#include <algorithm>

#include <sys/stat.h>

namespace flashlab {

namespace {

std::uint64_t mixed(std::uint64_t into, std::uint64_t word) {
    into = (into ^ word) * 0x9e3779b97f4a7c15u;
    return into ^ (into >> 32);
}
std::uint64_t mixed(std::uint64_t into, const std::string& text) {
    for (const char c : text) into = mixed(into, static_cast<unsigned char>(c));
    return mixed(into, text.size() + 1000);
}

} // namespace

LeftState::LeftState(const Past& past, const Persistence& model, std::shared_ptr<const Durability> durable, CutState wanted)
    : past_{past}, model_{model}, durable_{std::move(durable)}, wanted_{std::move(wanted)} {
    sort_losses();
    choose_names();
    make_tree();
}

void LeftState::sort_losses() {
    dropped_.resize(wanted_.cut);
    for (const Loss& loss : wanted_.losses) {
        if (loss.line >= wanted_.cut) continue;
        if (loss.part == Loss::Part::all) dropped_[loss.line] = true;
        if (past_.line(loss.line).act != Act::write) {
            if (loss.part != Loss::Part::size || !may_zero_first(past_, model_, loss.line)) continue;
            dropped_[loss.line] = true;
            zeroes_first_.insert(loss.line);
            continue;
        }
        WriteLoss& lost = write_losses_[loss.line];
        lost.data = lost.data || loss.part == Loss::Part::all || loss.part == Loss::Part::data;
        lost.size = lost.size || loss.part == Loss::Part::all || loss.part == Loss::Part::size;
        if (loss.part == Loss::Part::page || (loss.part == Loss::Part::tear && model_.tears_pages)) lost.pages.push_back(loss);
    }
}

bool LeftState::is_kept(std::uint32_t line) const {
    const bool durable = is_about_names(past_.line(line).act) ? durable_->name_is_durable(line) : durable_->data_is_durable(line);
    return durable || line < durable_->names_until() || (model_.names == NameOrder::any ? !dropped_[line] : line < names_until_);
}

bool LeftState::is_before_carrier(std::uint32_t line) const {
    const auto found = carried_until_.find(past_.facts(line).ino);
    return found != carried_until_.end() && line < found->second;
}

/// ext4 hurries delayed allocation and nothing else (ext4_alloc_da_blocks). A page that had its block is not hurried if no other is; and if it is,
/// the journal does not wait for it.
bool LeftState::is_carried(std::uint32_t line, std::uint32_t page) const {
    if (!is_before_carrier(line)) return false;
    if (model_.carries == CarryRule::everything) return true;
    const std::uint64_t ino = past_.facts(line).ino;
    const FilePast& file = *past_.file(ino);
    const auto& fills = file.pages.at(page).fills;
    std::uint32_t written_until = durable_->data_until(ino); // what came before has its block
    for (auto flush = std::ranges::lower_bound(file.flushes, written_until); flush != file.flushes.end(); ++flush) {
        if (*flush > carried_until_.at(ino)) break;
        const auto fill = std::ranges::lower_bound(fills, written_until);
        if (line < *flush && fill != fills.end() && *fill < *flush) return true;
        written_until = *flush;
    }
    return false;
}

/// ext4 moves the size in the journal at once where the last block is allocated and written (ext4_da_should_update_i_disksize), and waits for no
/// bytes. The block is so after a sync, or a flush that allocated it. A new block is zeros until its write is over (dioread_nolock). That the journal
/// was committed meanwhile is believed only where a later change shows it: else each append would fail that is synced a moment later.
bool LeftState::is_apart(std::uint32_t line, std::uint32_t page) const {
    if (model_.append != AppendRule::by_block) return model_.append == AppendRule::apart;
    const auto later = std::ranges::upper_bound(past_.name_lines(), line);
    const bool was_committed = line < durable_->names_until() || (later != past_.name_lines().end() && *later < names_until_);
    if (!was_committed) return false;
    const std::uint64_t ino = past_.facts(line).ino;
    const FilePast& file = *past_.file(ino);
    const auto& fills = file.pages.at(page).fills;
    const auto own = std::ranges::lower_bound(fills, line);
    if (own == fills.begin() || (own != fills.end() && *own == line)) return true;
    const std::uint32_t fill = *(own - 1);
    const auto flush = std::ranges::upper_bound(file.flushes, fill);
    return fill < durable_->data_until(ino) || (flush != file.flushes.end() && *flush < line);
}

/// One journal: the first of its lines that is lost takes all later ones with it.
void LeftState::choose_names() {
    names_until_ = wanted_.cut;
    if (model_.names == NameOrder::prefix)
        for (std::uint32_t i = durable_->names_until(); i < wanted_.cut; ++i) {
            const Act act = past_.line(i).act;
            if (!dropped_[i] || act == Act::write || is_sync(act) || act == Act::promise) continue;
            if (is_about_names(act) ? durable_->name_is_durable(i) : durable_->data_is_durable(i)) continue;
            names_until_ = i;
            break;
        }
    if (model_.carries == CarryRule::nothing) return;
    for (std::uint32_t i = past_.first_cut(); i < wanted_.cut; ++i) {
        const LineFacts& facts = past_.facts(i);
        const bool renames = past_.line(i).act == Act::rename && facts.replaced != 0 && facts.replaced != facts.ino && is_kept(i);
        const bool closes = facts.flushes && model_.names == NameOrder::prefix && i < names_until_;
        if (renames || closes) carried_until_[facts.ino] = i;
    }
}

void LeftState::make_tree() {
    directories_[root_number] = {};
    for (std::uint32_t i = 0; i < wanted_.cut; ++i) {
        const Operation& line = past_.line(i);
        if (line.act == Act::make) made_[line.ino] = &line;
        if (line.act == Act::write || is_sync(line.act) || line.act == Act::promise || line.act == Act::close) continue;
        if (!is_kept(i))
            lost_.push_back({.line = i, .part = zeroes_first_.contains(i) ? Loss::Part::size : Loss::Part::all});
        else if (is_about_names(line.act))
            apply_name(i);
    }
    list(root_number, "");
    if (past_.file(root_number) != nullptr) make_file(root_number);
    std::ranges::sort(lost_);
    const auto root = tree_.files.find(root_number);
    std::uint64_t id = root == tree_.files.end() ? 0 : root->second.id;
    std::map<std::uint64_t, std::uint64_t> first_name;
    for (const LeftName& name : tree_.names) {
        id = mixed(mixed(mixed(id, name.path), name.target), name.mode);
        const auto file = tree_.files.find(name.ino);
        if (file != tree_.files.end()) id = mixed(mixed(id, file->second.id), first_name.emplace(name.ino, first_name.size()).first->second);
    }
    tree_.id = id;
}

std::uint64_t LeftState::at(std::uint64_t directory, const std::string& name) const {
    const auto found = directories_.find(directory);
    if (found == directories_.end()) return 0;
    const auto entry = found->second.entries.find(name);
    return entry == found->second.entries.end() ? 0 : entry->second;
}

bool LeftState::is_within(std::uint64_t directory, std::uint64_t ancestor) const {
    for (auto here = directories_.find(directory); here != directories_.end(); here = directories_.find(here->second.parent)) {
        if (here->first == ancestor) return true;
        if (here->first == root_number) return false;
    }
    return false;
}

/// May `ino` get this name? Not in a directory that is not there, and not over one that is not empty.
bool LeftState::may_take(std::uint64_t directory, const std::string& name, std::uint64_t ino) const {
    if (!directories_.contains(directory)) return false;
    const auto present = directories_.find(at(directory, name));
    return present == directories_.end() || present->first == ino || present->second.entries.empty();
}

void LeftState::put(std::uint64_t directory, const std::string& name, std::uint64_t ino) {
    std::uint64_t& entry = directories_[directory].entries[name];
    if (entry != ino) directories_.erase(entry);
    entry = ino;
    if (const auto moved = directories_.find(ino); moved != directories_.end()) {
        moved->second.parent = directory;
        moved->second.name = name;
    }
}

void LeftState::apply_rename(std::uint32_t i) {
    const Operation& line = past_.line(i);
    const LineFacts& facts = past_.facts(i);
    if (facts.ino == facts.replaced) return;
    if (line.act == Act::exchange) {
        if (at(line.parent, line.name) != facts.ino || at(line.to_parent, line.to_name) != facts.replaced) return;
        // Neither may come into itself.
        if (is_within(line.to_parent, facts.ino) || is_within(line.parent, facts.replaced)) return;
        directories_[line.parent].entries[line.name] = 0; // so that put() takes neither for replaced
        directories_[line.to_parent].entries[line.to_name] = 0;
        put(line.parent, line.name, facts.replaced);
        put(line.to_parent, line.to_name, facts.ino);
        return;
    }
    if (!may_take(line.to_parent, line.to_name, facts.ino)) return;
    if (facts.is_directory && (at(line.parent, line.name) != facts.ino || is_within(line.to_parent, facts.ino))) return;
    if (at(line.parent, line.name) == facts.ino) directories_[line.parent].entries.erase(line.name);
    put(line.to_parent, line.to_name, facts.ino);
}

void LeftState::apply_name(std::uint32_t i) {
    const Operation& line = past_.line(i);
    const std::uint64_t ino = past_.facts(i).ino;
    switch (line.act) {
    case Act::make:
    case Act::link:
        if (!may_take(line.parent, line.name, ino)) return;
        if (line.act == Act::make && S_ISDIR(line.mode)) directories_[ino] = {};
        put(line.parent, line.name, ino);
        return;
    case Act::unlink:
        if (at(line.parent, line.name) == ino) directories_[line.parent].entries.erase(line.name);
        return;
    case Act::rmdir:
        if (at(line.parent, line.name) != ino || !directories_[ino].entries.empty()) return;
        directories_[line.parent].entries.erase(line.name);
        directories_.erase(ino);
        return;
    default:
        apply_rename(i);
    }
}

std::uint32_t LeftState::mode_of(std::uint64_t ino) const {
    const auto made = made_.find(ino);
    std::uint32_t mode = ino == root_number ? S_IFDIR | 0700 : made == made_.end() ? S_IFREG | 0644 : made->second->mode;
    if (const FilePast* file = past_.file(ino))
        for (const std::uint32_t i : file->lines)
            if (i < wanted_.cut && past_.line(i).act == Act::chmod && is_kept(i)) mode = (mode & S_IFMT) | (past_.line(i).mode & 07777);
    return mode;
}

void LeftState::list(std::uint64_t directory, const std::string& above) {
    for (const auto& [name, ino] : directories_[directory].entries) {
        LeftName entry{.path = above + name, .mode = mode_of(ino), .ino = ino, .target = {}, .parent = directory};
        if (S_ISLNK(entry.mode)) entry.target = made_[ino]->data;
        tree_.names.push_back(entry);
        // A directory's attributes are lines of it, too.
        const bool has_content = S_ISREG(entry.mode) || (S_ISDIR(entry.mode) && past_.file(ino) != nullptr);
        if (has_content && !tree_.files.contains(ino)) make_file(ino);
        if (S_ISDIR(entry.mode)) list(ino, entry.path + "/");
    }
}

} // namespace flashlab

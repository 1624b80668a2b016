#include "crash/apps/history_base.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/stat.h>

#include "crash/apps/past.h"

namespace flashlab {

namespace {

constexpr std::size_t most_seen = 1u << 17;

FsCall quiet(const FsCall& call) {
    FsCall own = call;
    own.access_times = AccessTimes::kept;
    return own;
}

} // namespace

void HistoryBase::clear() {
    objects_.clear();
    names_.clear();
    made_.clear();
    bytes_ = 0;
    is_short_ = false;
}

void HistoryBase::note_seen(std::uint64_t ino, std::uint64_t directory, std::string_view name) {
    if (name == "." || name == "..") return;
    if (seen_.size() >= most_seen) seen_.clear();
    seen_.insert_or_assign(ino, Name{directory, name});
}

HistoryBase::Object* HistoryBase::object(const FsCall& call, std::uint64_t ino) {
    if (ino == root_number || ino == 0 || made_.contains(ino)) return nullptr;
    const auto known = objects_.find(ino);
    if (known != objects_.end()) return &known->second;
    const auto attributes = fs_.attributes(quiet(call), Ino{ino});
    if (!attributes) return nullptr; // the call will fail, too
    Object& found = objects_[ino];
    found.attributes = attributes->value;
    bytes_ += sizeof(Object) + sizeof(Operation);
    if (S_ISLNK(found.attributes.mode))
        if (const auto target = fs_.read_link(quiet(call), Ino{ino})) found.target = target->value;
    if (const auto seen = seen_.find(ino); seen != seen_.end()) {
        const auto there = fs_.lookup(quiet(call), Ino{seen->second.first}, seen->second.second);
        if (there) fs_.forget(there->value.ino, 1, call.now);
        if (there && there->value.ino.value() == ino) (void)name(call, seen->second.first, seen->second.second);
    }
    return &found;
}

/// Who has the name; 0: nobody, or a call of the history gave it.
std::uint64_t HistoryBase::name(const FsCall& call, std::uint64_t directory, const std::string& name) {
    (void)object(call, directory);
    const auto found = fs_.lookup(quiet(call), Ino{directory}, name);
    const std::uint64_t ino = found ? found->value.ino.value() : 0;
    if (ino != 0) fs_.forget(Ino{ino}, 1, call.now);
    if (made_.contains(directory)) return ino;
    const auto [entry, is_new] = names_.try_emplace({directory, name}, ino);
    if (!is_new) return ino;
    bytes_ += sizeof(Operation) + name.size();
    if (Object* named = object(call, ino); named != nullptr)
        named->names.emplace_back(directory, name);
    else
        entry->second = 0;
    return ino;
}

void HistoryBase::pages(const FsCall& call, std::uint64_t ino, std::uint64_t from, std::uint64_t to) {
    Object* old = object(call, ino);
    if (old == nullptr || !S_ISREG(old->attributes.mode)) return;
    to = std::min(to, old->attributes.size);
    for (std::uint64_t page = from / page_bytes; page * page_bytes < to; ++page) {
        const auto number = static_cast<std::uint32_t>(page);
        if (old->pages.contains(number)) continue;
        if (bytes_ > most_bytes_) {
            is_short_ = true;
            return;
        }
        std::string text(std::min<std::uint64_t>(page_bytes, old->attributes.size - page * page_bytes), '\0');
        const auto got = fs_.read(quiet(call), Ino{ino}, page * page_bytes, std::as_writable_bytes(std::span{text}));
        if (!got) is_short_ = true; // what the drive does not give back cannot be brought back
        bytes_ += text.size() + sizeof(Operation);
        old->pages.emplace(number, std::move(text));
    }
}

void HistoryBase::xattr(const FsCall& call, std::uint64_t ino, const std::string& name) {
    Object* old = object(call, ino);
    if (old == nullptr || old->xattrs.contains(name)) return;
    std::optional<std::string> value;
    if (const auto got = fs_.get_xattr(quiet(call), Ino{ino}, name))
        value.emplace(reinterpret_cast<const char*>(got->value.data()), got->value.size());
    bytes_ += sizeof(Operation) + name.size() + (value ? value->size() : 0);
    old->xattrs.emplace(name, std::move(value));
}

/// A file whose last name goes may have to come back.
void HistoryBase::whole_if_last(const FsCall& call, std::uint64_t ino) {
    const auto now =
        ino == 0 || made_.contains(ino) ? FsResult<Timed<Attributes>>{std::unexpected(FsError{ENOENT})} : fs_.attributes(quiet(call), Ino{ino});
    if (now && now->value.links <= 1) pages(call, ino, 0, ~std::uint64_t{0});
}

void HistoryBase::learn(const FsCall& call, const Operation& planned) {
    switch (planned.act) {
    case Act::make:
        if (planned.parent != nameless_folder) (void)name(call, planned.parent, planned.name);
        return;
    case Act::link:
        (void)object(call, planned.ino);
        (void)name(call, planned.parent, planned.name);
        return;
    case Act::unlink:
    case Act::rmdir:
        whole_if_last(call, name(call, planned.parent, planned.name));
        return;
    case Act::rename:
    case Act::exchange: {
        const std::uint64_t moved = name(call, planned.parent, planned.name);
        const std::uint64_t replaced = name(call, planned.to_parent, planned.to_name);
        if (moved != 0) note_seen(moved, planned.to_parent, planned.to_name); // or will be
        if (planned.act == Act::rename) whole_if_last(call, replaced);
        return;
    }
    case Act::write:
    case Act::zero:
        pages(call, planned.ino, planned.offset, planned.offset + planned.bytes);
        return;
    case Act::truncate:
        pages(call, planned.ino, planned.bytes, ~std::uint64_t{0});
        return;
    case Act::set_xattr:
    case Act::drop_xattr:
        xattr(call, planned.ino, planned.name);
        return;
    case Act::extend:
    case Act::chmod:
    case Act::fsync:
    case Act::fdatasync:
        (void)object(call, planned.ino);
        return;
    case Act::sync_all:
    case Act::close:
    case Act::promise:
        return;
    }
}

/// An object, after the directories of its names.
void HistoryBase::tell(std::uint64_t ino, std::set<std::uint64_t>& told, std::vector<Operation>& lines) const {
    const auto found = objects_.find(ino);
    if (found == objects_.end() || !told.insert(ino).second) return;
    const Object& o = found->second;
    const std::vector<Name> nowhere{{nameless_folder, fmt::format("#{}", ino)}};
    bool is_made = false;
    for (const auto& [directory, name] : o.names.empty() ? nowhere : o.names) {
        tell(directory, told, lines);
        lines.push_back({.act = is_made ? Act::link : Act::make,
                         .ino = ino,
                         .parent = directory,
                         .mode = o.attributes.mode,
                         .name = name,
                         .data = is_made ? std::string{} : o.target,
                         .uid = o.attributes.uid,
                         .gid = o.attributes.gid});
        is_made = true;
    }
    const std::uint64_t size = o.attributes.size; // the writes below give the pages their blocks
    if (S_ISREG(o.attributes.mode) && size != 0) lines.push_back({.act = Act::extend, .ino = ino, .offset = size, .bytes = size});
    for (const auto& [page, text] : o.pages)
        lines.push_back({.act = Act::write, .ino = ino, .offset = page * std::uint64_t{page_bytes}, .data = text});
    for (const auto& [name, value] : o.xattrs)
        if (value) lines.push_back({.act = Act::set_xattr, .ino = ino, .name = name, .data = *value});
}

std::vector<Operation> HistoryBase::lines() const {
    std::vector<Operation> lines{
        {.act = Act::make, .ino = nameless_folder, .parent = root_number, .mode = S_IFDIR | 0700, .name = nameless_folder_name}};
    std::set<std::uint64_t> told;
    for (const auto& [ino, object] : objects_) tell(ino, told, lines);
    for (const auto& [name, ino] : names_) // that nobody had the name is worth knowing, too
        if (ino == 0) lines.push_back({.act = Act::unlink, .parent = name.first, .name = name.second});
    lines.push_back({.act = Act::sync_all});
    return lines;
}

} // namespace flashlab

#include "crash/apps/tree_settler.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>
#include <sys/stat.h>

#include "crash/apps/history_base.h"
#include "fs/retry.h"

namespace flashlab {

namespace {
constexpr const char* folder_name = ".flashlab-settling";
}

TreeSettler::TreeSettler(FileSystem& fs, const Past& past, const LeftState& state, const FsCall& call)
    : fs_{fs}, past_{past}, tree_{state.tree()}, cut_{state.cut()}, call_{call} {
    call_.may_override_suid = true;
    call_.access_times = AccessTimes::kept;
    for (const std::uint32_t i : past.name_lines())
        if (past.line(i).act == Act::make) made_[past.line(i).ino] = &past.line(i);
}

std::string TreeSettler::run() {
    const auto folder = fs_.make_directory(call_, root_ino, folder_name, 0700);
    if (!folder) return fmt::format("a folder could not be made: {}", std::strerror(folder.error().error_number));
    folder_ = folder->value.ino.value();
    call_.now = std::max(call_.now, folder->done);
    park_wrong_names();
    put_names();
    for (const auto& [ino, file] : tree_.files) put_content(file);
    put_modes();
    empty(Ino{folder_});
    if (const auto gone = fs_.remove_directory(call_, root_ino, folder_name); !gone) failed("the folder could not be removed", gone.error());
    finish(fs_.begin_sync_all(call_), "sync");
    return failure_;
}

void TreeSettler::failed(const char* what, const FsError& error) {
    if (failure_.empty()) failure_ = fmt::format("{}: {}", what, std::strerror(error.error_number));
}

void TreeSettler::finish(FsResult<std::unique_ptr<SlowCall>> begun, const char* what) {
    if (!begun) return failed(what, begun.error());
    for (;;) {
        const auto step = (*begun)->step(call_.now);
        if (!step) return failed(what, step.error());
        if (const auto* done = std::get_if<Done>(&*step)) {
            call_.now = std::max(call_.now, done->at);
            return;
        }
        call_.now = std::max(call_.now, std::get<ResumeAt>(*step).at);
    }
}

void TreeSettler::rename(std::uint64_t from, const std::string& name, std::uint64_t to, const std::string& to_name) {
    finish(fs_.begin_rename(call_, Ino{from}, name, Ino{to}, to_name, RenameMode::replace), "rename");
}

std::optional<Attributes> TreeSettler::attributes(std::uint64_t ino) {
    const auto got = fs_.attributes(call_, Ino{ino});
    return got ? std::optional{got->value} : std::nullopt;
}

std::uint64_t TreeSettler::look_up(std::uint64_t directory, const std::string& name) {
    const auto found = fs_.lookup(call_, Ino{directory}, name);
    if (!found) return 0;
    fs_.forget(found->value.ino, 1, call_.now);
    return found->value.ino.value();
}

std::uint64_t TreeSettler::real(std::uint64_t ino) {
    if (ino == root_number) return ino;
    if (const auto again = anew_.find(ino); again != anew_.end()) return again->second;
    const auto made = made_.find(ino);
    const auto present = attributes(ino);
    if (!present || present->links == 0) return 0;
    return made != made_.end() && (made->second->mode & S_IFMT) != (present->mode & S_IFMT) ? 0 : ino;
}

void TreeSettler::park_wrong_names() {
    std::map<Name, std::uint64_t> wanted;
    std::set<Name> concerned;
    for (const LeftName& name : tree_.names) wanted[{name.parent, name.path.substr(name.path.rfind('/') + 1)}] = name.ino;
    for (const std::uint32_t i : past_.name_lines()) {
        const Operation& line = past_.line(i);
        concerned.insert({line.parent, line.name});
        if (line.act == Act::rename || line.act == Act::exchange) concerned.insert({line.to_parent, line.to_name});
    }
    for (const Name& name : concerned) {
        const auto& [directory, text] = name;
        const std::uint64_t in = real(directory);
        if (directory == nameless_folder || text == nameless_folder_name || in == 0) continue;
        const std::uint64_t present = look_up(in, text);
        const auto want = wanted.find(name);
        if (present == (want == wanted.end() ? 0 : want->second)) {
            right_.insert(name);
            continue;
        }
        ++mended_;
        if (present == 0) continue;
        const std::string parked = fmt::format("{}", ++parked_count_);
        rename(in, text, folder_, parked);
        parked_[present].push_back(parked);
    }
}

void TreeSettler::put_names() {
    for (const LeftName& wanted : tree_.names) // a directory before what is in it
        if (wanted.parent != nameless_folder && wanted.ino != nameless_folder) put_name(wanted);
}

void TreeSettler::put_name(const LeftName& wanted) {
    const std::string name = wanted.path.substr(wanted.path.rfind('/') + 1);
    if (right_.contains({wanted.parent, name})) return;
    const std::uint64_t in = real(wanted.parent);
    if (in == 0) return;
    const std::uint64_t object = real(wanted.ino);
    const auto parked = parked_.find(wanted.ino);
    if (object != 0 && S_ISDIR(wanted.mode)) {
        if (parked != parked_.end() && !parked->second.empty()) rename(folder_, parked->second.back(), in, name);
        return;
    }
    if (object != 0) {
        if (const auto linked = fs_.link(call_, Ino{object}, Ino{in}, name); !linked) failed("link", linked.error());
        return;
    }
    if (const std::uint64_t made = make(wanted, in, name); made != 0) anew_[wanted.ino] = made;
}

/// Something that the drive has no longer, since the change that took it was answered, or that its own rules lost.
std::uint64_t TreeSettler::make(const LeftName& wanted, std::uint64_t directory, const std::string& name) {
    const auto made = S_ISDIR(wanted.mode)   ? fs_.make_directory(call_, Ino{directory}, name, wanted.mode & 07777)
                      : S_ISLNK(wanted.mode) ? fs_.make_symlink(call_, Ino{directory}, name, wanted.target)
                                             : fs_.make_node(call_, Ino{directory}, name, wanted.mode, 0);
    if (!made) {
        failed("make", made.error());
        return 0;
    }
    call_.now = std::max(call_.now, made->done);
    AttributeChange owner;
    owner.which = AttributeChange::uid | AttributeChange::gid;
    if (const auto line = made_.find(wanted.ino); line != made_.end()) {
        owner.new_uid = line->second->uid;
        owner.new_gid = line->second->gid;
        set(made->value.ino, owner, "owner");
    }
    return made->value.ino.value();
}

void TreeSettler::set(Ino ino, const AttributeChange& change, const char* what) {
    const auto done = until_done(call_, [&](const FsCall& c) { return fs_.change_attributes(c, ino, change); });
    if (!done) return failed(what, done.error());
    call_.now = std::max(call_.now, done->done);
}

void TreeSettler::put_content(const LeftFile& wanted) {
    const std::uint64_t object = real(wanted.ino);
    const FilePast* past = past_.file(wanted.ino);
    const auto present = object == 0 ? std::nullopt : attributes(object);
    if (!present || past == nullptr || wanted.ino == root_number) return; // what the root had before the history, nobody has learned
    if (S_ISDIR(wanted.mode)) return put_xattrs(wanted, Ino{object});
    if (present->size != wanted.size) {
        ++mended_;
        AttributeChange size;
        size.which = AttributeChange::size;
        size.new_size = wanted.size;
        set(Ino{object}, size, "truncate");
    }
    put_pages(wanted, Ino{object});
    put_xattrs(wanted, Ino{object});
}

void TreeSettler::put_pages(const LeftFile& wanted, Ino ino) {
    auto left = wanted.pages.begin();
    for (const auto& [number, versions] : past_.file(wanted.ino)->pages) {
        const std::uint64_t at = number * std::uint64_t{page_bytes};
        if (at >= wanted.size) break;
        const std::size_t bytes = std::min<std::uint64_t>(page_bytes, wanted.size - at);
        std::array<std::byte, page_bytes> want{}, older{}, have{};
        while (left != wanted.pages.end() && left->page < number) ++left;
        if (left != wanted.pages.end() && left->page == number) {
            past_.compose(wanted.ino, number, left->version, want);
            if (left->sectors != 0xff) past_.compose(wanted.ino, number, left->older, older);
            for (std::size_t sector = 0; sector < 8; ++sector)
                if ((left->sectors >> sector & 1) == 0) std::memcpy(want.data() + sector * 512, older.data() + sector * 512, 512);
        }
        const auto got = fs_.read(call_, ino, at, std::span{have}.first(bytes));
        if (got && got->value == bytes && std::memcmp(have.data(), want.data(), bytes) == 0) continue;
        ++mended_;
        for (std::size_t done = 0; done < bytes;) {
            const auto written =
                until_done(call_, [&](const FsCall& c) { return fs_.write(c, ino, at + done, std::span{want}.subspan(done, bytes - done)); });
            if (!written || written->value == 0) return failed("write", written ? FsError{ENOSPC} : written.error());
            done += written->value;
            call_.now = std::max(call_.now, written->done);
        }
    }
}

void TreeSettler::put_xattrs(const LeftFile& wanted, Ino ino) {
    std::set<std::string> concerned;
    for (const std::uint32_t i : past_.file(wanted.ino)->lines)
        if (past_.line(i).act == Act::set_xattr || past_.line(i).act == Act::drop_xattr) concerned.insert(past_.line(i).name);
    for (const std::string& name : concerned) {
        const auto want = wanted.xattrs.find(name);
        if (want == wanted.xattrs.end()) {
            (void)fs_.remove_xattr(call_, ino, name);
        } else if (const auto done = fs_.set_xattr(call_, ino, name, std::as_bytes(std::span{want->second}), XattrMode::any); !done) {
            failed("setxattr", done.error());
        }
    }
}

void TreeSettler::put_modes() {
    for (const LeftName& wanted : tree_.names) {
        const FilePast* past = past_.file(wanted.ino);
        const bool changed = past != nullptr && std::ranges::any_of(past->lines, [&](std::uint32_t i) { return past_.line(i).act == Act::chmod; });
        const std::uint64_t object = changed ? real(wanted.ino) : 0;
        const auto present = object == 0 ? std::nullopt : attributes(object);
        if (!present || (present->mode & 07777) == (wanted.mode & 07777)) continue;
        ++mended_;
        AttributeChange mode;
        mode.which = AttributeChange::mode;
        mode.new_mode = wanted.mode & 07777;
        set(Ino{object}, mode, "chmod");
    }
}

void TreeSettler::empty(Ino directory) {
    std::vector<std::pair<std::string, std::pair<Ino, bool>>> entries;
    const auto listed = fs_.read_directory(call_, directory, 0, [&](std::string_view name, Ino ino, std::uint32_t type, std::uint64_t) {
        if (name != "." && name != "..") entries.push_back({std::string{name}, {ino, S_ISDIR(type)}});
        return true;
    });
    if (!listed) return failed("list", listed.error());
    for (const auto& [name, what] : entries) {
        if (what.second) empty(what.first);
        const auto gone = what.second ? fs_.remove_directory(call_, directory, name) : fs_.unlink(call_, directory, name);
        if (!gone) failed("unlink", gone.error());
    }
}

} // namespace flashlab

#include "tools/drive/tree_salvage.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <sys/stat.h>

#include "fs/directory.h"
#include "fs/retry.h"

namespace flashlab {

namespace {

constexpr std::uint64_t piece_bytes = 64 * 1024;
constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t bytes_between_syncs = 16u << 20;

struct Name {
    std::string name;
    Ino ino;
};

struct Folder {
    Ino from, to;
    std::string path; ///< ends with '/'
};

class Salvager {
public:
    Salvager(Device& from, Device& to) : source_{from}, from_{from.fs()}, to_{to.fs()}, then_{from.ready_at()}, now_{to.ready_at()} {}

    /// An errno of the target ends it.
    FsResult<void> run() {
        std::deque<Folder> folders{{root_ino, root_ino, "/"}};
        std::vector<Folder> done;
        for (; !folders.empty(); folders.pop_front()) {
            done.push_back(folders.front());
            ++salvage_.directories;
            const std::vector<Name> names = names_of(folders.front());
            taken_.reset();
            for (const Name& name : names)
                if (const auto copied = copy_name(folders.front(), names, name, folders); !copied) return copied;
        }
        // Last, since every name that is made moves its folder's times, and a flag may forbid making any, of a file its second one, too.
        for (auto folder = done.rbegin(); folder != done.rend(); ++folder)
            if (const auto dressed = dress(folder->from, folder->to, folder->path); !dressed) return dressed;
        for (const Flagged& file : flagged_)
            if (!to_.set_file_flags(put(), file.ino, file.flags)) lose(file.path, "its flags");
        return sync();
    }
    Salvage& salvage() { return salvage_; }

private:
    [[nodiscard]] FsCall ask() const { return {.now = then_, .wall = {}, .may_override_suid = true, .access_times = AccessTimes::kept}; }
    [[nodiscard]] FsCall put(const Attributes* owner = nullptr) const {
        return {.now = now_,
                .wall = owner == nullptr ? FileTime{} : owner->born,
                .uid = owner == nullptr ? 0 : owner->uid,
                .gid = owner == nullptr ? 0 : owner->gid,
                .may_override_suid = true};
    }
    void lose(const std::string& path, std::string what) { salvage_.lost.push_back({path, std::move(what)}); }

    std::vector<Name> names_of(const Folder& folder) {
        std::vector<Name> names;
        const auto listed = from_.read_directory(ask(), folder.from, 0, [&](std::string_view name, Ino ino, std::uint32_t, std::uint64_t) {
            if (name != "." && name != "..") names.push_back({std::string{name}, ino});
            return true;
        });
        if (!listed) lose(folder.path, "names that cannot be read");
        return names;
    }

    template <class Work>
    auto patient(FsCall call, const Work& work) {
        auto result = until_done(call, work);
        now_ = std::max(now_, call.now);
        return result;
    }

    FsResult<void> sync() {
        unsynced_ = 0;
        auto all = to_.begin_sync_all(put());
        return all ? run_steps(**all) : std::unexpected(all.error());
    }
    FsResult<void> run_steps(SlowCall& call) {
        for (;;) {
            const auto step = call.step(now_);
            if (!step) return std::unexpected(step.error());
            if (const auto* done = std::get_if<Done>(&*step)) {
                now_ = std::max(now_, done->at);
                return {};
            }
            now_ = std::max(now_, std::get<ResumeAt>(*step).at);
        }
    }

    /// No file has this name, and none will: a whole one keeps its own.
    std::string name_of_damaged(const std::vector<Name>& names, const std::string& name) {
        if (!taken_) {
            taken_.emplace();
            for (const Name& one : names) taken_->insert(one.name);
        }
        for (int n = 1;; ++n) {
            const std::string suffix = n == 1 ? ".damaged" : fmt::format(".damaged-{}", n);
            std::string free = name.substr(0, Directory::longest_name - suffix.size()) + suffix;
            if (taken_->insert(free).second) return free;
        }
    }

    FsResult<void> copy_name(const Folder& folder, const std::vector<Name>& names, const Name& name, std::deque<Folder>& folders) {
        const std::string path = folder.path + name.name;
        const auto seen = from_.lookup(ask(), folder.from, name.name);
        if (!seen) {
            lose(path, "the whole of it");
            return {};
        }
        const Attributes& attributes = seen->value;
        if (const auto known = made_.find(attributes.ino.value()); known != made_.end()) {
            const std::string here = known->second.is_whole ? name.name : name_of_damaged(names, name.name);
            if (!known->second.is_whole) lose(path, fmt::format("it is called {} now, a name of a file with missing bytes", here));
            const auto linked = to_.link(put(), known->second.ino, folder.to, here);
            return linked ? FsResult<void>{} : std::unexpected(linked.error());
        }
        const auto made = make(folder, name.name, path, attributes);
        if (!made) return std::unexpected(made.error());
        if (made->value() == 0) return {}; // its target is lost: told
        if (S_ISDIR(attributes.mode)) {
            folders.push_back({attributes.ino, *made, path + "/"});
            return {};
        }
        ++salvage_.files;
        bool is_whole = true;
        if (S_ISREG(attributes.mode)) {
            const auto whole = copy_bytes(attributes, *made, path);
            if (!whole) return std::unexpected(whole.error());
            is_whole = *whole;
            if (!is_whole) {
                const std::string here = name_of_damaged(names, name.name);
                if (here != name.name + ".damaged") lose(path, fmt::format("it is called {} now", here));
                auto renamed = to_.begin_rename(put(), folder.to, name.name, folder.to, here, RenameMode::no_replace);
                if (!renamed) return std::unexpected(renamed.error());
                if (const auto done = run_steps(**renamed); !done) return done;
            }
        }
        if (attributes.links > 1) made_[attributes.ino.value()] = {*made, is_whole};
        return dress(attributes.ino, *made, path);
    }

    FsResult<Ino> make(const Folder& folder, const std::string& name, const std::string& path, const Attributes& attributes) {
        FsResult<Timed<Attributes>> made = std::unexpected(FsError{EIO});
        if (S_ISDIR(attributes.mode)) {
            made = to_.make_directory(put(&attributes), folder.to, name, attributes.mode);
        } else if (S_ISLNK(attributes.mode)) {
            const auto target = from_.read_link(ask(), attributes.ino);
            if (!target) {
                lose(path, "where it leads");
                return Ino{0};
            }
            made = to_.make_symlink(put(&attributes), folder.to, name, target->value);
        } else {
            made = to_.make_node(put(&attributes), folder.to, name, attributes.mode, attributes.rdev);
        }
        if (!made) return std::unexpected(made.error());
        now_ = std::max(now_, made->done);
        return made->value.ino;
    }

    /// False: bytes are missing.
    FsResult<bool> copy_bytes(const Attributes& file, Ino to, const std::string& path) {
        bool is_whole = true;
        std::vector<std::byte> bytes(piece_bytes);
        for (std::uint64_t at = 0; at < file.size;) {
            const auto data = from_.seek(ask(), file.ino, at, SeekWhat::data);
            if (!data) break; // ENXIO: a hole to the end
            at = *data / page_bytes * page_bytes;
            const auto piece = std::span{bytes}.first(static_cast<std::size_t>(std::min(piece_bytes, file.size - at)));
            const auto copied = copy_piece(file.ino, to, at, piece);
            if (!copied) return std::unexpected(copied.error());
            for (std::uint64_t page = at; !*copied && page < at + piece.size(); page += page_bytes) { // one by one
                const auto one = piece.first(static_cast<std::size_t>(std::min(page_bytes, file.size - page)));
                const auto got = copy_piece(file.ino, to, page, one);
                if (!got) return std::unexpected(got.error());
                if (*got) continue;
                lose(path, fmt::format("bytes {} to {}", page, page + one.size() - 1));
                is_whole = false;
            }
            at += piece.size();
            if (unsynced_ >= bytes_between_syncs)
                if (const auto synced = sync(); !synced) return std::unexpected(synced.error());
        }
        AttributeChange size;
        size.which = AttributeChange::size;
        size.new_size = file.size;
        const auto sized = patient(put(), [&](const FsCall& call) { return to_.change_attributes(call, to, size); });
        if (!sized) return std::unexpected(sized.error());
        return is_whole;
    }

    /// False: the source does not give it back.
    FsResult<bool> copy_piece(Ino from, Ino to, std::uint64_t at, std::span<std::byte> bytes) {
        const auto got = from_.read(ask(), from, at, bytes);
        source_.settle(source_.last_reserved_end());
        if (!got) return false;
        std::span<const std::byte> rest = bytes.first(got->value);
        while (!rest.empty()) {
            const auto written = patient(put(), [&](const FsCall& call) { return to_.write(call, to, at, rest); });
            if (!written) return std::unexpected(written.error());
            at += written->value;
            rest = rest.subspan(written->value);
            salvage_.bytes += written->value;
            unsynced_ += written->value;
        }
        return true;
    }

    /// Extended attributes, owner, mode, times, flags.
    FsResult<void> dress(Ino from, Ino to, const std::string& path) {
        const auto attributes = from_.attributes(ask(), from);
        if (!attributes) {
            lose(path, "its attributes");
            return {};
        }
        copy_xattrs(from, to, path);
        const Attributes& a = attributes->value;
        AttributeChange change;
        change.which = AttributeChange::uid | AttributeChange::gid | AttributeChange::atime | AttributeChange::mtime;
        change.new_uid = a.uid;
        change.new_gid = a.gid;
        change.new_atime = a.accessed;
        change.new_mtime = a.modified;
        auto changed = patient(put(&a), [&](const FsCall& call) { return to_.change_attributes(call, to, change); });
        if (changed && !S_ISLNK(a.mode)) { // behind the owner, whose change takes set-id bits away
            change.which = AttributeChange::mode;
            change.new_mode = a.mode;
            changed = patient(put(&a), [&](const FsCall& call) { return to_.change_attributes(call, to, change); });
        }
        if (!changed) return std::unexpected(changed.error());
        if (a.flags != 0) flagged_.push_back({to, a.flags, path});
        return {};
    }

    void copy_xattrs(Ino from, Ino to, const std::string& path) {
        const auto names = from_.list_xattrs(ask(), from);
        if (!names) return lose(path, "its extended attributes");
        for (std::string_view rest = names->value; !rest.empty();) {
            const std::string_view name = rest.substr(0, rest.find('\0'));
            rest.remove_prefix(std::min(rest.size(), name.size() + 1));
            const auto value = from_.get_xattr(ask(), from, name);
            if (!value || !to_.set_xattr(put(), to, name, value->value, XattrMode::any)) lose(path, fmt::format("its extended attribute {}", name));
        }
    }

    struct Made {
        Ino ino{0};
        bool is_whole = true;
    };
    struct Flagged {
        Ino ino{0};
        std::uint32_t flags = 0;
        std::string path;
    };
    Device& source_;
    FileSystem& from_;
    FileSystem& to_;
    SimTime then_, now_;
    std::uint64_t unsynced_ = 0;
    std::map<std::uint64_t, Made> made_;         ///< files with several names, by inode of the source
    std::optional<std::set<std::string>> taken_; ///< names of the folder at hand, and those given in it; none: nobody has asked
    std::vector<Flagged> flagged_;
    Salvage salvage_;
};

} // namespace

std::expected<Salvage, std::string> salvage_tree(Device& from, Device& to) {
    Salvager salvager{from, to};
    if (const auto done = salvager.run(); !done)
        return std::unexpected(fmt::format("the new file system does not take it: {}", std::strerror(done.error().error_number)));
    return std::move(salvager.salvage());
}

} // namespace flashlab

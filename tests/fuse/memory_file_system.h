/// A file system of maps and strings: just enough of FileSystem to run a real mount without a device below it.
///
/// Idea       Every call is the obvious container operation; writes take `write_time`, syncs two steps of `step_time`, so that answers have something
///            to wait for.
/// Invariant  What it was asked is recorded (wall order): references, opens, steps and their times.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "base/contract.h"
#include "fs/file_system.h"

namespace flashlab::test {

class MemoryFileSystem final : public FileSystem {
public:
    Duration write_time{0};
    SimTime room_at = sim_start; ///< writes before are asked to come again then
    Duration step_time{0};
    std::size_t writes_at_most = SIZE_MAX;             ///< of each write's bytes
    std::atomic<HostCache> cache = HostCache::delayed; ///< asked outside of the monitor, too
    bool break_contract_on_mkdir = false;
    bool break_contract_on_tick = false;
    bool wants_ticks = true; ///< false: nothing is ever due
    unsigned ticks = 0;
    std::vector<SimTime> resumed_for; ///< when steps asked to be resumed
    std::vector<SimTime> resumed_at;  ///< and when they were
    unsigned syncs = 0;
    std::atomic<unsigned> whole_syncs = 0;
    unsigned capability_questions = 0;
    std::map<std::uint64_t, std::int64_t> references;
    std::map<std::uint64_t, std::int64_t> opens;

    MemoryFileSystem() {
        Node root;
        root.attributes.ino = root_ino;
        root.attributes.mode = S_IFDIR | 0755;
        root.attributes.links = 2;
        nodes_[1] = root;
    }

    FsResult<Timed<Attributes>> lookup(const FsCall& call, Ino parent, std::string_view name) override {
        const Ino found = find(parent, name);
        if (found.value() == 0) return std::unexpected(FsError{ENOENT});
        ++references[found.value()];
        return Timed<Attributes>{nodes_.at(found.value()).attributes, call.now};
    }
    void forget(Ino ino, std::uint64_t count, SimTime) override { references[ino.value()] -= static_cast<std::int64_t>(count); }
    FsResult<Timed<Attributes>> make_node(const FsCall& call, Ino parent, std::string_view name, std::uint32_t mode, std::uint32_t) override {
        return make(call, parent, name, mode & ~call.umask);
    }
    FsResult<Timed<Attributes>> make_unnamed(const FsCall&, Ino, std::uint32_t, bool) override { return std::unexpected(FsError{EOPNOTSUPP}); }
    FsResult<Timed<Attributes>> make_directory(const FsCall& call, Ino parent, std::string_view name, std::uint32_t mode) override {
        ensure(!break_contract_on_mkdir, "a promise broken on purpose");
        return make(call, parent, name, mode & ~call.umask);
    }
    FsResult<Timed<Attributes>> make_symlink(const FsCall& call, Ino parent, std::string_view name, std::string_view target) override {
        auto made = make(call, parent, name, S_IFLNK | 0777);
        if (made) nodes_.at(made->value.ino.value()).data = target;
        return made;
    }
    FsResult<Timed<Attributes>> link(const FsCall& call, Ino ino, Ino parent, std::string_view name) override {
        nodes_.at(parent.value()).names.insert_or_assign(std::string{name}, ino);
        ++nodes_.at(ino.value()).attributes.links;
        return lookup(call, parent, name);
    }
    FsResult<SimTime> unlink(const FsCall& call, Ino parent, std::string_view name) override {
        const Ino ino = find(parent, name);
        if (ino.value() == 0) return std::unexpected(FsError{ENOENT});
        nodes_.at(parent.value()).names.erase(std::string{name});
        --nodes_.at(ino.value()).attributes.links;
        return call.now;
    }
    FsResult<SimTime> remove_directory(const FsCall& call, Ino parent, std::string_view name) override {
        const Ino ino = find(parent, name);
        if (ino.value() != 0 && !nodes_.at(ino.value()).names.empty()) return std::unexpected(FsError{ENOTEMPTY});
        return unlink(call, parent, name);
    }
    FsResult<std::unique_ptr<SlowCall>> begin_rename(const FsCall&, Ino from_parent, std::string_view from, Ino to_parent, std::string_view to,
                                                     RenameMode) override {
        auto& source = nodes_.at(from_parent.value()).names;
        const Ino moved = source.at(std::string{from});
        source.erase(std::string{from});
        nodes_.at(to_parent.value()).names.insert_or_assign(std::string{to}, moved);
        return two_steps();
    }
    FsResult<Timed<std::string>> read_link(const FsCall& call, Ino ino) override { return Timed<std::string>{nodes_.at(ino.value()).data, call.now}; }
    FsResult<SimTime> read_directory(const FsCall& call, Ino ino, std::uint64_t offset, const EntrySink& sink) override {
        struct Listed {
            std::string name;
            Ino ino;
        };
        std::map<std::uint64_t, Listed> in_order{{1, {".", ino}}, {2, {"..", ino}}}; // by cookie: stable while names come and go
        for (const auto& [name, entry] : nodes_.at(ino.value()).names) in_order.insert({3 + (std::hash<std::string>{}(name) >> 2), {name, entry}});
        for (auto next = in_order.upper_bound(offset); next != in_order.end(); ++next) {
            const Listed& listed = next->second;
            if (!sink(listed.name, listed.ino, nodes_.at(listed.ino.value()).attributes.mode & S_IFMT, next->first)) break;
        }
        return call.now;
    }

    FsResult<Timed<Attributes>> attributes(const FsCall& call, Ino ino) override {
        return Timed<Attributes>{nodes_.at(ino.value()).attributes, call.now};
    }
    FsResult<Timed<Attributes>> change_attributes(const FsCall& call, Ino ino, const AttributeChange& change) override {
        Node& node = nodes_.at(ino.value());
        if ((change.which & AttributeChange::mode) != 0) node.attributes.mode = (node.attributes.mode & S_IFMT) | (change.new_mode & 07777);
        if ((change.which & AttributeChange::uid) != 0) node.attributes.uid = change.new_uid;
        if ((change.which & AttributeChange::size) != 0) resize(node, change.new_size);
        if ((change.which & AttributeChange::mtime) != 0) node.attributes.modified = change.new_mtime;
        return attributes(call, ino);
    }
    FsResult<Timed<std::vector<std::byte>>> get_xattr(const FsCall& call, Ino ino, std::string_view name) override {
        if (name == "security.capability") ++capability_questions;
        const auto& all = nodes_.at(ino.value()).xattrs;
        const auto found = all.find(std::string{name});
        if (found == all.end()) return std::unexpected(FsError{ENODATA});
        return Timed<std::vector<std::byte>>{found->second, call.now};
    }
    FsResult<SimTime> set_xattr(const FsCall& call, Ino ino, std::string_view name, std::span<const std::byte> value, XattrMode) override {
        nodes_.at(ino.value()).xattrs[std::string{name}].assign(value.begin(), value.end());
        return call.now;
    }
    FsResult<SimTime> remove_xattr(const FsCall& call, Ino ino, std::string_view name) override {
        if (nodes_.at(ino.value()).xattrs.erase(std::string{name}) == 0) return std::unexpected(FsError{ENODATA});
        return call.now;
    }
    FsResult<Timed<std::string>> list_xattrs(const FsCall& call, Ino ino) override {
        std::string names;
        for (const auto& [name, value] : nodes_.at(ino.value()).xattrs) names += name + '\0';
        return Timed<std::string>{names, call.now};
    }
    FsResult<SimTime> set_file_flags(const FsCall& call, Ino ino, std::uint32_t flags) override {
        nodes_.at(ino.value()).attributes.flags = flags;
        nodes_.at(ino.value()).attributes.changed = call.wall;
        return call.now;
    }

    FsResult<SimTime> open_file(const FsCall& call, Ino ino, const OpenMode&) override {
        ++opens[ino.value()];
        return call.now;
    }
    void close_file(const FsCall&, Ino ino, bool) override { --opens[ino.value()]; }
    FsResult<Timed<std::size_t>> read(const FsCall& call, Ino ino, std::uint64_t offset, std::span<std::byte> to) override {
        const std::string& data = nodes_.at(ino.value()).data;
        if (offset >= data.size()) return Timed<std::size_t>{0, call.now};
        const std::size_t bytes = std::min(to.size(), data.size() - offset);
        std::memcpy(to.data(), data.data() + offset, bytes);
        return Timed<std::size_t>{bytes, call.now};
    }
    FsResult<Timed<std::size_t>> write(const FsCall& call, Ino ino, std::uint64_t offset, std::span<const std::byte> from) override {
        if (call.now < room_at) return std::unexpected(again_at(room_at));
        Node& node = nodes_.at(ino.value());
        from = from.first(std::min(from.size(), writes_at_most));
        if (offset + from.size() > node.data.size()) resize(node, offset + from.size());
        std::memcpy(node.data.data() + offset, from.data(), from.size());
        return Timed<std::size_t>{from.size(), call.now + write_time};
    }
    FsResult<std::unique_ptr<SlowCall>> begin_sync(const FsCall&, Ino, SyncScope, WriteErrorMark*) override {
        ++syncs;
        return two_steps();
    }
    FsResult<std::unique_ptr<SlowCall>> begin_sync_all(const FsCall&) override {
        ++whole_syncs;
        return two_steps();
    }
    FsResult<std::unique_ptr<BlockDevice>> device_of(Ino) override { return std::unexpected(FsError{EINVAL}); }
    FsResult<SimTime> allocate(const FsCall& call, Ino ino, FallocateMode mode, std::uint64_t offset, std::uint64_t bytes) override {
        Node& node = nodes_.at(ino.value());
        if (mode == FallocateMode::punch_hole)
            std::fill_n(node.data.begin() + static_cast<std::ptrdiff_t>(offset), bytes, '\0');
        else
            resize(node, std::max<std::uint64_t>(node.data.size(), offset + bytes));
        return call.now;
    }
    FsResult<std::uint64_t> seek(const FsCall&, Ino ino, std::uint64_t offset, SeekWhat what) override {
        const std::uint64_t size = nodes_.at(ino.value()).data.size();
        if (offset >= size) return std::unexpected(FsError{ENXIO});
        return what == SeekWhat::data ? offset : size;
    }
    FsResult<Timed<std::uint64_t>> copy_range(const FsCall& call, Ino from, std::uint64_t from_offset, Ino to, std::uint64_t to_offset,
                                              std::uint64_t bytes) override {
        const std::string piece = nodes_.at(from.value()).data.substr(from_offset, bytes);
        const auto written = write(call, to, to_offset, std::as_bytes(std::span{piece}));
        if (!written) return std::unexpected(written.error());
        return Timed<std::uint64_t>{written->value, written->done};
    }

    WriteErrorMark write_error_mark(Ino) override { return {}; }
    HostCache host_cache() const override { return cache; }
    FsUsage usage() const override { return {.data_pages = 1000, .data_pages_free = 400, .inodes = nodes_.size(), .inodes_free = 500}; }
    std::string label() const override { return label_; }
    FsResult<SimTime> set_label(const FsCall& call, std::string_view label) override {
        label_ = label;
        return call.now;
    }
    FsResult<Timed<std::uint64_t>> trim_free(const FsCall& call, std::uint64_t, std::uint64_t, std::uint64_t) override {
        return Timed<std::uint64_t>{400 * 4096, call.now};
    }
    SimTime tick(SimTime now) override {
        ++ticks;
        ensure(!break_contract_on_tick, "a promise broken on purpose");
        return wants_ticks ? now + std::chrono::milliseconds{50} : sim_never;
    }
    std::vector<UnsyncedRange> unsynced() const override { return {}; }
    FsResult<SimTime> shut_down(SimTime now) override { return now; }
    std::vector<FsckProblem> check() override { return {}; }
    DataCheck check_data(const std::function<bool(std::uint64_t)>&, SimTime) override { return {}; }
    std::vector<std::string> paths_of(Ino, std::size_t) const override { return {}; }

private:
    struct Node {
        Attributes attributes;
        std::map<std::string, Ino> names;
        std::string data;
        std::map<std::string, std::vector<std::byte>> xattrs;
    };
    class TwoSteps final : public SlowCall {
    public:
        explicit TwoSteps(MemoryFileSystem& fs) : fs_{fs} {}
        StepResult step(SimTime now) override {
            if (started_) {
                fs_.resumed_at.push_back(now);
                return Done{now + fs_.step_time};
            }
            started_ = true;
            fs_.resumed_for.push_back(now + fs_.step_time);
            return ResumeAt{now + fs_.step_time};
        }

    private:
        MemoryFileSystem& fs_;
        bool started_ = false;
    };

    std::unique_ptr<SlowCall> two_steps() { return std::make_unique<TwoSteps>(*this); }
    Ino find(Ino parent, std::string_view name) const {
        if (name == "." || name == "..") return parent;
        const auto& names = nodes_.at(parent.value()).names;
        const auto found = names.find(std::string{name});
        return found == names.end() ? Ino{0} : found->second;
    }
    FsResult<Timed<Attributes>> make(const FsCall& call, Ino parent, std::string_view name, std::uint32_t mode) {
        if (find(parent, name).value() != 0) return std::unexpected(FsError{EEXIST});
        Node node;
        node.attributes.ino = Ino{next_ino_++};
        node.attributes.mode = mode;
        node.attributes.links = S_ISDIR(mode) ? 2 : 1;
        node.attributes.uid = call.uid;
        node.attributes.gid = call.gid;
        node.attributes.modified = node.attributes.changed = call.wall;
        nodes_.at(parent.value()).names.emplace(std::string{name}, node.attributes.ino);
        nodes_[node.attributes.ino.value()] = node;
        return lookup(call, parent, name);
    }
    static void resize(Node& node, std::uint64_t size) {
        node.data.resize(size);
        node.attributes.size = size;
        node.attributes.blocks_512 = (size + 511) / 512;
    }

    std::map<std::uint64_t, Node> nodes_;
    std::uint64_t next_ino_ = 2;
    std::string label_ = "memory";
};

} // namespace flashlab::test

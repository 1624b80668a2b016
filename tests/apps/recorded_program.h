/// A program that a test writes call by call, as the history that a mount would have recorded; and what a state of it holds.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <sys/stat.h>

#include "crash/apps/left_state.h"
#include "crash/apps/state_order.h"
#include "tests/support/catch.h"

namespace flashlab::test {

inline constexpr auto all_models = {"strict", "ext4", "xfs", "btrfs", "posix"};

class RecordedProgram {
public:
    static constexpr std::uint64_t root = root_number;

    std::uint64_t create(const std::string& name, std::uint64_t in = root) { return make(name, in, S_IFREG | 0644); }
    std::uint64_t mkdir(const std::string& name, std::uint64_t in = root) { return make(name, in, S_IFDIR | 0755); }
    void write(std::uint64_t ino, std::uint64_t offset, const std::string& data) {
        add({.act = Act::write, .ino = ino, .offset = offset, .data = data});
    }
    void append(std::uint64_t ino, const std::string& data) {
        write(ino, sizes_[ino], data);
        sizes_[ino] += data.size();
    }
    void truncate(std::uint64_t ino, std::uint64_t bytes) {
        add({.act = Act::truncate, .ino = ino, .bytes = bytes});
        sizes_[ino] = bytes;
    }
    void extend(std::uint64_t ino, std::uint64_t bytes) { add({.act = Act::extend, .ino = ino, .bytes = bytes}); }
    /// fallocate(FALLOC_FL_KEEP_SIZE)
    void reserve(std::uint64_t ino, std::uint64_t bytes) { add({.act = Act::extend, .ino = ino, .bytes = bytes, .mode = 1}); }
    void punch(std::uint64_t ino, std::uint64_t offset, std::uint64_t bytes) {
        add({.act = Act::zero, .ino = ino, .offset = offset, .bytes = bytes});
    }
    void chmod(std::uint64_t ino, std::uint32_t mode) { add({.act = Act::chmod, .ino = ino, .mode = mode}); }
    /// `meanwhile`: so many of the calls before came while it was under way.
    void close(std::uint64_t ino, std::uint64_t meanwhile = 0) { add({.act = Act::close, .ino = ino, .bytes = meanwhile}); }
    void fsync(std::uint64_t ino, std::uint64_t meanwhile = 0) { add({.act = Act::fsync, .ino = ino, .bytes = meanwhile}); }
    void fdatasync(std::uint64_t ino, std::uint64_t meanwhile = 0) { add({.act = Act::fdatasync, .ino = ino, .bytes = meanwhile}); }
    void sync_all(std::uint64_t meanwhile = 0) { add({.act = Act::sync_all, .bytes = meanwhile}); }
    void rename(const std::string& from, const std::string& to, std::uint64_t in = root, std::uint64_t to_in = 0) {
        add({.act = Act::rename, .parent = in, .to_parent = to_in == 0 ? in : to_in, .name = from, .to_name = to});
    }
    void exchange(const std::string& one, const std::string& other, std::uint64_t in = root, std::uint64_t other_in = root) {
        add({.act = Act::exchange, .parent = in, .to_parent = other_in, .name = one, .to_name = other});
    }
    void set_xattr(std::uint64_t ino, const std::string& name, const std::string& value) {
        add({.act = Act::set_xattr, .ino = ino, .name = name, .data = value});
    }
    void link(std::uint64_t ino, const std::string& name, std::uint64_t in = root) {
        add({.act = Act::link, .ino = ino, .parent = in, .name = name});
    }
    void unlink(const std::string& name, std::uint64_t in = root) { add({.act = Act::unlink, .parent = in, .name = name}); }
    void rmdir(const std::string& name, std::uint64_t in = root) { add({.act = Act::rmdir, .parent = in, .name = name}); }
    void promise(const std::string& line) { add({.act = Act::promise, .data = line}); }
    /// What is before is durable, and no cut comes there.
    void prepared() { add({.act = Act::sync_all}); }
    void wait(std::uint64_t milliseconds) { now_ += milliseconds; }

    [[nodiscard]] const std::vector<Operation>& history() const { return history_; }

private:
    std::uint64_t make(const std::string& name, std::uint64_t in, std::uint32_t mode) {
        add({.act = Act::make, .ino = ++last_, .parent = in, .mode = mode, .name = name});
        return last_;
    }
    void add(Operation operation) {
        operation.at_ms = now_;
        history_.push_back(std::move(operation));
    }
    std::vector<Operation> history_;
    std::map<std::uint64_t, std::uint64_t> sizes_;
    std::uint64_t last_ = root, now_ = 0;
};

/// A state as the program finds it after the cut.
class AfterCut {
public:
    AfterCut(const Past& past, const LeftState& state) : past_{past}, state_{state} {}

    [[nodiscard]] bool has(const std::string& path) const { return find(path) != nullptr; }
    /// The content; nothing: no such file.
    [[nodiscard]] std::optional<std::string> read(const std::string& path) const {
        const LeftName* name = find(path);
        if (name == nullptr || !S_ISREG(name->mode)) return std::nullopt;
        const LeftFile& file = state_.tree().files.at(name->ino);
        std::string content(file.size, '\0');
        for (const LeftPage& page : file.pages) {
            std::array<std::byte, page_bytes> bytes{}, older{};
            past_.compose(file.ino, page.page, page.version, bytes);
            past_.compose(file.ino, page.page, page.sectors == 0xff ? page.version : page.older, older);
            for (std::size_t i = 0; i < page_bytes; ++i) {
                const std::size_t at = std::size_t{page.page} * page_bytes + i;
                if (at < content.size()) content[at] = static_cast<char>((page.sectors >> (i / 512) & 1) != 0 ? bytes[i] : older[i]);
            }
        }
        return content;
    }
    /// 0: no such name.
    [[nodiscard]] std::uint32_t mode_of(const std::string& path) const {
        const LeftName* name = find(path);
        return name == nullptr ? 0 : name->mode & 07777;
    }
    /// Empty: no such name, or no such attribute.
    [[nodiscard]] std::string xattr_of(const std::string& path, const std::string& attribute) const {
        const LeftName* name = find(path);
        const auto file = name == nullptr ? state_.tree().files.end() : state_.tree().files.find(name->ino);
        if (file == state_.tree().files.end()) return {};
        const auto found = file->second.xattrs.find(attribute);
        return found == file->second.xattrs.end() ? std::string{} : found->second;
    }
    [[nodiscard]] std::vector<std::string> promises() const {
        std::vector<std::string> lines;
        for (std::uint32_t i = 0; i < state_.cut(); ++i)
            if (past_.line(i).act == Act::promise) lines.push_back(past_.line(i).data);
        return lines;
    }
    [[nodiscard]] bool promised(const std::string& line) const {
        const auto all = promises();
        return std::ranges::find(all, line) != all.end();
    }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const LeftName& name : state_.tree().names) names.push_back(name.path);
        return names;
    }

private:
    [[nodiscard]] const LeftName* find(const std::string& path) const {
        for (const LeftName& name : state_.tree().names)
            if (name.path == path) return &name;
        return nullptr;
    }
    const Past& past_;
    const LeftState& state_;
};

using Check = std::function<bool(const AfterCut&)>;

/// The first state, among so many in the order of the explorer, for which the check fails.
inline std::optional<CutState> first_failure(const RecordedProgram& program, const std::string& model, const Check& check, int states = 10'000) {
    const Past past{program.history()};
    const Persistence persistence = *find_persistence(model);
    StateOrder order{past, persistence, 1};
    std::set<std::uint64_t> seen;
    for (int i = 0; i < states; ++i) {
        CutState wanted = order.next();
        const auto durable = order.unsynced(wanted.cut).durable;
        const LeftState state{past, persistence, durable, wanted};
        if (!seen.insert(state.tree().id * 31 + wanted.cut).second) continue;
        if (!check(AfterCut{past, state})) return wanted;
    }
    return std::nullopt;
}

} // namespace flashlab::test

#include "tools/faults/fault_plan.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <fnmatch.h>

#include "base/contract.h"

namespace flashlab {

namespace {

constexpr std::uint64_t most_named = 100;

int errno_of(FaultKind kind) { return kind == FaultKind::enospc || kind == FaultKind::host_enospc ? ENOSPC : EIO; }

/// After such a call a file may have another path.
bool changes_names(FsOp op) {
    switch (op) {
    case FsOp::mknod:
    case FsOp::mkdir:
    case FsOp::symlink:
    case FsOp::unlink:
    case FsOp::rmdir:
    case FsOp::rename:
    case FsOp::link:
    case FsOp::create:
        return true;
    default:
        return false;
    }
}

bool fits(const std::string& glob, const std::string& path) {
    if (glob == "*") return true;
    if (path.empty()) return false;
    const std::string last = path.substr(path.rfind('/') + 1);
    return ::fnmatch(glob.c_str(), path.c_str(), 0) == 0 || ::fnmatch(glob.c_str(), path.c_str() + 1, 0) == 0 ||
           ::fnmatch(glob.c_str(), last.c_str(), 0) == 0;
}

} // namespace

std::expected<std::uint64_t, std::string> FaultPlan::add(const FaultRule& rule) {
    ensure(around_.has_value(), "FaultPlan: it knows its mount before it has rules");
    const Geometry& chips = around_->chips;
    if (rule.die && *rule.die >= chips.dies())
        return std::unexpected(fmt::format("die={}: this device has the dies 0 to {}", *rule.die, chips.dies() - 1));
    if (rule.block && *rule.block >= chips.blocks())
        return std::unexpected(fmt::format("block={}: this device has the blocks 0 to {}", *rule.block, chips.blocks() - 1));
    if (rule.is_a_lie() && !around_->can_lie)
        return std::unexpected(std::string{"this drive has nothing to lie about: what it answers survives a power cut. Make it with a volatile write "
                                           "buffer: mkfs --set dram.write_buffer_bytes=8M --set dram.protected=0"});
    entries_.push_back({++last_number_, rule});
    return last_number_;
}

std::optional<FaultPlan::Entry> FaultPlan::clear(std::uint64_t number) {
    const auto entry = std::ranges::find(entries_, number, &Entry::number);
    if (entry == entries_.end()) return std::nullopt;
    const Entry cleared = *entry;
    entries_.erase(entry);
    return cleared;
}

bool FaultPlan::has_flash_rules() const {
    return std::ranges::any_of(entries_, [](const Entry& entry) { return entry.rule.is_about_flash(); });
}

bool FaultPlan::has_image_rules() const {
    return std::ranges::any_of(entries_, [](const Entry& entry) { return entry.rule.is_about_image(); });
}

bool FaultPlan::has_lies() const {
    return std::ranges::any_of(entries_, [](const Entry& entry) { return entry.rule.is_a_lie(); });
}

const std::string& FaultPlan::path_of(Ino ino) {
    const auto [at, is_new] = paths_.try_emplace(ino.value());
    if (is_new && around_->path_of) at->second = around_->path_of(ino);
    return at->second;
}

bool FaultPlan::matches(const FaultRule& rule, std::string_view op, Ino ino) {
    if (!rule.is_about_calls() || (rule.op != "any" && rule.op != op)) return false;
    if (rule.ino && *rule.ino != ino.value()) return false;
    return rule.path == "*" || fits(rule.path, path_of(ino));
}

bool FaultPlan::strikes(Entry& entry, Ino ino, int error) {
    if (!entry.rule.strikes(++entry.seen)) return false;
    ++entry.struck;
    const bool is_named = ino.value() != 0 && (entry.rule.path != "*" || entry.struck <= most_named); // a path costs a walk through all names
    if (tell_) tell_({now_, entry.number, entry.rule.text(), ino, is_named ? path_of(ino) : std::string{}, error});
    return true;
}

RequestFaults::Verdict FaultPlan::on_request(FsOp op, Ino ino, SimTime now) {
    now_ = std::max(now_, now);
    Verdict verdict;
    if (entries_.empty()) return verdict;
    const std::string_view name = fs_op_names[static_cast<std::size_t>(op)];
    for (Entry& entry : entries_) {
        const FaultRule& rule = entry.rule;
        if (rule.op == "writeback" || !matches(rule, name, ino)) continue;
        const int error = rule.kind == FaultKind::stall ? 0 : errno_of(rule.kind);
        if (!strikes(entry, ino, error)) continue;
        if (verdict.error == 0) verdict.error = error;
        verdict.stall += rule.stall;
    }
    if (op == FsOp::fsync && verdict.error != 0) failing_sync_ = {ino, verdict.error};
    if (changes_names(op)) paths_.clear(); // it runs after this: whoever asks next asks anew
    return verdict;
}

int FaultPlan::write_back_fails(Ino ino) {
    if (failing_sync_.second != 0 && failing_sync_.first == ino) return failing_sync_.second;
    for (Entry& entry : entries_) {
        if (entry.rule.op != "writeback" || !matches(entry.rule, "writeback", ino)) continue;
        if (const int error = errno_of(entry.rule.kind); strikes(entry, ino, error)) return error;
    }
    return 0;
}

void FaultPlan::page_reverted(Ino ino, std::uint64_t offset, std::uint64_t bytes) {
    if (around_ && around_->drop_kernel_pages) around_->drop_kernel_pages(ino, offset, bytes);
}

bool FaultPlan::flash_strikes(FaultKind kind, BlockId block) {
    bool fails = false;
    const Geometry& chips = around_->chips;
    const std::uint32_t die = chips.die_of(chips.plane_of(block)).value();
    for (Entry& entry : entries_) {
        const FaultRule& rule = entry.rule;
        if (rule.kind != kind && rule.kind != FaultKind::die_dead) continue;
        if ((rule.die && *rule.die != die) || (rule.block && *rule.block != block.value())) continue;
        fails = strikes(entry, Ino{0}, 0) || fails;
    }
    return fails;
}

bool FaultPlan::program_fails(Ppn page) { return flash_strikes(FaultKind::program_fail, around_->chips.block_of(page)); }
bool FaultPlan::erase_fails(BlockId block) { return flash_strikes(FaultKind::erase_fail, block); }
bool FaultPlan::read_fails(Ppn page) { return flash_strikes(FaultKind::bit_rot, around_->chips.block_of(page)); }

/// Counts nothing: the operations that follow do.
bool FaultPlan::die_is_dead(DieId die) const {
    return std::ranges::any_of(entries_, [&](const Entry& entry) {
        return entry.rule.kind == FaultKind::die_dead && entry.rule.die == die.value() && entry.rule.strikes(entry.seen + 1);
    });
}

bool FaultPlan::lies(FaultKind kind) {
    bool does = false;
    for (Entry& entry : entries_)
        if (entry.rule.kind == kind) does = strikes(entry, Ino{0}, 0) || does;
    return does;
}

bool FaultPlan::would_tear() const {
    return std::ranges::any_of(entries_, [](const Entry& e) { return e.rule.kind == FaultKind::lie_tear && e.rule.strikes(e.seen + 1); });
}

int FaultPlan::image_write_fails() {
    for (Entry& entry : entries_) {
        if (!entry.rule.is_about_image()) continue;
        if (const int error = errno_of(entry.rule.kind); strikes(entry, Ino{0}, error)) return error;
    }
    return 0;
}

} // namespace flashlab

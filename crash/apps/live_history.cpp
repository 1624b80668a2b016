#include "crash/apps/live_history.h"

#include <algorithm>

namespace flashlab {

LiveHistory::LiveHistory(FileSystem& below, std::uint64_t most_bytes, Milliseconds clock)
    : below_{below}, most_bytes_{most_bytes}, clock_{std::move(clock)}, base_{below, most_bytes},
      recorded_{below, [this](Operation&& operation) { note(std::move(operation)); }, [this] { return forgotten_ + lines_.size(); },
                [this](const RecordingFileSystem::Planned* planned) { return planned == nullptr ? std::nullopt : before(*planned); }} {
    recorded_.watch_lookups([this](Ino parent, std::string_view name, Ino found) { base_.note_seen(found.value(), parent.value(), name); });
}

void LiveHistory::clear() {
    forgotten_ += lines_.size();
    lines_.clear();
    base_.clear();
    bytes_ = 0;
    is_synced_ = false;
}

/// The bound is reached: everything becomes durable, as when a file system commits because it needs room.
std::optional<FsError> LiveHistory::sync_first(const FsCall& call) {
    if (!own_sync_) {
        auto begun = below_.begin_sync_all(call);
        if (!begun) return std::nullopt; // the call itself will fail, too
        own_sync_ = std::move(*begun);
        own_sync_began_ = changes_;
        ++own_syncs_;
    }
    const auto step = own_sync_->step(call.now);
    const auto* resume = step ? std::get_if<ResumeAt>(&*step) : nullptr;
    if (resume != nullptr) return again_at(std::max(resume->at, call.now + Duration{1}));
    own_sync_.reset();
    if (!step) return std::nullopt;
    if (own_sync_began_ == changes_) {
        clear();
        return std::nullopt;
    }
    return again_at(call.now + Duration{1}); // a call that cannot wait changed a name meanwhile: the next sync will reach it
}

std::optional<FsError> LiveHistory::before(const RecordingFileSystem::Planned& planned) {
    const Act act = planned.operation.act;
    if (act == Act::sync_all) {
        syncs_overlap_ = sync_began_.has_value();
        sync_began_ = changes_;
        return std::nullopt;
    }
    if (is_synced_ && lines_.back().done_ns <= ns_since_start(planned.call.now)) clear();
    if (planned.may_wait && !in_cut_ && (bytes() > most_bytes_ || is_blank() || own_sync_))
        if (const auto again = sync_first(planned.call)) return again;
    if (!is_blank()) base_.learn(planned.call, planned.operation);
    return std::nullopt;
}

void LiveHistory::note(Operation operation) {
    if (operation.act == Act::sync_all) {
        const bool covers_all = sync_began_ == changes_ && !syncs_overlap_;
        sync_began_.reset();
        if (in_cut_) return;
        is_synced_ = covers_all;
    } else {
        is_synced_ = false;
        changes_ += is_sync(operation.act) ? 0 : 1;
        if (is_blank()) return;
    }
    if (operation.act == Act::rename || operation.act == Act::exchange)
        if (!base_.knows(operation.parent, operation.name) || !base_.knows(operation.to_parent, operation.to_name))
            return base_.forgo(); // it began before the last clear(): nothing says any more what it met
    if (operation.act == Act::make) base_.note_made(operation.ino);
    if (operation.act == Act::make || operation.act == Act::link) base_.note_seen(operation.ino, operation.parent, operation.name);
    bytes_ += sizeof(Operation) + operation.name.size() + operation.to_name.size() + operation.data.size();
    operation.at_ms = clock_();
    lines_.push_back(std::move(operation));
}

std::vector<Operation> LiveHistory::history(SimTime at) const {
    if (is_blank()) return {{.act = Act::sync_all}};
    std::vector<Operation> all = base_.lines();
    std::vector<std::size_t> begins; // where each line of lines_ is in `all`, or would be
    begins.reserve(lines_.size());
    for (const Operation& line : lines_) {
        const std::size_t i = begins.size();
        begins.push_back(all.size());
        if (line.act == Act::sync_all && line.done_ns > ns_since_start(at)) continue;
        all.push_back(line);
        if (is_sync(line.act) || line.act == Act::close) all.back().bytes = begins[i] - begins[i - std::min<std::size_t>(i, line.bytes)];
    }
    all.push_back({.act = Act::promise, .at_ms = clock_()});
    return all;
}

} // namespace flashlab

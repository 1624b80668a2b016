#include "crash/fs/seeded_fs_bugs.h"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "crash/fs/forwarding_file_system.h"
#include "crash/lying_ftl.h"
#include "ftl/forwarding_device.h"

namespace flashlab {

namespace {

struct AtOnce final : SlowCall {
    StepResult step(SimTime now) override { return Done{now}; }
};

// --- the file system ---------------------------------------------------------------------------------------------------------------

struct SyncsNothing : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FsResult<std::unique_ptr<SlowCall>> begin_sync(const FsCall&, Ino, SyncScope, WriteErrorMark*) override { return std::make_unique<AtOnce>(); }
};

/// fdatasync leaves out the size that a file has grown to.
struct ForgetsGrownSizes : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FsResult<std::unique_ptr<SlowCall>> begin_sync(const FsCall& c, Ino ino, SyncScope scope, WriteErrorMark* mark) override {
        const auto now = real_->attributes(c, ino);
        std::uint64_t& synced = synced_[ino];
        const bool has_grown = now && now->value.size > synced;
        if (scope == SyncScope::data_only && has_grown) return std::make_unique<AtOnce>();
        if (now) synced = now->value.size;
        return real_->begin_sync(c, ino, scope, mark);
    }
    std::map<Ino, std::uint64_t> synced_;
};

struct AnswersCreatesEarly : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FsResult<Timed<Attributes>> make_node(const FsCall& c, Ino parent, std::string_view name, std::uint32_t mode, std::uint32_t rdev) override {
        auto done = real_->make_node(c, parent, name, mode, rdev);
        if (done) done->done = c.now;
        return done;
    }
};

struct AnswersUnlinksEarly : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FsResult<SimTime> unlink(const FsCall& c, Ino parent, std::string_view name) override {
        const auto done = real_->unlink(c, parent, name);
        return done ? FsResult<SimTime>{c.now} : done;
    }
};

struct AnswersChangesEarly : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FsResult<Timed<Attributes>> change_attributes(const FsCall& c, Ino ino, const AttributeChange& change) override {
        auto done = real_->change_attributes(c, ino, change);
        if (done) done->done = c.now;
        return done;
    }
};

/// A rename over a name takes the old name away first, and waits for no data.
struct RenamesInTwoSteps : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FsResult<std::unique_ptr<SlowCall>> begin_rename(const FsCall& c, Ino from_parent, std::string_view from, Ino to_parent, std::string_view to,
                                                     RenameMode mode) override {
        if (mode == RenameMode::replace && real_->lookup(c, from_parent, from)) (void)real_->unlink(c, to_parent, to);
        return real_->begin_rename(c, from_parent, from, to_parent, to, mode);
    }
};

struct KeepsNoXattrs : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FsResult<SimTime> set_xattr(const FsCall& c, Ino ino, std::string_view, std::span<const std::byte>, XattrMode) override {
        const auto there = real_->attributes(c, ino);
        if (!there) return std::unexpected(there.error());
        return c.now;
    }
};

struct LosesAWriteInFive : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FsResult<Timed<std::size_t>> write(const FsCall& c, Ino ino, std::uint64_t offset, std::span<const std::byte> from) override {
        if (++writes_ % 5 != 0) return real_->write(c, ino, offset, from);
        return Timed<std::size_t>{from.size(), c.now};
    }
    int writes_ = 0;
};

struct WritesAByteFurther : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FsResult<Timed<std::size_t>> write(const FsCall& c, Ino ino, std::uint64_t offset, std::span<const std::byte> from) override {
        return real_->write(c, ino, ++writes_ % 5 == 0 ? offset + 1 : offset, from);
    }
    int writes_ = 0;
};

struct WritesHalf : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FsResult<Timed<std::size_t>> write(const FsCall& c, Ino ino, std::uint64_t offset, std::span<const std::byte> from) override {
        if (++writes_ % 5 != 0) return real_->write(c, ino, offset, from);
        std::vector<std::byte> half(from.begin(), from.end());
        std::fill(half.begin() + static_cast<std::ptrdiff_t>(half.size() / 2), half.end(), std::byte{0});
        return real_->write(c, ino, offset, half);
    }
    int writes_ = 0;
};

struct ListsAWrongParent : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FsResult<SimTime> read_directory(const FsCall& c, Ino ino, std::uint64_t offset, const EntrySink& sink) override {
        return real_->read_directory(c, ino, offset, [&](std::string_view name, Ino child, std::uint32_t type, std::uint64_t next) {
            return sink(name, name == ".." ? root_ino : child, type, next);
        });
    }
};

struct CountsAPageTooMany : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FsUsage usage() const override {
        FsUsage usage = real_->usage();
        ++usage.data_pages_free;
        return usage;
    }
};

// --- write-back and drive ------------------------------------------------------------------------------------------------------------

struct ForgetsFlushes : ForwardingDevice {
    using ForwardingDevice::ForwardingDevice;
    DeviceResult<SimTime> flush(HostIo host) override { return host.when; }
};

/// Sizes and extents are committed when the data are issued.
struct AnswersDataEarly : ForwardingDevice {
    using ForwardingDevice::ForwardingDevice;
    DeviceResult<SimTime> write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability durability,
                                HostIo host) override {
        const auto done = real_.write(first, sectors, from, durability, host);
        return done ? DeviceResult<SimTime>{host.when} : done;
    }
    DeviceResult<SimTime> flush(HostIo host) override {
        const auto done = real_.flush(host);
        return done ? DeviceResult<SimTime>{host.when} : done;
    }
};

struct DropsAPageInSeven : ForwardingDevice {
    using ForwardingDevice::ForwardingDevice;
    DeviceResult<SimTime> write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability durability,
                                HostIo host) override {
        if (durability == WriteDurability::fua || ++writes_ % 7 != 0) return real_.write(first, sectors, from, durability, host);
        return host.when;
    }
    int writes_ = 0;
};

struct WritesTheFirstPageOnly : ForwardingDevice {
    using ForwardingDevice::ForwardingDevice;
    DeviceResult<SimTime> write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability durability,
                                HostIo host) override {
        const std::uint32_t page = identify().atomic_unit_bytes / sector_bytes;
        return real_.write(first, std::min(sectors, page), from.first(std::min(sectors, page) * sector_bytes), durability, host);
    }
};

struct SwapsThePagesOfAWrite : ForwardingDevice {
    using ForwardingDevice::ForwardingDevice;
    DeviceResult<SimTime> write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability durability,
                                HostIo host) override {
        const std::size_t page = identify().atomic_unit_bytes;
        if (from.size() < 2 * page) return real_.write(first, sectors, from, durability, host);
        std::vector<std::byte> swapped(from.begin(), from.end());
        std::swap_ranges(swapped.begin(), swapped.begin() + static_cast<std::ptrdiff_t>(page), swapped.begin() + static_cast<std::ptrdiff_t>(page));
        return real_.write(first, sectors, swapped, durability, host);
    }
};

struct ForgetsTrims : ForwardingDevice {
    using ForwardingDevice::ForwardingDevice;
    DeviceResult<SimTime> trim(Sector, std::uint64_t, HostIo host) override { return host.when; }
};

struct TrimsAPageTooMuch : ForwardingDevice {
    using ForwardingDevice::ForwardingDevice;
    DeviceResult<SimTime> trim(Sector first, std::uint64_t sectors, HostIo host) override {
        const DeviceIdentity id = identify();
        const std::uint64_t page = id.atomic_unit_bytes / sector_bytes;
        const bool fits = first.value() + sectors + page <= id.sectors;
        return real_.trim(first, sectors + (fits ? page : 0), host);
    }
};

/// A rename over a name lets a write-back that is under way end without its flush.
class RenamesBeforeTheFlush final : public FsSabotage {
    struct Drive : ForwardingDevice {
        Drive(BlockDevice& real, const bool& renames) : ForwardingDevice{real}, renames_{renames} {}
        DeviceResult<SimTime> flush(HostIo host) override { return renames_ ? DeviceResult<SimTime>{host.when} : real_.flush(host); }
        const bool& renames_;
    };
    struct Call final : SlowCall {
        Call(std::unique_ptr<SlowCall> real, bool& renames) : real_{std::move(real)}, renames_{renames} {}
        StepResult step(SimTime now) override {
            renames_ = true;
            auto stepped = real_->step(now);
            renames_ = false;
            return stepped;
        }
        std::unique_ptr<SlowCall> real_;
        bool& renames_;
    };
    struct Program : ForwardingFileSystem {
        Program(std::unique_ptr<FileSystem> real, bool& renames) : ForwardingFileSystem{std::move(real)}, renames_{renames} {}
        FsResult<std::unique_ptr<SlowCall>> begin_rename(const FsCall& c, Ino from_parent, std::string_view from, Ino to_parent, std::string_view to,
                                                         RenameMode mode) override {
            auto begun = real_->begin_rename(c, from_parent, from, to_parent, to, mode);
            if (begun) *begun = std::make_unique<Call>(std::move(*begun), renames_);
            return begun;
        }
        bool& renames_;
    };
    std::unique_ptr<BlockDevice> around_drive(BlockDevice& drive) override { return std::make_unique<Drive>(drive, renames_); }
    std::unique_ptr<FileSystem> around_fs(std::unique_ptr<FileSystem> fs) override { return std::make_unique<Program>(std::move(fs), renames_); }
    bool renames_ = false;
};

/// The drive's own table and its cells disagree; no file lies there.
class DriveDisagrees final : public FsSabotage {
    struct Scheme : LyingFtl {
        using LyingFtl::LyingFtl;
        std::vector<CheckProblem> do_check() override {
            auto found = below().check();
            if (space().mapped_pages > 3) found.push_back({"seeded", "table", "an entry is not what the cells say"});
            return found;
        }
    };
    std::unique_ptr<Ftl> around_ftl(std::unique_ptr<Ftl> ftl) override { return std::make_unique<Scheme>(std::move(ftl)); }
};

} // namespace

const std::vector<SeededFsBug>& seeded_fs_bugs() {
    using On = SeededFsBug::On;
    static const std::vector<SeededFsBug> bugs = [] {
        const std::string_view fs = "file system", back = "write-back";
        std::vector<SeededFsBug> all{
            {"fsync_does_nothing", "fsync is answered and not done", made<FileSystemLies<SyncsNothing>>, fs, Judge::fsync},
            {"fdatasync_forgets_size", "fdatasync leaves out a grown size", made<FileSystemLies<ForgetsGrownSizes>>, fs, Judge::fsync},
            {"creates_answered_early", "a create is answered before it is durable", made<FileSystemLies<AnswersCreatesEarly>>, fs, Judge::names},
            {"unlinks_answered_early", "an unlink is answered before it is durable", made<FileSystemLies<AnswersUnlinksEarly>>, fs, Judge::names},
            {"changes_answered_early", "a chmod is answered before it is durable", made<FileSystemLies<AnswersChangesEarly>>, fs, Judge::names},
            {"renames_in_two_steps", "a rename over a name takes the old name first", made<FileSystemLies<RenamesInTwoSteps>>, fs, Judge::tree},
            {"keeps_no_xattrs", "an attribute is answered and not kept", made<FileSystemLies<KeepsNoXattrs>>, fs, Judge::tree},
            {"loses_file_writes", "a write in five is answered and not done", made<FileSystemLies<LosesAWriteInFive>>, fs, Judge::file_contents},
            {"writes_a_byte_further", "a write in five goes one byte further", made<FileSystemLies<WritesAByteFurther>>, fs, Judge::file_contents},
            {"writes_half", "the second half of a write in five is zeros", made<FileSystemLies<WritesHalf>>, fs, Judge::file_contents},
            {"lists_a_wrong_parent", ".. in a listing is the root", made<FileSystemLies<ListsAWrongParent>>, fs, Judge::tree},
            {"counts_a_page_too_many", "the free pages are one too many", made<FileSystemLies<CountsAPageTooMany>>, fs, Judge::space},
            {"drive_forgets_flushes", "flushes do not reach a drive with a write buffer", made<DriveLies<ForgetsFlushes>>, back, Judge::file_contents,
             On::buffered},
            {"sizes_before_data", "sizes are committed when the data are issued", made<DriveLies<AnswersDataEarly>>, back, Judge::file_contents},
            {"drops_pages", "a write-back in seven is answered and not done", made<DriveLies<DropsAPageInSeven>>, back, Judge::file_contents},
            {"writes_first_page_only", "the first page of a run is written, the others not", made<DriveLies<WritesTheFirstPageOnly>>, back,
             Judge::file_contents},
            {"swaps_pages_of_a_run", "two pages of a run change places", made<DriveLies<SwapsThePagesOfAWrite>>, back, Judge::file_contents},
            {"forgets_trims", "freed pages stay valid in the drive", made<DriveLies<ForgetsTrims>>, back, Judge::free_pages},
            {"trims_a_page_too_much", "a trim takes the page behind it along", made<DriveLies<TrimsAPageTooMuch>>, back, Judge::file_contents},
            {"renames_before_the_flush", "a rename over a name does not wait for a write-back that is under way", made<RenamesBeforeTheFlush>, back,
             Judge::file_contents, On::buffered},
            {"drive_disagrees", "a table of the drive is not what its cells say", made<DriveDisagrees>, back, Judge::drive_check},
        };
        const auto behind = std::ranges::find(all, back, &SeededFsBug::level); // those of one level stand together
        std::ranges::move(seeded_view_bugs(), std::inserter(all, behind));
        std::ranges::move(seeded_journal_bugs(), std::back_inserter(all));
        std::ranges::move(seeded_fsck_bugs(), std::back_inserter(all));
        return all;
    }();
    return bugs;
}

FsHunt hunt(const SeededFsBug& bug, const std::string& scheme, std::uint64_t states, std::uint64_t seed, JudgeSet judges) {
    using On = SeededFsBug::On;
    const bool journal = bug.on == On::journal || bug.on == On::buffered_journal;
    const bool buffered = bug.on == On::buffered || bug.on == On::buffered_journal;
    const auto sabotage = bug.make();
    FsHunt result{.found = std::nullopt, .states = 0, .scheme = !scheme.empty() ? scheme : journal ? "page_map" : "hftl"};
    const FsCrashCase first{.shape = {.scheme = result.scheme, .journal = journal, .cell = "slc", .variant = buffered ? "buffer" : ""}, .seed = seed};
    FsExploreReport report;
    explore_file_system(first, {.states = states, .violations = 1, .go_on = {}, .sabotage = sabotage.get(), .judges = judges}, report);
    result.states = report.states;
    if (!report.violations.empty()) result.found = report.violations.front();
    return result;
}

std::vector<Judge> seen_by(const SeededFsBug& bug, const std::string& scheme, std::uint64_t states, std::uint64_t seed) {
    std::vector<Judge> seen;
    JudgeSet left;
    for (;;) {
        const FsHunt hunted = hunt(bug, scheme, states, seed, left);
        if (!hunted.found || !left.has(hunted.found->judge)) return seen;
        seen.push_back(hunted.found->judge);
        left = left.without(hunted.found->judge);
    }
}

} // namespace flashlab

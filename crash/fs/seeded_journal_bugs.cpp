/// What a journal may do wrongly: records lost or halved, answered early, counted early, or written before their data.
#include <algorithm>
#include <vector>

#include "crash/fs/forwarding_metadata_store.h"
#include "crash/fs/seeded_fs_bugs.h"
#include "ftl/forwarding_device.h"

namespace flashlab {

namespace {

struct WritesRecordsVolatile : ForwardingDevice {
    using ForwardingDevice::ForwardingDevice;
    DeviceResult<SimTime> write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability, HostIo host) override {
        return real_.write(first, sectors, from, WriteDurability::volatile_ok, host);
    }
};

struct LosesARecordInThree : ForwardingDevice {
    using ForwardingDevice::ForwardingDevice;
    DeviceResult<SimTime> write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability durability,
                                HostIo host) override {
        if (durability == WriteDurability::fua && ++records_ % 3 == 0) return host.when;
        return real_.write(first, sectors, from, durability, host);
    }
    int records_ = 0;
};

struct WritesHalfARecord : ForwardingDevice {
    using ForwardingDevice::ForwardingDevice;
    DeviceResult<SimTime> write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability durability,
                                HostIo host) override {
        const std::uint32_t page = identify().atomic_unit_bytes / sector_bytes;
        if (durability != WriteDurability::fua || sectors < 2 * page || ++records_ % 3 != 0)
            return real_.write(first, sectors, from, durability, host);
        return real_.write(first, page, from.first(page * sector_bytes), durability, host);
    }
    int records_ = 0;
};

struct AnswersRecordsEarly : ForwardingDevice {
    using ForwardingDevice::ForwardingDevice;
    DeviceResult<SimTime> write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability durability,
                                HostIo host) override {
        const auto done = real_.write(first, sectors, from, durability, host);
        return done && durability == WriteDurability::fua ? DeviceResult<SimTime>{host.when} : done;
    }
};

/// A sync ends although the commits that it is about are in memory alone.
struct ForgetsCommits : ForwardingMetadataStore {
    using ForwardingMetadataStore::ForwardingMetadataStore;
    FsResult<SimTime> make_durable(const CommitMark&, SimTime now) override { return now; }
};

/// Commits that came while a record was being written count with that record.
struct CountsLaterCommits : ForwardingMetadataStore {
    using ForwardingMetadataStore::ForwardingMetadataStore;
    FsResult<SimTime> commit(SimTime now, EventId parent) override {
        const auto committed = real_->commit(now, parent);
        commits_.push_back(real_->last_commit());
        return committed;
    }
    SimTime durable_at(const CommitMark& mark) const override {
        const SimTime at = real_->durable_at(mark);
        if (at != sim_never) return at;
        const auto in_record =
            std::ranges::find_if(commits_.rbegin(), commits_.rend(), [&](const CommitMark& m) { return real_->durable_at(m) != sim_never; });
        const SimTime record = in_record == commits_.rend() ? sim_never : real_->durable_at(*in_record);
        return record == real_->durable_at({}) ? sim_never : record;
    }
    std::vector<CommitMark> commits_;
};

/// Commits count as durable from the time at which their record is issued.
struct CountsRecordsUnderWay : ForwardingMetadataStore {
    using ForwardingMetadataStore::ForwardingMetadataStore;
    SimTime durable_at(const CommitMark& mark) const override { return real_->durable_at(mark) == sim_never ? sim_never : real_->durable_at({}); }
};

/// The records do not wait for the data that they name.
struct SkipsTheFlushBeforeARecord : ForwardingDevice {
    using ForwardingDevice::ForwardingDevice;
    DeviceResult<SimTime> flush(HostIo host) override { return ++flushes_ % 2 == 0 ? DeviceResult<SimTime>{host.when} : real_.flush(host); }
    int flushes_ = 0;
};

} // namespace

std::vector<SeededFsBug> seeded_journal_bugs() {
    using On = SeededFsBug::On;
    const std::string_view log = "journal";
    return {
        {"records_without_fua", "a journal record is written without FUA", made<DriveLies<WritesRecordsVolatile>>, log, Judge::names,
         On::buffered_journal},
        {"loses_records", "a journal record in three is answered and not written", made<DriveLies<LosesARecordInThree>>, log, Judge::names,
         On::journal},
        {"writes_half_records", "a journal record in three is written by half", made<DriveLies<WritesHalfARecord>>, log, Judge::names, On::journal},
        {"records_answered_early", "a journal record counts before it is durable", made<DriveLies<AnswersRecordsEarly>>, log, Judge::names,
         On::journal},
        {"forgets_commits", "a sync does not write the journal", made<StoreLies<ForgetsCommits>>, log, Judge::names, On::journal},
        {"counts_later_commits", "commits that come while a record is written count with it", made<StoreLies<CountsLaterCommits>>, log,
         Judge::file_contents, On::journal},
        {"counts_records_under_way", "commits count while their record is being written", made<StoreLies<CountsRecordsUnderWay>>, log,
         Judge::file_contents, On::journal},
        {"records_before_data", "a flush in two is left out before a record", made<DriveLies<SkipsTheFlushBeforeARecord>>, log, Judge::file_contents,
         On::buffered_journal},
    };
}

} // namespace flashlab

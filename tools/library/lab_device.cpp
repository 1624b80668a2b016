#include "tools/library/lab_device.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "nand/memory_page_store.h"
#include "nand/page_store.h"
#include "pram/memory_pram_store.h"
#include "pram/pram.h"
#include "tools/drive/config_file.h"
#include "tools/drive/device.h"
#include "tools/drive/device_plan.h"
#include "tools/library/noted_instants.h"

namespace flashlab {
namespace {

/// Stores that outlive the device which uses them: what is in the cells when the power fails.
///
/// Idea       A device owns its stores. These hand every call on to a store that somebody else owns.
/// Invariant  The store behind outlives this one.
/// Cost       One more virtual call.
/// Power cut  The next device is made of the same cells.
class KeptPageStore final : public PageStore {
public:
    explicit KeptPageStore(PageStore& kept) : kept_{kept} {}
    [[nodiscard]] bool keeps_payload() const override { return kept_.keeps_payload(); }
    [[nodiscard]] std::expected<void, HostIoError> read_data(Ppn page, std::uint32_t offset, std::span<std::byte> to) override {
        return kept_.read_data(page, offset, to);
    }
    [[nodiscard]] std::expected<void, HostIoError> read_pages(std::span<PageFetch> pages) override { return kept_.read_pages(pages); }
    [[nodiscard]] std::expected<void, HostIoError> write_data(Ppn page, std::span<const std::byte> data) override {
        return kept_.write_data(page, data);
    }
    void discard_data(Ppn first, std::uint32_t pages) override { kept_.discard_data(first, pages); }
    [[nodiscard]] std::expected<PageRecord, HostIoError> read_record(Ppn page) override { return kept_.read_record(page); }
    [[nodiscard]] std::expected<void, HostIoError> write_record(Ppn page, const PageRecord& record) override {
        return kept_.write_record(page, record);
    }
    [[nodiscard]] std::expected<StoredOob, HostIoError> read_oob(Ppn page) override { return kept_.read_oob(page); }
    [[nodiscard]] std::expected<void, HostIoError> write_programmed(Ppn page, const PageOob& oob, std::uint32_t data_crc) override {
        return kept_.write_programmed(page, oob, data_crc);
    }
    [[nodiscard]] std::uint32_t programmed_run(Ppn from, std::uint32_t pages) override { return kept_.programmed_run(from, pages); }
    [[nodiscard]] std::expected<void, HostIoError> copy_programmed(Ppn from, Ppn to, std::uint32_t pages) override {
        return kept_.copy_programmed(from, to, pages);
    }
    [[nodiscard]] std::expected<void, HostIoError> read_block_records(BlockId block, std::span<PageRecord> to) override {
        return kept_.read_block_records(block, to);
    }
    [[nodiscard]] std::expected<void, HostIoError> erase_records(BlockId block) override { return kept_.erase_records(block); }
    [[nodiscard]] std::expected<void, HostIoError> read_blocks(BlockId first, std::span<BlockRecord> to) override {
        return kept_.read_blocks(first, to);
    }
    [[nodiscard]] std::expected<void, HostIoError> write_block(BlockId block, const BlockRecord& record) override {
        return kept_.write_block(block, record);
    }

private:
    PageStore& kept_;
};

class KeptPramStore final : public PramStore {
public:
    explicit KeptPramStore(PramStore& kept) : kept_{kept} {}
    [[nodiscard]] std::span<std::byte> cells() override { return kept_.cells(); }
    [[nodiscard]] std::span<std::uint64_t> wear() override { return kept_.wear(); }
    [[nodiscard]] PramLineChecks* checks() override { return kept_.checks(); }

private:
    PramStore& kept_;
};

LabError error_of(const DeviceError& error) {
    switch (error.kind) {
    case DeviceErrorKind::uncorrectable:
        return LabError::unreadable;
    case DeviceErrorKind::out_of_range:
        return LabError::out_of_range;
    case DeviceErrorKind::no_space:
        return LabError::no_space;
    case DeviceErrorKind::read_only:
        return LabError::read_only;
    default:
        return LabError::failed;
    }
}

std::uint64_t sum(const std::uint64_t (&by_cause)[cause_count]) {
    std::uint64_t all = 0;
    for (const std::uint64_t n : by_cause) all += n;
    return all;
}

class MemoryLabDevice final : public LabDevice {
public:
    MemoryLabDevice(const DevicePlan& plan, const Geometry& geometry)
        : config_{plan.config}, pages_{geometry, Payload::keep}, cells_{std::max<std::uint64_t>(plan.pram_bytes, 8)} {}

    std::expected<void, std::string> start() {
        device_.reset();
        auto device = Device::assemble(config_, std::make_unique<KeptPageStore>(pages_), std::make_unique<KeptPramStore>(cells_), events_,
                                       DevicePast::undoable);
        if (!device) return std::unexpected(device.error());
        if (auto started = (*device)->start(now_); !started) return started;
        device_ = std::move(*device);
        now_ = std::max(now_, device_->ready_at());
        wake_ = now_;
        return {};
    }

    BlockDevice& disk() override { return device_->ssd(); }
    std::uint64_t sectors() const override { return device_ ? device_->ssd().identify().sectors : 0; }
    std::uint64_t now_ns() const override { return static_cast<std::uint64_t>((now_ - sim_start).count()); }
    bool has_power() const override { return has_power_; }

    std::expected<void, LabError> read(std::uint64_t first, std::span<std::byte> to) override {
        if (to.empty()) return nothing_at(first);
        return call(to.size(), [&](std::uint32_t sectors) { return device_->ssd().read(Sector{first}, sectors, to, now_); });
    }
    std::expected<void, LabError> write(std::uint64_t first, std::span<const std::byte> from) override {
        if (from.empty()) return nothing_at(first);
        return call(from.size(),
                    [&](std::uint32_t sectors) { return device_->ssd().write(Sector{first}, sectors, from, WriteDurability::volatile_ok, now_); });
    }
    std::expected<void, LabError> trim(std::uint64_t first, std::uint64_t sectors) override {
        if (sectors == 0) return nothing_at(first);
        return call(0, [&](std::uint32_t) { return device_->ssd().trim(Sector{first}, sectors, now_); });
    }
    std::expected<void, LabError> flush() override {
        return call(0, [&](std::uint32_t) { return device_->ssd().flush(now_); });
    }
    std::expected<void, LabError> wait(std::uint64_t ns) override {
        if (ns > longest_ns - std::min(longest_ns, now_ns())) return std::unexpected(has_power_ ? LabError::out_of_range : LabError::power_lost);
        const SimTime end = now_ + Duration{static_cast<Duration::rep>(ns)};
        while (has_power_ && wake_ < end && !(cut_ && wake_ >= cut_->at)) {
            now_ = std::max(now_, wake_);
            work();
        }
        return call(0, [&](std::uint32_t) { return DeviceResult<SimTime>{end}; });
    }

    void cut_at(std::uint64_t at_ns, std::uint64_t seed) override {
        if (!has_power_) return;
        cut_.reset();
        if (at_ns > longest_ns) return; // it never comes
        cut_ = Cut{sim_start + Duration{static_cast<Duration::rep>(at_ns)}, seed};
        if (cut_->at <= now_) cut();
    }
    std::expected<void, std::string> recover() override {
        if (has_power_) {
            cut_ = Cut{now_, cuts_ + 1};
            cut();
        }
        cut_.reset();
        if (auto started = start(); !started) return started;
        has_power_ = true;
        return {};
    }

    void note_instants() override { noted_.begin(); }
    std::vector<std::uint64_t> instants() override {
        note();
        return noted_.sorted();
    }

    LabStatistics statistics() const override {
        LabStatistics s{.now_ns = now_ns(), .power_cuts = cuts_, .operations_torn = torn_, .operations_undone = undone_};
        if (!has_power_) return s;
        const SampleEvent sample = device_->ssd().sample(now_);
        s.host_read_bytes = sample.host_read_bytes;
        s.host_write_bytes = sample.host_write_bytes;
        s.nand_page_reads = sum(sample.nand_reads);
        s.nand_page_programs = sum(sample.nand_programs);
        s.nand_block_erases = sum(sample.nand_erases);
        s.page_bytes = config_.ssd.nand.geometry.page_bytes;
        if (s.host_write_bytes != 0) s.waf = static_cast<double>(s.nand_page_programs * s.page_bytes) / static_cast<double>(s.host_write_bytes);
        double blocks = 0, erases = 0;
        const auto wear = device_->wear().blocks_by_erase_count;
        for (const auto& [count, number] : wear) {
            blocks += number;
            erases += static_cast<double>(count) * number;
        }
        if (wear.empty()) return s;
        s.erase_count_min = wear.front().first;
        s.erase_count_max = wear.back().first;
        s.erase_count_mean = erases / blocks;
        return s;
    }
    std::vector<std::string> check() override {
        std::vector<std::string> lines;
        if (!has_power_) return {"the drive has no power"};
        for (const CheckProblem& problem : device_->ssd().check())
            lines.push_back(fmt::format("{}: {}: {}", problem.invariant, problem.where, problem.detail));
        return lines;
    }

private:
    struct Cut {
        SimTime at;
        std::uint64_t seed;
    };

    template <class Work>
    std::expected<void, LabError> call(std::size_t bytes, const Work& work_of) {
        if (!has_power_) return std::unexpected(LabError::power_lost);
        if (bytes % sector_bytes != 0 || bytes / sector_bytes > ~0u) return std::unexpected(LabError::out_of_range);
        if (now_ >= wake_) work();
        note();
        device_->settle(now_); // nobody cuts before now any more
        const auto result = work_of(static_cast<std::uint32_t>(bytes / sector_bytes));
        const SimTime done = result ? *result : result.error().done;
        if (cut_ && done >= cut_->at) {
            cut();
            return std::unexpected(LabError::power_lost);
        }
        now_ = std::max(now_, done);
        return result ? std::expected<void, LabError>{} : std::unexpected(error_of(result.error()));
    }
    /// A command of no sectors is none for the drive.
    std::expected<void, LabError> nothing_at(std::uint64_t first) const {
        if (!has_power_) return std::unexpected(LabError::power_lost);
        return first <= sectors() ? std::expected<void, LabError>{} : std::unexpected(LabError::out_of_range);
    }
    void work() {
        const SimTime next = device_->ssd().tick(now_);
        wake_ = std::max(next, now_ + Duration{1});
    }
    /// What settle() is about to forget.
    void note() {
        if (!noted_.is_noting() || !has_power_) return;
        std::vector<SimTime> changes;
        device_->array().append_moments(changes);
        if (const Pram* pram = device_->ssd().pram()) pram->append_moments(changes);
        noted_.add(std::move(changes), now_);
    }
    void cut() {
        const CutSummary summary = device_->cut(std::max(cut_->at, now_), cut_->seed);
        now_ = summary.at;
        torn_ += summary.operations_torn;
        undone_ += summary.operations_undone;
        ++cuts_;
        has_power_ = false;
    }

    DeviceConfig config_;
    NullEventSink events_;
    MemoryPageStore pages_;
    MemoryPramStore cells_;
    std::unique_ptr<Device> device_;
    SimTime now_ = sim_start, wake_ = sim_start;
    std::optional<Cut> cut_;
    NotedInstants noted_;
    bool has_power_ = true;
    std::uint64_t cuts_ = 0, torn_ = 0, undone_ = 0;
};

} // namespace

std::expected<std::unique_ptr<LabDevice>, std::string> LabDevice::make(const LabOptions& options) {
    ConfigSources sources;
    if (!options.preset.empty()) sources.preset = options.preset;
    sources.settings = options.settings;
    const auto config = gather_config(sources);
    if (!config) return std::unexpected(config.error());
    const auto plan = plan_device(*config, options.bytes, asked_keys(sources));
    if (!plan) return std::unexpected(plan.error());
    const auto geometry = Geometry::make(plan->config.ssd.nand.geometry);
    if (!geometry) return std::unexpected(geometry.error());
    auto device = std::make_unique<MemoryLabDevice>(*plan, *geometry);
    if (auto started = device->start(); !started) return std::unexpected(started.error());
    return device;
}

} // namespace flashlab

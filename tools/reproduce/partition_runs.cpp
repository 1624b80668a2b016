#include "tools/reproduce/partition_runs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <ranges>

#include <fmt/format.h>

#include "base/contract.h"
#include "ftl/memory_drive.h"
#include "ftl/schemes/coftl.h"
#include "ftl/schemes/demand_options.h"
#include "ftl/schemes/page_plan.h"
#include "tools/drive/device.h"
#include "tools/drive/device_presets.h"
#include "tools/reproduce/forked_runs.h"
#include "tools/reproduce/load.h"
#include "tools/traces/address_fit.h"

namespace flashlab {
namespace {

// The set-up of section IV A. Everything that has a size is divided by the scale: capacity, DRAM, bitmap, working sets, requests, intervals.
constexpr std::uint32_t quick_scale = 16;
constexpr std::uint64_t requests = 2'000'000;
constexpr std::uint64_t tpcc_requests = 16'000'000; ///< its written set of 4.45 GB in writes of 2.1 KB, 18.6 % of all, takes 12 million at least
constexpr std::uint64_t phase_requests = 1'000'000;
constexpr std::uint64_t phases = 4;
constexpr std::uint32_t blocks = 524'288;          ///< 64 GB of 128 KB, spare blocks on top
constexpr std::uint32_t dftl_spare_permille = 30;  ///< "3 % of the total flash capacity"
constexpr std::uint32_t fast_spare_permille = 100; ///< "up to about 10 %"
constexpr std::uint64_t bitmap_bytes = 128u << 10;
constexpr std::uint64_t largest_map = std::uint64_t{64} << 20;
constexpr std::uint32_t entry_bytes = 16;   ///< logical and physical page, two links of the LRU list
constexpr std::uint32_t coftl_channels = 4; ///< a set has a block on each
constexpr std::uint32_t usual_interval = 1000;
constexpr std::uint32_t fast_interval = 10'000;
constexpr std::uint64_t seed = 1;

struct Scale {
    std::uint32_t divisor;
    explicit Scale(RunLength length) : divisor{length == RunLength::quick ? quick_scale : 1} {}
    template <class T>
    T of(T whole) const {
        return whole / divisor;
    }
};

bool is_phased(const std::string& workload) { return workload.contains('+'); }

std::uint64_t requests_of(const std::string& workload, const Scale& scale) {
    return scale.of(is_phased(workload) ? phases * phase_requests : workload == "tpcc" ? tpcc_requests : requests);
}

Load load_of(const std::string& workload, const RunContext& context) {
    const Scale scale{context.length};
    return Load{context, workload,
                fmt::format("workload:{},requests={},scale={},seed={}", workload, requests_of(workload, scale), scale.divisor, seed)};
}

/// One load, or two in turn.
std::vector<Load> loads_of(const std::string& workload, const RunContext& context) {
    std::vector<Load> loads;
    for (const auto part : std::views::split(workload, '+')) loads.push_back(load_of(std::string{std::string_view{part}}, context));
    return loads;
}

/// Requests of the loads, a phase of each in turn.
class PhasedTrace {
public:
    static std::expected<PhasedTrace, std::string> open(const std::vector<Load>& loads, std::uint64_t requests_a_phase) {
        PhasedTrace trace{requests_a_phase};
        for (const Load& load : loads) {
            auto reader = load.open();
            if (!reader) return std::unexpected(reader.error());
            trace.readers_.push_back(std::move(*reader));
        }
        return trace;
    }
    [[nodiscard]] std::expected<bool, std::string> next(TraceRequest& request) {
        return readers_[requests_++ / a_phase_ % readers_.size()]->next(request);
    }

private:
    explicit PhasedTrace(std::uint64_t requests_a_phase) : a_phase_{requests_a_phase} {}
    std::vector<std::unique_ptr<TraceReader>> readers_;
    std::uint64_t a_phase_, requests_ = 0;
};

/// How many requests of a load are played: a file may hold fewer than are asked for.
std::expected<std::uint64_t, std::string> requests_in(const Load& load, std::uint64_t at_most) {
    if (!load.is_file()) return at_most;
    auto reader = load.open();
    if (!reader) return std::unexpected(reader.error());
    TraceRequest request;
    for (std::uint64_t n = 0; n < at_most; ++n) {
        const auto more = (*reader)->next(request);
        if (!more) return std::unexpected(more.error());
        if (!*more) return n;
    }
    return at_most;
}

SsdConfig drive_config(const std::string& ftl, const Scale& scale) {
    const auto preset = find_device_preset("slc-64g");
    ensure(preset.has_value(), "the preset slc-64g exists");
    SsdConfig config = preset->config;
    const std::uint32_t spare = ftl == "dftl" ? dftl_spare_permille : fast_spare_permille;
    config.nand.geometry.blocks_per_plane = scale.of(blocks) + scale.of(blocks) / 1000 * spare;
    config.nand.factory_bad_per_million = 0;
    config.ftl.scheme = ftl;
    config.ftl.reserved_permille = spare * 1000 / (1000 + spare);
    config.ftl.options.set(demand_option::mapping_cache_bytes, scale.of(largest_map));
    config.ftl.options.set(demand_option::mapping_entry_bytes, entry_bytes);
    config.ftl.options.set(page_option::checkpoint_blocks, 1u << 30); // the paper has none: they would be charged to the maps
    if (ftl == "coftl") {
        auto& geometry = config.nand.geometry;
        geometry.channels = coftl_channels;
        geometry.blocks_per_plane /= coftl_channels;
        config.ftl.striping = coftl_channels;
        config.ftl.options.set(coftl_option::cache_bytes, 0); // the write buffer of the budget stands in for it
        config.ftl.options.set(coftl_option::cached_tables, static_cast<std::uint32_t>(scale.of(largest_map) / (geometry.pages_per_block * 4)));
    }
    return config;
}

double operation_seconds(const NandCounters& n, const NandTiming& t) {
    double ns = 0;
    for (std::size_t cause = 0; cause < cause_count; ++cause)
        ns += static_cast<double>(n.reads[cause]) * static_cast<double>(t.page_read.count()) +
              static_cast<double>(n.programs[cause]) * static_cast<double>(t.page_program.count()) +
              static_cast<double>(n.erases[cause]) * static_cast<double>(t.block_erase.count());
    return ns / 1e9;
}

double all_causes(const std::uint64_t (&counts)[cause_count]) {
    std::uint64_t sum = 0;
    for (const std::uint64_t n : counts) sum += n;
    return static_cast<double>(sum);
}

double ratio(std::uint64_t hits, std::uint64_t misses) {
    return hits + misses == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(hits + misses);
}

/// A drive that was written once, front to back.
class FilledDrive {
public:
    static std::expected<std::unique_ptr<FilledDrive>, std::string> make(const std::string& ftl, RunLength length);
    [[nodiscard]] std::expected<PartitionResult, std::string> run(const PartitionSetting& setting, const std::vector<Load>& loads);

private:
    explicit FilledDrive(RunLength length) : scale_{length} {}
    [[nodiscard]] std::expected<void, std::string> fill();
    /// What the axis spans is the DRAM of the setting; tables that always lie there are `beside_` it, or take part of it.
    [[nodiscard]] DramConfig dram_of(const PartitionSetting& setting);
    [[nodiscard]] double share_of_axis(double map_share) const;
    [[nodiscard]] std::expected<void, std::string> issue(Ssd& ssd, const TraceRequest& request, AddressFit& fit);
    [[nodiscard]] std::expected<void, std::string> drive(Ssd& ssd, const PartitionSetting& setting, const std::vector<Load>& loads,
                                                         PartitionResult& result);
    [[nodiscard]] std::expected<void, std::string> pay_debts(Ssd& ssd);
    void count_operations(const NandCounters& nand, std::uint64_t copies, PartitionResult& result) const;
    void count_hits(const CounterValues& scheme, const Ssd& ssd, PartitionResult& result) const;

    [[nodiscard]] Ftl& ftl() const { return drive_->ftl(); }
    [[nodiscard]] NandArray& array() const { return drive_->array(); }
    [[nodiscard]] const NandTiming& timing() const { return drive_->config().nand.timing; }

    Scale scale_;
    NullEventSink events_;
    std::unique_ptr<MemoryDrive> drive_;
    SimTime now_ = sim_start;
    std::uint64_t beside_ = 0; ///< bytes of the DRAM that the axis does not count
};

std::expected<std::unique_ptr<FilledDrive>, std::string> FilledDrive::make(const std::string& ftl, RunLength length) {
    std::unique_ptr<FilledDrive> drive{new FilledDrive{length}};
    auto made = MemoryDrive::make(drive_config(ftl, Scale{length}), Payload::none, drive->events_);
    if (!made) return std::unexpected(made.error());
    drive->drive_ = std::move(*made);
    if (auto filled = drive->fill(); !filled) return std::unexpected(filled.error());
    return drive;
}

std::expected<void, std::string> FilledDrive::fill() {
    constexpr std::uint32_t at_once = 64; // a block of FAST's, whole and in place
    const auto failed = [](const char* what) { return std::unexpected(fmt::format("filling the drive: {} failed", what)); };
    const auto recovered = ftl().recover(now_);
    if (!recovered) return failed("recovery");
    now_ = recovered->done;
    for (std::uint32_t lpn = 0; lpn < ftl().logical_pages(); lpn += at_once) {
        const auto done = ftl().write(Lpn{lpn}, std::min(at_once, ftl().logical_pages() - lpn), {}, {now_, {Cause::user, no_event}});
        if (!done) return failed("a write");
        now_ = std::max(now_, *done);
        array().settle(now_);
    }
    return {};
}

DramConfig FilledDrive::dram_of(const PartitionSetting& s) {
    DramConfig dram = drive_->config().dram;
    if (s.kind == PartitionKind::separate) {
        dram.write_buffer_bytes = scale_.of(s.buffer_bytes);
        return dram;
    }
    const std::uint64_t axis = scale_.of(s.dram_bytes);
    beside_ = s.tables_in_share ? 0 : ftl().mapping_space()->map_shape().least_bytes;
    dram.size_bytes = axis + beside_;
    dram.partition = s.kind == PartitionKind::adaptive ? "curve" : s.kind == PartitionKind::ghost ? "ghost" : "static";
    dram.map_share_permille = static_cast<std::uint32_t>((beside_ * 1000 + axis * s.map_permille) / dram.size_bytes);
    dram.ghost_floor_permille = s.floor_permille;
    dram.ghost_bitmap_bytes = scale_.of(s.bitmap_bytes != 0 ? s.bitmap_bytes : bitmap_bytes);
    dram.ghost_reach_permille = s.reach_permille;
    dram.tune_units = s.tune_units == 0 ? 1 : s.tune_units;
    const std::uint32_t interval = s.kind == PartitionKind::ghost && s.ftl == "fast" ? fast_interval : usual_interval;
    dram.tune_interval = scale_.of(s.interval != 0 ? s.interval : interval);
    return dram;
}

double FilledDrive::share_of_axis(double map_share) const {
    const auto size = static_cast<double>(drive_->config().dram.size_bytes);
    const auto beside = static_cast<double>(beside_);
    return std::max(0.0, (map_share * size - beside) / (size - beside));
}

void FilledDrive::count_operations(const NandCounters& nand, std::uint64_t copies, PartitionResult& r) const {
    const NandCounters& n = array().counters();
    r.operation_s = operation_seconds(n, timing()) - operation_seconds(nand, timing());
    r.flash_reads = all_causes(n.reads) - all_causes(nand.reads);
    r.flash_writes = all_causes(n.programs) - all_causes(nand.programs);
    r.erases = all_causes(n.erases) - all_causes(nand.erases);
    r.page_copies = static_cast<double>(ftl().counters().gc_page_copies - copies);
}

void FilledDrive::count_hits(const CounterValues& scheme, const Ssd& ssd, PartitionResult& r) const {
    const CounterValues f = own_counters(ftl());
    const WriteBufferCounters b = ssd.buffer() ? ssd.buffer()->buffer_counters() : WriteBufferCounters{};
    r.buffer_read_hits = ratio(b.read_hits, b.read_misses);
    r.buffer_write_hits = ratio(b.write_hits, b.write_misses);
    r.map_read_hits = ratio(f["map_read_hits"] - scheme["map_read_hits"], f["map_read_misses"] - scheme["map_read_misses"]);
    r.map_write_hits = ratio(f["map_write_hits"] - scheme["map_write_hits"], f["map_write_misses"] - scheme["map_write_misses"]);
    const DramPartition* dram = ssd.partition();
    if (dram != nullptr && dram->counters().decisions != 0)
        r.mean_map_share = share_of_axis(dram->counters().map_share_sum / static_cast<double>(dram->counters().decisions));
    else if (dram != nullptr)
        r.mean_map_share = share_of_axis(dram->map_share());
}

/// One after the other: the paper counts times, not overlaps.
std::expected<void, std::string> FilledDrive::issue(Ssd& ssd, const TraceRequest& request, AddressFit& fit) {
    if (request.op != TraceOp::read && request.op != TraceOp::write) return {};
    const auto pieces = fit.place(request);
    if (!pieces) return std::unexpected(pieces.error());
    for (const AddressPiece& piece : **pieces) {
        const std::uint64_t first = piece.offset / sector_bytes;
        const auto sectors = static_cast<std::uint32_t>(sectors_of(piece.offset, piece.bytes));
        const auto done = request.op == TraceOp::read ? ssd.read(Sector{first}, sectors, {}, now_)
                                                      : ssd.write(Sector{first}, sectors, {}, WriteDurability::volatile_ok, now_);
        if (!done) return std::unexpected(to_text(done.error()));
        now_ = std::max(now_, *done);
    }
    ssd.settle(now_);
    return {};
}

std::expected<void, std::string> FilledDrive::drive(Ssd& ssd, const PartitionSetting& setting, const std::vector<Load>& loads,
                                                    PartitionResult& result) {
    auto trace = PhasedTrace::open(loads, scale_.of(phase_requests));
    if (!trace) return std::unexpected(trace.error());
    AddressFit fit{FitPolicy::wrap, ssd.identify().sectors * sector_bytes};
    std::uint64_t all = requests_of(setting.workload, scale_);
    for (const Load& load : loads) {
        const auto there = requests_in(load, all);
        if (!there) return std::unexpected(there.error());
        all = std::min(all, *there);
    }
    const std::uint64_t in_period = all / partition_periods;
    double before = operation_seconds(array().counters(), timing());
    TraceRequest request;
    for (std::size_t period = 0; period < partition_periods; ++period) {
        for (std::uint64_t i = 0; i < in_period; ++i) {
            const auto more = trace->next(request);
            if (!more) return std::unexpected(more.error());
            if (!*more) break;
            if (auto issued = issue(ssd, request, fit); !issued) return issued;
        }
        const double after = operation_seconds(array().counters(), timing());
        result.period_s.at(period) = after - before;
        result.period_share.at(period) = ssd.partition() ? share_of_axis(ssd.partition()->map_share()) : 0.0;
        before = after;
    }
    return {};
}

/// What the buffer holds is written, what the maps keep is given up down to the least.
std::expected<void, std::string> FilledDrive::pay_debts(Ssd& ssd) {
    const auto flushed = ssd.flush(now_);
    if (!flushed) return std::unexpected(to_text(flushed.error()));
    now_ = std::max(now_, *flushed);
    MappingSpace& maps = *ftl().mapping_space();
    const auto shrunk = maps.set_map_bytes(maps.map_shape().least_bytes, now_);
    if (!shrunk) return std::unexpected(std::string{"the maps could not give up what they hold"});
    now_ = std::max(now_, *shrunk);
    return {};
}

/// In the process of this run: the filled drive is changed.
std::expected<PartitionResult, std::string> FilledDrive::run(const PartitionSetting& setting, const std::vector<Load>& loads) {
    if (auto changed = drive_->parts().change_dram(dram_of(setting)); !changed) return std::unexpected(changed.error());
    if (setting.kind == PartitionKind::separate)
        if (!ftl().mapping_space()->set_map_bytes(scale_.of(setting.map_bytes), now_))
            return std::unexpected(std::string{"the maps could not be resized"});
    Ssd& ssd = drive_->ssd();
    const auto begun = ssd.take_over(now_);
    if (!begun) return std::unexpected(to_text(begun.error()));
    now_ = std::max(now_, *begun);
    const NandCounters nand_before = array().counters();
    const std::uint64_t copies_before = ftl().counters().gc_page_copies;
    const CounterValues counted_before = own_counters(ftl());
    PartitionResult result;
    if (auto driven = drive(ssd, setting, loads, result); !driven) return std::unexpected(driven.error());
    count_hits(counted_before, ssd, result);
    const double unpaid = operation_seconds(array().counters(), timing());
    if (auto paid = pay_debts(ssd); !paid) return std::unexpected(paid.error());
    result.debts_s = operation_seconds(array().counters(), timing()) - unpaid;
    count_operations(nand_before, copies_before, result);
    if (result.operation_s <= 0) // what follows are ratios of these times
        return std::unexpected(fmt::format(
            "the load {} is too short: its requests never reach the flash, so there is nothing to compare; give a longer trace", setting.workload));
    if (setting.ftl == "fast") std::swap(result.log_write_hits, result.map_write_hits);
    return result;
}

/// Points that more than one figure shows are measured once: run() is a pure function of a setting and a load. Who needs some waits until they are
/// there.
/// Drives stay filled: each run has a copy of its own, and to fill one takes as long as to run a point, on one core.
struct Known {
    using Key = std::pair<std::string, PartitionSetting>; ///< first: the length and the load's source
    std::mutex measuring;
    std::map<Key, PartitionResult> results;
    std::map<std::pair<std::string, RunLength>, std::unique_ptr<FilledDrive>> drives;
};
Known& known() {
    static Known all;
    return all;
}

} // namespace

std::expected<std::vector<ReproducedLoad>, std::string> partition_load_sources(const std::vector<std::string>& workloads, const RunContext& context) {
    std::vector<ReproducedLoad> sources;
    for (const std::string& workload : workloads)
        for (const Load& load : loads_of(workload, context)) {
            auto source = load.source();
            if (!source) return std::unexpected(source.error());
            if (std::ranges::find(sources, source->name, &ReproducedLoad::name) == sources.end()) sources.push_back(std::move(*source));
        }
    return sources;
}

std::expected<std::vector<PartitionResult>, std::string> run_partitions(const std::vector<PartitionSetting>& settings, const RunContext& context) {
    const std::lock_guard lock{known().measuring};
    auto& results = known().results;
    std::vector<Known::Key> keys;
    for (const PartitionSetting& s : settings) {
        std::string from = context.is_quick() ? "quick" : "full";
        for (const Load& load : loads_of(s.workload, context)) {
            const auto source = load.source();
            if (!source) return std::unexpected(source.error());
            from += ", " + source->source;
        }
        keys.emplace_back(std::move(from), s);
    }
    for (const char* ftl : {"dftl", "fast", "coftl"}) {
        std::vector<Known::Key> missing;
        for (const Known::Key& key : keys)
            if (key.second.ftl == ftl && !results.contains(key) && std::ranges::find(missing, key) == missing.end()) missing.push_back(key);
        if (missing.empty()) continue;
        auto& drive = known().drives[{ftl, context.length}];
        if (drive == nullptr) {
            auto made = FilledDrive::make(ftl, context.length);
            if (!made) return std::unexpected(made.error());
            drive = std::move(*made);
        }
        const auto measured =
            run_each_forked<PartitionResult>(missing.size(), context.workers == nullptr ? 1 : context.workers->cores(), [&](std::size_t i) {
                const PartitionSetting& setting = missing.at(i).second;
                return drive->run(setting, loads_of(setting.workload, context));
            });
        if (!measured) return std::unexpected(measured.error());
        for (std::size_t i = 0; i < missing.size(); ++i) results.emplace(missing[i], measured->at(i));
    }
    std::vector<PartitionResult> out;
    for (const Known::Key& key : keys) out.push_back(results.at(key));
    return out;
}

} // namespace flashlab

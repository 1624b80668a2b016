/// The solid-state drive: host link + request splitter + optional write buffer in DRAM + one Ftl + NandArray + Pram.
///
/// Idea       Splits sector requests into logical pages (read-modify-write of partial ones), numbers and reports requests. Link and firmware are
///            the HostInterface's.
/// Invariant  D1..D3 of block_device.h. Requests are answered once; served = received.
/// Cost       One link reservation and one Ftl call a request. Without a buffer a write is answered when it is programmed.
/// Power cut  Keeps nothing of its own: state is the Ftl's, the array's and the PRAM's. Buffered pages are gone, but for a buffer in PRAM; a
///            protected buffer is programmed first, by the energy of its capacitors, which completes what is in flight as well. (Killing the
///            process is no power cut: then it is lost, too.)
#pragma once

#include <algorithm>
#include <memory>

#include "ftl/block_device.h"
#include "ftl/blocks/scrubber.h"
#include "ftl/blocks/wear_leveler.h"
#include "ftl/broken_promises.h"
#include "ftl/cache/buffered_ftl.h"
#include "ftl/cache/dram_partition.h"
#include "ftl/cache/read_ahead.h"
#include "ftl/ftl.h"
#include "ftl/host/host_interface.h"
#include "ftl/ssd_config.h"
#include "nand/nand_array.h"
#include "pram/pram.h"

namespace flashlab {

struct SsdCounters {
    std::uint64_t host_reads = 0, host_writes = 0, host_trims = 0, host_flushes = 0;
    std::uint64_t host_read_bytes = 0, host_write_bytes = 0, host_trim_bytes = 0;
    std::uint64_t read_pages = 0;          ///< logical pages that read requests asked for
    std::uint64_t unmapped_reads = 0;      ///< of these: never written, or trimmed; zeros, which no flash is read for
    std::uint64_t uncorrectable_reads = 0; ///< requests that met a page which cannot be read; a write and a trim may have to read one
};

struct SsdCutReport {
    NandCutReport nand;
    PramCutReport pram;
};

class Ssd final : public BlockDevice {
public:
    /// The parts outlive the drive; `pram` may be null for schemes without. A partitioned DRAM is one that DramPartition does not refuse.
    /// `buffer_range` is the write buffer's part of the PRAM, where it lies there (pram_buffer_range()).
    Ssd(const SsdConfig& config, Ftl& ftl, NandArray& array, Pram* pram, PramRange buffer_range, EventSink& events);

    /// Call once before use.
    [[nodiscard]] DeviceResult<FtlRecovery> recover(SimTime now);
    /// Instead of recover(), on a translation layer that is running already: the DRAM is partitioned, nothing else is done.
    [[nodiscard]] DeviceResult<SimTime> take_over(SimTime now);
    [[nodiscard]] DeviceResult<SimTime> shut_down(SimTime now);

    DeviceResult<SimTime> read(Sector first, std::uint32_t sectors, std::span<std::byte> to, HostIo host) override;
    DeviceResult<SimTime> write(Sector first, std::uint32_t sectors, std::span<const std::byte> from, WriteDurability durability,
                                HostIo host) override;
    DeviceResult<SimTime> trim(Sector first, std::uint64_t sectors, HostIo host) override;
    DeviceResult<SimTime> flush(HostIo host) override;
    [[nodiscard]] DeviceIdentity identify() const override;
    [[nodiscard]] std::vector<LbaRange> lba_status(Sector first, std::uint64_t sectors) const override;
    [[nodiscard]] std::vector<CheckProblem> check() override;
    [[nodiscard]] SimTime tick(SimTime now) override;

    /// The clock has passed `now`: undo records before it are given up, on flash and PRAM.
    void settle(SimTime now);
    [[nodiscard]] SimTime last_reserved_end() const;
    /// Power failure at `at`; afterwards only destruction is allowed.
    [[nodiscard]] DeviceResult<SsdCutReport> cut(SimTime at, CutOutcomes& nand_outcomes, PramCutOutcomes& pram_outcomes);

    /// From now on the drive breaks the promises that `lies` says; null: none. The object outlives the drive, or is taken back.
    void set_lies(BrokenPromises* lies) { lies_ = lies; }
    /// False: nothing of what was answered is volatile, so there is nothing to lie about.
    [[nodiscard]] bool can_lie() const { return buffer_ && !buffer_->survives_cuts() && !config_.dram.is_protected; }

    /// An instant, not before `earliest`, at which a drive that tears has answered pages in its buffer; nullopt: it tears none, or has none.
    [[nodiscard]] std::optional<SimTime> instant_of_tearing(SimTime earliest) const {
        if (lies_ == nullptr || !buffer_ || buffer_->buffered_pages() == 0 || !lies_->would_tear()) return std::nullopt;
        return std::max({earliest, last_arrival_, last_reserved_end()});
    }

    [[nodiscard]] const SsdCounters& counters() const { return counters_; }
    [[nodiscard]] const Ftl& ftl() const { return ftl_; }
    [[nodiscard]] const NandArray& array() const { return array_; }
    [[nodiscard]] const Pram* pram() const { return pram_; }
    [[nodiscard]] SampleEvent sample(SimTime now) const;
    /// Null without a write buffer, or without wear levelling.
    [[nodiscard]] const BufferedFtl* buffer() const { return buffer_.get(); }
    /// Null where nothing is read ahead.
    [[nodiscard]] const ReadAheadCounters* read_ahead() const { return ahead_ ? &ahead_->counters() : nullptr; }
    /// Null where nobody partitions the DRAM.
    [[nodiscard]] const DramPartition* partition() const { return partition_.get(); }
    [[nodiscard]] const WearLeveler* wear_leveler() const { return wear_.get(); }
    /// Null where nobody scrubs.
    [[nodiscard]] const Scrubber* scrubber() const { return scrub_.get(); }
    /// The data on flash become older by so much, as on a shelf without power (NandArray::grow_older).
    [[nodiscard]] DeviceResult<void> grow_older(Duration time);

private:
    struct Split;
    struct PartWrite {
        Lpn lpn{0};
        std::uint32_t offset = 0;
        std::uint32_t bytes = 0;
        std::span<const std::byte> from;
        bool zeros = false;
        WriteDurability durability = WriteDurability::volatile_ok;
    };
    [[nodiscard]] Split split(Sector first, std::uint64_t sectors) const;
    void count_read(Sector first, std::uint32_t sectors) {
        ++counters_.host_reads;
        counters_.host_read_bytes += std::uint64_t{sectors} * sector_bytes;
        const std::uint64_t a_page = ftl_.logical_page_bytes() / sector_bytes;
        const std::uint64_t end = (first.value() + sectors + a_page - 1) / a_page;
        for (std::uint64_t l = first.value() / a_page; l < end; ++l, ++counters_.read_pages)
            if (!front_.is_mapped(Lpn{static_cast<std::uint32_t>(l)})) ++counters_.unmapped_reads;
    }
    [[nodiscard]] bool in_range(Sector first, std::uint64_t sectors) const;
    [[nodiscard]] DeviceError translate(const FtlError& error) const;
    DeviceResult<SimTime> answer(HostRequestEvent event, DeviceResult<SimTime> result);
    [[nodiscard]] SimTime accept(SimTime now, std::uint64_t bytes = 0) {
        last_arrival_ = std::max(last_arrival_, now);
        return host_.accept(now, bytes);
    }
    [[nodiscard]] HostRequestEvent arrived(HostOp op, Sector first, std::uint64_t sectors, const HostIo& host, bool fua = false);
    [[nodiscard]] bool shares_senses(const Split& s) const;
    FtlResult<SimTime> read_pages(Lpn first, std::uint32_t pages, std::span<std::byte> to, const Io& io) {
        return ahead_ ? ahead_->read(first, pages, to, io) : front_.read(first, pages, to, io);
    }
    FtlResult<SimTime> read_part(Lpn lpn, std::uint32_t offset, std::uint32_t bytes, std::span<std::byte> to, const Io& io) {
        return ahead_ ? ahead_->read_part(lpn, offset, bytes, to, io) : front_.read_part(lpn, offset, bytes, to, io);
    }
    FtlResult<SimTime> read_around(const Split& s, std::span<std::byte> to, const Io& io);
    [[nodiscard]] Io link_in(const Split& s, SimTime all_there, std::uint64_t bytes, const Origin& origin);
    FtlResult<SimTime> write_pages(Lpn first, std::uint32_t pages, std::span<const std::byte> from, WriteDurability durability, const Io& io);
    [[nodiscard]] Io piece_in(std::uint64_t bytes_behind, WriteDurability durability, const Io& whole) const;
    FtlResult<SimTime> write_whole(const Split& s, std::span<const std::byte> from, WriteDurability durability, const Io& io);
    FtlResult<SimTime> write_part(const PartWrite& w, const Io& io);

    const SsdConfig& config_;
    Ftl& ftl_;
    NandArray& array_;
    Pram* pram_;
    EventSink& events_;
    std::unique_ptr<BufferedFtl> buffer_;
    std::unique_ptr<DramPartition> partition_;
    Ftl& front_; ///< the buffer, or the scheme itself
    std::unique_ptr<ReadAhead> ahead_;
    std::unique_ptr<WearLeveler> wear_;
    std::unique_ptr<Scrubber> scrub_;
    HostInterface host_;
    BrokenPromises* lies_ = nullptr;
    SimTime last_arrival_ = sim_start;
    SsdCounters counters_;
    SimTime trims_done_ = sim_start; ///< no trim answered so far is durable later, where trims are durable when answered
    std::vector<std::byte> scratch_; ///< one logical page, for partial writes
    std::vector<std::byte> around_;  ///< the logical pages of a read that begins or ends within one
};

} // namespace flashlab

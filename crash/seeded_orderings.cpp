/// Seeded bugs that only some devices, some outcomes or one judge bring to light: orders between dies, shutdowns, sequences, weak and unstable cells.
#include <algorithm>
#include <array>

#include "base/crc32c.h"
#include "crash/forwarding_page_store.h"
#include "crash/lying_ftl.h"
#include "crash/reading_liar.h"
#include "crash/seeded_bugs.h"

namespace flashlab {

namespace {

template <class T>
std::unique_ptr<Sabotage> made() {
    return std::make_unique<T>();
}

/// Some operations start as soon as their chip can, whatever they depend on.
class Hasty : public Sabotage, public NandFaults {
    struct Scheme : LyingFtl {
        Scheme(std::unique_ptr<Ftl> real, Hasty& by) : LyingFtl{std::move(real)}, by_{by} {}
        FtlResult<FtlRecovery> do_recover(SimTime now) override {
            by_.is_running_ = false;
            auto done = below().recover(now);
            by_.is_running_ = true;
            return done;
        }
        FtlResult<SimTime> do_shut_down(SimTime now) override {
            by_.shuts_down();
            return below().shut_down(now);
        }
        Hasty& by_;
    };

public:
    std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) override {
        ftl_ = ftl.get();
        is_running_ = is_shutting_ = false;
        return std::make_unique<Scheme>(std::move(ftl), *this);
    }
    std::unique_ptr<PageStore> around(PageStore& store) override {
        store_ = &store;
        return nullptr;
    }
    void change(SsdConfig& config) override { pages_per_block_ = config.nand.geometry.pages_per_block; }
    void meet(Pram* pram) override { pram_ = pram; }
    NandFaults* faults() override { return this; }
    bool program_fails(Ppn) override { return false; }
    bool erase_fails(BlockId) override { return false; }
    SimTime program_from(Ppn page, SimTime now) override { return is_hasty_program(page) ? sim_start : now; }
    SimTime erase_from(BlockId block, SimTime now) override { return is_hasty_erase(block) ? sim_start : now; }

protected:
    virtual bool is_hasty_program(Ppn) { return false; }
    virtual bool is_hasty_erase(BlockId) { return false; }
    virtual void shuts_down() {}

    /// Is there a programmed page of the host in this block that `good` likes?
    template <class Good>
    [[nodiscard]] bool any_page(BlockId block, const Good& good) {
        records_.resize(pages_per_block_);
        if (!store_->read_block_records(block, records_)) return false;
        return std::ranges::any_of(records_, [&](const PageRecord& record) {
            const auto oob = PageOob::decode(record.oob);
            return record.state == CellState::programmed && oob && oob->kind == PageKind::data && good(*oob);
        });
    }
    [[nodiscard]] bool is_trimmed(const PageOob& oob) const {
        return is_running_ && oob.lpn.value() < ftl_->logical_pages() && !ftl_->is_mapped(oob.lpn);
    }

    Ftl* ftl_ = nullptr;
    PageStore* store_ = nullptr;
    Pram* pram_ = nullptr;
    std::uint32_t pages_per_block_ = 0;
    std::vector<PageRecord> records_;
    bool is_running_ = false;
    bool is_shutting_ = false;
};

class TrimmedBlockEarly final : public Hasty {
    bool is_hasty_erase(BlockId block) override {
        return any_page(block, [this](const PageOob& oob) { return is_trimmed(oob); });
    }
};

/// All that the block held is elsewhere: copied by a collection or a merge, or overwritten.
class CopiedBlockEarly final : public Hasty {
    bool is_hasty_erase(BlockId block) override {
        return is_running_ && !any_page(block, [this](const PageOob& oob) { return is_trimmed(oob); });
    }
};

/// The block's first page tells what the block is for.
class TranslationBeforeData final : public Hasty {
    bool is_hasty_program(Ppn page) override {
        const auto first = store_->read_record(Ppn{page.value() / pages_per_block_ * pages_per_block_});
        const auto oob = first ? PageOob::decode(first->oob) : std::unexpected(OobError::bad_checksum);
        return is_running_ && oob && oob->kind == PageKind::translation;
    }
};

/// The mark of a clean shutdown does not wait for what is under way, such as an erase.
class ShutsDownDuringErases final : public Hasty {
    bool is_hasty_program(Ppn) override { return is_shutting_; }
    void shuts_down() override {
        is_shutting_ = true;
        if (pram_ != nullptr) pram_->forget_order();
    }
};

/// A record of the scheme whose data are damaged is believed, because its OOB parses.
struct BelievesTornRecords : ForwardingPageStore {
    using ForwardingPageStore::ForwardingPageStore;
    std::expected<PageRecord, HostIoError> read_record(Ppn page) override {
        auto record = real_.read_record(page);
        if (!record || record->state != CellState::torn) return record;
        const auto oob = PageOob::decode(record->oob);
        std::array<std::byte, 512> data{};
        if (!oob || oob->kind == PageKind::data || !real_.read_data(page, 0, data)) return record;
        record->state = CellState::programmed;
        record->data_crc = crc32c(data);
        return record;
    }
};

/// Recovery begins its sequence below numbers that are in use: those of the last writes are given out again.
struct RestartsSequences : ForwardingPageStore {
    explicit RestartsSequences(PageStore& real) : ForwardingPageStore{real} {}
    std::expected<void, HostIoError> write_record(Ppn page, const PageRecord& record) override {
        auto oob = PageOob::decode(record.oob);
        if (record.state != CellState::programmed || !oob || !was_used()) return real_.write_record(page, record);
        PageRecord changed = record;
        oob->sequence = WriteSequence{oob->sequence.value() > lag ? oob->sequence.value() - lag : 1};
        oob->encode(changed.oob);
        return real_.write_record(page, changed);
    }

private:
    static constexpr std::uint64_t lag = 3;
    /// Asked before the first write after power-on: has anything been programmed before?
    bool was_used() {
        if (!was_used_) {
            was_used_ = false;
            for (std::uint32_t page = 0; page < 40 && !*was_used_; ++page) { // no tiny device has fewer
                const auto record = real_.read_record(Ppn{page});
                was_used_ = record && record->state != CellState::erased;
            }
        }
        return *was_used_;
    }
    std::optional<bool> was_used_;
};

/// The newest page of the device is lost by recovery.
class LosesTheNewest final : public RecoveryMisreads {
    std::unique_ptr<PageStore> around(PageStore& store) override {
        newest_ = 0;
        for (std::uint32_t page = 0; page < 4096; ++page) {
            const auto record = page < pages_ ? store.read_record(Ppn{page}) : std::expected<PageRecord, HostIoError>{PageRecord{}};
            const auto oob = record ? PageOob::decode(record->oob) : std::unexpected(OobError::bad_checksum);
            if (record && record->state == CellState::programmed && oob) newest_ = std::max(newest_, oob->sequence.value());
        }
        return RecoveryMisreads::around(store);
    }
    void change(SsdConfig& config) override {
        const GeometryConfig& g = config.nand.geometry;
        pages_ = g.channels * g.chips_per_channel * g.dies_per_chip * g.planes_per_die * g.blocks_per_plane * g.pages_per_block;
    }
    void misread(Ppn, PageRecord& record) const override {
        const auto oob = PageOob::decode(record.oob);
        if (!oob || newest_ == 0 || oob->sequence.value() != newest_) return;
        record.state = CellState::garbage;
        record.oob.fill(std::byte{0xff});
    }
    std::uint64_t newest_ = 0;
    std::uint32_t pages_ = 0;
};

/// A page that needed too many corrections passes for a good one while recovery looks.
class MissesCorrections final : public RecoveryMisreads {
    void misread(Ppn, PageRecord& record) const override {
        if (record.state == CellState::unstable) record.state = CellState::programmed;
    }
};

/// The same for ever: the page reads right as long as the power is on, and is gone when it comes back.
struct TrustsUnstablePages : ForwardingPageStore {
    using ForwardingPageStore::ForwardingPageStore;
    std::expected<PageRecord, HostIoError> read_record(Ppn page) override {
        auto record = real_.read_record(page);
        if (record && record->state == CellState::unstable) record->state = CellState::programmed;
        return record;
    }
    std::expected<void, HostIoError> read_block_records(BlockId block, std::span<PageRecord> to) override {
        const auto read = real_.read_block_records(block, to);
        for (PageRecord& record : to) {
            if (record.state == CellState::unstable) record.state = CellState::programmed;
        }
        return read;
    }
};

/// A block that reads erased is not erased again before its first program. `all`: blocks whose every page is weak (a cut erase), else blocks whose
/// first page alone is (a cut program).
template <bool all>
struct TrustsErasedBlocks : ForwardingPageStore {
    TrustsErasedBlocks(PageStore& real, std::uint32_t pages_per_block) : ForwardingPageStore{real}, records_(pages_per_block) {}
    std::expected<void, HostIoError> erase_records(BlockId block) override {
        if (auto read = real_.read_block_records(block, records_); !read) return read;
        const auto weak = static_cast<std::size_t>(std::ranges::count(records_, CellState::weak, &PageRecord::state));
        const bool reads_erased = std::ranges::all_of(records_, [](const PageRecord& r) { return as_read(r.state) == CellState::erased; });
        if (reads_erased && weak == (all ? records_.size() : 1)) return {};
        return real_.erase_records(block);
    }
    /// What is programmed over weak cells is garbage, though the array believes that it has erased them.
    std::expected<void, HostIoError> write_record(Ppn page, const PageRecord& record) override {
        const auto old = real_.read_record(page);
        if (!old || old->state != CellState::weak || record.state != CellState::programmed) return real_.write_record(page, record);
        PageRecord garbage{.state = CellState::garbage, .data_crc = record.data_crc};
        garbage.oob.fill(std::byte{0xff});
        return real_.write_record(page, garbage);
    }

private:
    std::vector<PageRecord> records_;
};

template <bool all>
class ErasedBlocks final : public Sabotage {
    std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) override { return ftl; }
    std::unique_ptr<PageStore> around(PageStore& store) override { return std::make_unique<TrustsErasedBlocks<all>>(store, pages_per_block_); }
    void change(SsdConfig& config) override { pages_per_block_ = config.nand.geometry.pages_per_block; }
    std::uint32_t pages_per_block_ = 0;
};

/// While check() looks, the newest sequence number that the cells have is beyond the one that comes next: only check() compares the two.
class ForgetsTheCeiling final : public Sabotage {
    struct Scheme : LyingFtl {
        Scheme(std::unique_ptr<Ftl> real, bool& looks) : LyingFtl{std::move(real)}, looks_{looks} {}
        std::vector<CheckProblem> do_check() override {
            looks_ = true;
            auto found = below().check();
            looks_ = false;
            return found;
        }
        bool& looks_;
    };
    struct Cells : ForwardingPageStore {
        Cells(PageStore& real, const bool& looks) : ForwardingPageStore{real}, looks_{looks} {}
        std::expected<PageRecord, HostIoError> read_record(Ppn page) override {
            auto record = real_.read_record(page);
            if (!looks_ || !record) return record;
            auto oob = PageOob::decode(record->oob);
            if (record->state != CellState::programmed || !oob) return record;
            oob->sequence = WriteSequence{oob->sequence.value() + (std::uint64_t{1} << 30)};
            oob->encode(record->oob);
            return record;
        }
        const bool& looks_;
    };

public:
    std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> ftl) override { return std::make_unique<Scheme>(std::move(ftl), looks_); }
    std::unique_ptr<PageStore> around(PageStore& store) override { return std::make_unique<Cells>(store, looks_); }

private:
    bool looks_ = false;
};

/// Nobody saves the pages that share cells with the one being programmed.
class LeavesPairsUnguarded final : public Sabotage {
    void change(SsdConfig& config) override { config.nand.options.paired_pages = false; }
};

struct ForgetsFlushes : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_flush(const Io& io) override { return io.when; }
};

struct ForgetsEveryOtherFlush : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_flush(const Io& io) override { return ++flushes_ % 2 == 0 ? below().flush(io) : io.when; }
    int flushes_ = 0;
};

struct TrimsTooLittle : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override {
        return pages < 2 ? below().trim(first, pages, io) : below().trim(first, pages - 1, io);
    }
};

struct TrimsTooMuch : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override {
        const bool fits = first.value() + pages < logical_pages();
        return below().trim(first, pages + (fits ? 1 : 0), io);
    }
};

struct RecoversWithoutTheLastPage : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<FtlRecovery> do_recover(SimTime now) override {
        auto done = below().recover(now);
        const Lpn last{logical_pages() - 1};
        if (!done || !below().is_mapped(last)) return done;
        if (const auto gone = below().trim(last, 1, {done->done, {}}); gone) done->done = std::max(done->done, *gone);
        return done;
    }
};

struct SwapsPagesOfAWrite : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
        if (pages != 2 || from.empty()) return below().write(first, pages, from, io);
        std::vector<std::byte> swapped(from.begin(), from.end());
        std::ranges::rotate(swapped, swapped.begin() + static_cast<std::ptrdiff_t>(from.size() / 2));
        return below().write(first, pages, swapped, io);
    }
};

struct ComplainsOfTheShutdown : LyingFtl {
    using LyingFtl::LyingFtl;
    FtlResult<SimTime> do_shut_down(SimTime now) override {
        const auto done = below().shut_down(now);
        return std::unexpected(FtlError{FtlErrorKind::read_only, Lpn{0}, done ? *done : now});
    }
};

} // namespace

std::vector<SeededBug> seeded_orderings() {
    using Needs = SeededBug::Needs;
    constexpr std::string_view ledgers = "page_map dftl leaftl hftl coftl", merges = "block_map log_block fast";
    constexpr std::string_view sequenced = "page_map block_map log_block fast dftl leaftl coftl";
    constexpr std::string_view one_chip = "chip-slc", some = "chip-slc wide-slc level-slc";
    const auto ordering = [](std::string_view name, std::string_view what, auto make, Judge judge = Judge::contents, std::string_view schemes = {},
                             Needs needs = Needs::nothing) { return SeededBug{name, what, make, needs, "ordering", judge, schemes, {}}; };
    const auto blind_spot = [](std::string_view name, std::string_view what, auto make, Judge judge, std::string_view devices) {
        return SeededBug{name, what, make, Needs::nothing, "judge", judge, {}, devices};
    };
    return {
        ordering("victim_given_back_early", "a collected block is erased before its copies are durable", made<CopiedBlockEarly>, Judge::contents,
                 ledgers),
        ordering("merge_source_given_back_early", "a merged block is erased before the merge is durable", made<CopiedBlockEarly>, Judge::contents,
                 merges),
        ordering("trimmed_block_given_back_early", "a trimmed block is erased before the trim is durable", made<TrimmedBlockEarly>),
        ordering("translation_before_data", "a translation page is programmed before the data that it names", made<TranslationBeforeData>,
                 Judge::contents, "dftl tpftl sftl leaftl learnedftl"),
        ordering("shuts_down_during_erase", "the mark of a clean shutdown does not wait for an erase", made<ShutsDownDuringErases>,
                 Judge::writing_on),
        ordering("believes_torn_records", "a damaged record with a good OOB is believed", made<StoreSabotage<BelievesTornRecords>>, Judge::recovery,
                 sequenced),
        ordering("restarts_sequences", "recovery gives out sequence numbers that are in use", made<StoreSabotage<RestartsSequences>>, Judge::contents,
                 sequenced),
        ordering("flush_stops_at_buffer", "a flush ends at the write buffer and does not reach the scheme", made<FtlSabotage<ForgetsFlushes>>,
                 Judge::contents, {}, Needs::volatile_cache),
        ordering("leaves_pairs_unguarded", "pages that share cells with the one being programmed are not saved", made<LeavesPairsUnguarded>),
        {"forgets_every_other_flush",
         "a flush in two is answered and not done",
         made<FtlSabotage<ForgetsEveryOtherFlush>>,
         Needs::volatile_cache,
         "judge",
         Judge::contents,
         {},
         some},
        {"trims_too_little", "the last page of a trim stays", made<FtlSabotage<TrimsTooLittle>>, Needs::nothing, "scheme", Judge::running},
        {"trims_too_much", "a trim takes the page behind it along", made<FtlSabotage<TrimsTooMuch>>, Needs::nothing, "scheme", Judge::running},
        {"recovers_without_last_page", "recovery forgets the last page", made<FtlSabotage<RecoversWithoutTheLastPage>>},
        {"recovery_loses_newest", "recovery takes the newest page for garbage", made<LosesTheNewest>},
        {"swaps_pages", "the pages of a write change places", made<FtlSabotage<SwapsPagesOfAWrite>>, Needs::nothing, "scheme", Judge::running},
        blind_spot("complains_of_shutdown", "a clean shutdown that succeeds is answered with an error", made<FtlSabotage<ComplainsOfTheShutdown>>,
                   Judge::running, some),
        blind_spot("misses_corrections", "recovery leaves a page in place that can be read once more", made<MissesCorrections>, Judge::contents,
                   some),
        blind_spot("trusts_unstable_pages", "a page that needs many corrections is kept until it is gone", made<StoreSabotage<TrustsUnstablePages>>,
                   Judge::second_cut, some),
        blind_spot("trusts_weak_blocks", "a block whose erase was cut is used because it reads erased", made<ErasedBlocks<true>>, Judge::writing_on,
                   some),
        blind_spot("trusts_blank_pages", "a page whose program was cut is used because it reads erased", made<ErasedBlocks<false>>,
                   Judge::looks_erased, some),
        blind_spot("forgets_the_ceiling", "cells have sequence numbers beyond the next one", made<ForgetsTheCeiling>, Judge::check, one_chip),
    };
}

} // namespace flashlab

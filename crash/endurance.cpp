#include "crash/endurance.h"

#include <fmt/format.h>

#include "base/contract.h"
#include "crash/crash_device.h"
#include "crash/reference_model.h"
#include "crash/scripted_outcomes.h"
#include "crash/tiny_devices.h"

namespace flashlab {

namespace {

using Checked = std::expected<void, std::string>;
constexpr std::uint64_t cuts_a_fill = 500;

class Endurance {
public:
    Endurance(std::unique_ptr<CrashDevice> device, std::uint64_t seed)
        : device_{std::move(device)}, random_{seed}, outcomes_{counts_, device_->config().nand.options.paired_pages} {}

    Checked start() {
        if (auto on = power_on(); !on) return on;
        model_ = std::make_unique<ReferenceModel>(ReferenceModel::of(device_->ssd()));
        pages_.resize(std::size_t{model_->units()} * model_->unit_bytes());
        return {};
    }

    Checked one_cut() {
        last_.clear();
        device_->ssd().settle(now_);
        model_->settle(now_);
        const SimTime from = now_;
        for (std::uint64_t left = 1 + random_.below(3); left != 0; --left) {
            if (auto done = request(); !done) return done;
        }
        const SimTime at = moment(from);
        if (auto torn = tear(at); !torn) return torn;
        const SimTime opened = now_;
        if (auto on = power_on(); !on) return on;
        if (random_.chance(1, 3)) {
            ++report_.cuts_of_recovery;
            if (auto torn = tear(moment(opened)); !torn) return torn;
            if (auto on = power_on(); !on) return on;
        }
        ++report_.cuts;
        return judge(at);
    }

    /// Fills the device to the last page, flushes and cuts. The free blocks afterwards must not become fewer with the number of earlier cuts.
    Checked fill() {
        last_.clear();
        for (std::uint32_t u = 0; u < model_->units(); ++u) {
            if (auto wrote = write(u, 1); !wrote) return wrote;
        }
        const auto flushed = device_->ssd().flush(now_);
        if (!flushed) return std::unexpected("the flush of a full device failed: " + describe(flushed.error()));
        model_->flushed(now_, *flushed);
        now_ = *flushed;
        for (SimTime wake = device_->ssd().tick(now_); wake != sim_never && wake > now_; wake = device_->ssd().tick(now_))
            now_ = wake; // what is under way ends
        now_ = std::max(now_, device_->ssd().last_reserved_end());
        const SimTime at = now_;
        if (auto torn = tear(at); !torn) return torn;
        if (auto on = power_on(); !on) return on;
        ++report_.cuts;
        if (auto judged = judge(at); !judged) return judged;
        const std::uint32_t free = device_->ftl().space().free_blocks;
        report_.last_free_blocks[report_.fills % report_.last_free_blocks.size()] = free;
        if (report_.fills++ == 0) report_.first_free_blocks = report_.least_free_blocks = free;
        report_.least_free_blocks = std::min(report_.least_free_blocks, free);
        if (device_->ftl().space().bad_blocks != first_bad_) return std::unexpected("a block went bad though none failed");
        return {};
    }

    /// The requests and cuts since the last verdict, for the error.
    [[nodiscard]] const std::string& last() const { return last_; }

    EnduranceReport report() {
        report_.erases = 0;
        for (std::uint32_t b = 0; b < device_->array().geometry().blocks(); ++b) report_.erases += device_->array().erase_count(BlockId{b});
        return report_;
    }

private:
    Checked power_on() {
        const auto on = device_->power_on(now_);
        if (!on) return std::unexpected(on.error());
        if (report_.cuts == 0) first_bad_ = device_->ftl().space().bad_blocks;
        report_.most_pages_scanned = std::max(report_.most_pages_scanned, on->pages_scanned);
        now_ = on->done;
        return {};
    }
    Checked write(std::uint32_t unit, std::uint32_t count) {
        last_ += fmt::format(" w{}x{}", unit, count);
        const std::uint32_t sectors = count * (model_->unit_bytes() / sector_bytes);
        const Sector first = model_->sector_of(unit);
        const auto done = device_->ssd().write(first, sectors, model_->stamp(first, sectors), WriteDurability::volatile_ok, now_);
        if (!done) return std::unexpected("a write failed: " + describe(done.error()));
        model_->wrote(first, sectors, now_, *done, WriteDurability::volatile_ok);
        report_.host_pages_written += count;
        now_ = random_.chance(1, 2) ? *done : now_ + Duration{static_cast<std::int64_t>(random_.below(300'000))};
        return {};
    }
    Checked request() {
        const auto unit = static_cast<std::uint32_t>(random_.below(model_->units()));
        const auto count = static_cast<std::uint32_t>(1 + random_.below(std::min(3u, model_->units() - unit)));
        const std::uint64_t what = random_.below(8);
        if (what < 6) return write(unit, count);
        DeviceResult<SimTime> done = now_;
        last_ += what == 6 ? fmt::format(" t{}x{}", unit, count) : " f";
        if (what == 6) {
            const std::uint32_t sectors = count * (model_->unit_bytes() / sector_bytes);
            done = device_->ssd().trim(model_->sector_of(unit), sectors, now_);
            if (done) model_->trimmed(model_->sector_of(unit), sectors, now_, *done);
        } else {
            done = device_->ssd().flush(now_);
            if (done) model_->flushed(now_, *done);
        }
        if (!done) return std::unexpected("a request failed: " + describe(done.error()));
        now_ = std::max(now_, *done);
        return {};
    }
    SimTime moment(SimTime from) {
        const std::int64_t span = std::max<std::int64_t>(0, (device_->ssd().last_reserved_end() - from).count());
        return from + Duration{static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(span) + 1))};
    }
    Checked tear(SimTime at) {
        const std::vector<Ppn> unstable = outcomes_.left_unstable(); // by the cut before
        outcomes_.begin(at, {}, &random_);
        const auto torn = device_->cut(at, outcomes_, outcomes_);
        if (!torn) return std::unexpected(torn.error());
        device_->fade(unstable);
        last_ = fmt::format("{}{}-{}", last_.empty() ? "" : last_ + " ", ns_since_start(at), outcomes_.script());
        now_ = at + off_for;
        return {};
    }
    Checked judge(SimTime cut) {
        const auto problems = device_->ssd().check();
        if (!problems.empty())
            return std::unexpected(fmt::format("check: {} {}: {}", problems.front().invariant, problems.front().where, problems.front().detail));
        const auto read = device_->ssd().read(Sector{0}, static_cast<std::uint32_t>(pages_.size() / sector_bytes), pages_, now_);
        if (!read) return std::unexpected("a page cannot be read after recovery: " + describe(read.error()));
        for (std::uint32_t u = 0; u < model_->units(); ++u) {
            const auto page = std::span<const std::byte>{pages_}.subspan(std::size_t{u} * model_->unit_bytes(), model_->unit_bytes());
            const auto seen = model_->match(u, page, cut);
            if (!seen) return std::unexpected(model_->explain(u, page, cut));
            model_->adopt(u, *seen);
        }
        return {};
    }

    std::unique_ptr<CrashDevice> device_;
    std::unique_ptr<ReferenceModel> model_;
    Random random_;
    OutcomeCounts counts_;
    ScriptedOutcomes outcomes_;
    SimTime now_ = sim_start;
    std::uint32_t first_bad_ = 0;
    std::string last_;
    std::vector<std::byte> pages_;
    EnduranceReport report_;
};

Checked endure(Endurance& run, std::uint64_t cuts, const std::function<bool(const EnduranceReport&)>& go_on) {
    for (std::uint64_t cut = 0; cut < cuts; ++cut) {
        if (auto done = cut % cuts_a_fill == cuts_a_fill - 1 ? run.fill() : run.one_cut(); !done)
            return std::unexpected(fmt::format("cut {} ({}): {}", cut + 1, run.last(), done.error()));
        if (cut % 1000 == 999 && go_on && !go_on(run.report())) break;
    }
    return {};
}

} // namespace

std::expected<EnduranceReport, std::string> endure_cuts(const std::string& scheme, const std::string& device, std::uint64_t cuts, std::uint64_t seed,
                                                        Sabotage* sabotage, const std::function<bool(const EnduranceReport&)>& go_on) {
    const auto config = tiny_device(device, scheme);
    if (!config) return std::unexpected(config.error());
    auto made = CrashDevice::make(*config, Payload::keep, UndoPolicy::keep);
    if (!made) return std::unexpected(made.error());
    (*made)->set_sabotage(sabotage);
    Endurance run{std::move(*made), seed};
    try {
        if (auto started = run.start(); !started) return std::unexpected(started.error());
        if (auto done = endure(run, cuts, go_on); !done) return std::unexpected(done.error());
        return run.report();
    } catch (const ContractViolation& broken) {
        return std::unexpected(fmt::format("contract: {}: {}", broken.place(), broken.what()));
    } catch (const std::exception& error) {
        return std::unexpected(fmt::format("contract: {}", error.what()));
    }
}

} // namespace flashlab

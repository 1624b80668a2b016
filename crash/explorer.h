/// Cuts the power at every instant of a workload, with every outcome, and again at every instant of the recovery, and judges the recovered device.
///
/// Idea       One run of the workload keeps all its undo records. A moment is a time at which the result of a cut changes. Going backwards in time,
///            the explorer rewinds the cells to each moment, copies them, tears the copy in every way, lets it recover, and compares it with the
///            reference model. Then it does the same with the recovery's own undo records.
/// Invariant  X1 between two moments every cut has the same result, so one instant of each interval stands for all of its nanoseconds.
///            X2 a state is judged by check(), by what every page shows (C1..C4), by reads without EIO (C9), and, one in four, by writing on (C7,
///            C8).
///            X3 cells that were met before under the same promises are not recovered again: it would be the same recovery.
/// Cost       For each state a copy of the blocks that changed, the recovery, check() and one read of the device. `crash explore` prints states/s.
/// Power cut  Makes them.
/// Source     CrashMonkey (Mohan et al., OSDI 2018) for bounded exhaustive workloads; littlefs' runner for the one-line replay id.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "crash/crash_case.h"
#include "crash/crash_device.h"
#include "crash/explore_report.h"
#include "crash/judges.h"
#include "crash/reference_model.h"

namespace flashlab {

struct ExploreLimits {
    std::uint32_t cuts = 2; ///< 2: recovery is cut, too
    std::uint64_t states = ~std::uint64_t{0};
    std::size_t violations = 8;                      ///< exploring ends after this many
    std::function<bool(const ExploreReport&)> go_on; ///< asked every thousand states; false ends it
};

class Explorer {
public:
    /// Fails with the reason where the scheme refuses the device. `judges`: fewer than all only to show that each is needed.
    [[nodiscard]] static std::expected<std::unique_ptr<Explorer>, std::string> make(const std::string& scheme, const std::string& device,
                                                                                    Sabotage* sabotage = nullptr, JudgeSet judges = {});
    [[nodiscard]] std::uint32_t units() const { return units_; }
    [[nodiscard]] const SsdConfig& config() const { return config_; }
    [[nodiscard]] const std::string& device() const { return device_name_; }

    /// Tries every outcome at every moment of the workload. Adds to the report.
    void exhaust(const Workload& workload, const ExploreLimits& limits, ExploreReport& report);
    /// Tries `states` moments and outcomes of the workload, drawn at random.
    void sample(const Workload& workload, std::uint64_t states, Random& random, const ExploreLimits& limits, ExploreReport& report);
    /// Says what is wrong after these cuts; nullopt when the contract holds.
    [[nodiscard]] std::optional<std::string> replay(const CrashCase& where);

private:
    static constexpr std::uint32_t most_cuts = 2;
    static constexpr std::uint64_t most_combinations = 256; ///< of one moment

    Explorer(const SsdConfig& config, std::string scheme, std::string device, Sabotage* sabotage, JudgeSet judges);

    void begin(const ExploreLimits* limits, ExploreReport* report, OutcomeCounts& counts);
    [[nodiscard]] Verdict run(const Workload& workload);
    [[nodiscard]] std::optional<std::string> run_steps(const Workload& workload);
    [[nodiscard]] std::optional<std::string> take_step(const WorkloadStep& step, bool aging);
    [[nodiscard]] std::optional<std::string> request(const WorkloadStep& step, std::uint32_t at, std::uint32_t count);
    [[nodiscard]] std::optional<std::string> power_cycle();

    void collect_moments(CrashDevice& from, SimTime earliest, bool with_model, std::vector<SimTime>& moments) const;
    /// Tries all cuts of device `level`. Device `level` + 1 recovers from them.
    void cut_everywhere(std::uint32_t level, SimTime earliest);
    void cut_at(std::uint32_t level, SimTime at);
    void cut_in_every_way(std::uint32_t level, SimTime at);
    void cut_thinned(std::uint32_t level, SimTime at, std::string script);
    /// Whether the recovered device is written to. That is its end: a device whose recovery is to be cut is not.
    enum class Use : std::uint8_t { none, sometimes, always };
    /// Judges one state. False: a violation was found or the state is a known one, and cuts of this recovery are not tried.
    bool judge(std::uint32_t level, SimTime at, std::string_view script, Random* draw, Use use);
    [[nodiscard]] Use use_of(std::uint32_t level) const { return level + 1 >= limits_->cuts ? Use::sometimes : Use::none; }
    /// Cuts the recovery that was just judged, in every way; then it may be written on.
    void go_deeper(std::uint32_t level, SimTime at, const std::string& script);
    [[nodiscard]] Verdict recover_and_check(std::uint32_t level, SimTime at, std::string_view script, Random* draw, Use use);
    [[nodiscard]] std::expected<void, std::string> tear(std::uint32_t level, SimTime at, std::string_view script, Random* draw);
    [[nodiscard]] Verdict compare(std::uint32_t level, SimTime now);
    [[nodiscard]] std::optional<std::string> write_on(CrashDevice& device, SimTime now);
    /// False: the torn cells were judged before under the same promises.
    [[nodiscard]] bool is_new_state(std::uint32_t level);
    [[nodiscard]] bool is_written_on() const { return torn_fingerprint_ * 0x9e3779b97f4a7c15u >> 62 == 0; }
    [[nodiscard]] bool is_done() const;
    void violation(Finding found);

    SsdConfig config_;
    std::string scheme_;
    std::string device_name_;
    Sabotage* sabotage_;
    JudgeSet judges_;
    std::uint32_t units_ = 0;
    std::unique_ptr<CrashDevice> devices_[most_cuts + 1]; ///< [0] runs the workload, [n] recovers from the n-th cut
    std::unique_ptr<ReferenceModel> model_;
    std::vector<SimTime> model_moments_;
    SimTime now_ = sim_start;
    SimTime first_cut_ = sim_start; ///< cuts lie here or later

    const Workload* workload_ = nullptr;
    const ExploreLimits* limits_ = nullptr;
    ExploreReport* report_ = nullptr;
    bool stopped_ = false;
    CutPoint path_[most_cuts];
    std::uint32_t depth_ = 0; ///< cuts in path_
    std::vector<SimTime> moments_[most_cuts];
    bool is_known_ = false;                      ///< the state just judged was judged before
    std::uint64_t torn_fingerprint_ = 0;         ///< of the cells before the recovery just judged
    std::unordered_set<std::uint64_t> seen_;     ///< cells and promises of this workload; looked up only
    std::unordered_set<std::uint64_t> distinct_; ///< cells of all workloads; looked up only
    OutcomeCounts uncounted_;
    std::unique_ptr<ScriptedOutcomes> outcomes_;
    std::vector<std::size_t> shown_;       ///< versions read after the recovery from the first cut
    SimTime seen_by_ = sim_start;          ///< when the host had read them
    std::vector<Ppn> unstable_[most_cuts]; ///< pages that the cut of that level left readable once
    SimTime opened_[most_cuts + 1];
    std::vector<std::byte> pages_; ///< the whole device as read
    std::vector<std::byte> scratch_;
};

} // namespace flashlab

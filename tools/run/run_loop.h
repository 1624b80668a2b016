/// Requests against a target that answers in virtual time: the one loop of replay, bench and preconditioning.
///
/// Idea       Open loop: a request arrives at the time that it carries. Closed loop: the next request arrives when one of the `depth` requests in
///            flight is answered.
/// Invariant  Served = read: every request taken is issued once and answered once; otherwise the run ends with an error that gives the request's
///            number. An answer may be that data cannot be read: it is counted, apart from those with a latency. A signal ends a run. A caller with
///            a watch then gets the tally so far, any other caller an error.
/// Cost       Two indirect calls a request. In steady state a request allocates nothing.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <utility>

#include "tools/drive/device.h"
#include "tools/run/run_report.h"
#include "tools/traces/address_fit.h"

namespace flashlab {

class PayloadStamp;

struct ReplaySpeed {
    std::uint32_t depth = 0;                                               ///< 0 = open loop
    double factor = 1;                                                     ///< open loop: the trace's clock runs this much faster
    Duration lasts = Duration::max();                                      ///< since the run's begin: then nothing is issued any more
    [[nodiscard]] Duration since_begin(const TraceRequest& request) const; ///< open loop: when it arrives
};

/// The next request, or none at the end.
using NextRequest = std::function<std::expected<bool, std::string>(TraceRequest&)>;

/// What sectors that cannot be read are to a run: its end, or an answer like others, as fio's --continue_on_error=io has it.
enum class Unreadable : std::uint8_t { ends_run, is_counted };

/// The space that a load on sectors may use: the whole drive, unless `disk` names a part of it.
struct RunSpace {
    RunSpace(Device& whole)
        : device{&whole}, disk{&whole.ssd()}, begin{whole.ready_at()} {} // NOLINT(google-explicit-constructor): a drive is such a space
    [[nodiscard]] std::uint64_t bytes() const { return disk->identify().sectors * sector_bytes; }
    Device* device;
    BlockDevice* disk;
    PayloadStamp* payload = nullptr; ///< null: the bytes do not matter
    SimTime begin;
    Unreadable unreadable = Unreadable::ends_run;
};

/// When a request was answered; with `failure` the drive did not do what was asked, and goes on.
struct IssueAnswer {
    IssueAnswer(SimTime when, std::string why = {}) : at{when}, failure{std::move(why)} {} // NOLINT(google-explicit-constructor): most are times
    SimTime at;
    std::string failure;
};

/// What is driven.
struct RunTarget {
    /// `waited`: for its turn, before `now`.
    std::function<std::expected<IssueAnswer, std::string>(const TraceRequest& request, SimTime now, Duration waited)> issue;
    /// pass: does the background work that is due by `now`. work_at: tells that background work may have become due.
    std::function<void(SimTime now)> pass;
    std::function<void(SimTime now)> work_at = [](SimTime) {};
};

/// count_from_here: the tally begins anew with the next request.
enum class RunStep : std::uint8_t { go_on, count_from_here, stop };
/// The caller's look at the run, taken after requests.
struct RunWatch {
    std::uint64_t every = 0; ///< requests between two looks; 0 = never
    std::function<RunStep(const RunTally& tally)> look{};
    std::function<void(SimTime now)> counts_from{}; ///< after count_from_here: the next request is about to be issued
};

[[nodiscard]] std::expected<RunTally, std::string> run_requests(const RunTarget& target, const NextRequest& next, const ReplaySpeed& speed,
                                                                SimTime begin, const RunWatch& watch = {});

/// What a target writes where bytes are kept. stamps: each sector has its own content, which is verified at a read. zeros: they take no room in an
/// image.
enum class Written : std::uint8_t { stamps, zeros };
/// A space's sectors as a target, from whose beginning addresses count. What it names and `fit` must outlive the target.
[[nodiscard]] RunTarget sectors_target(const RunSpace& space, AddressFit& fit, Written written = Written::stamps);

} // namespace flashlab

/// What a mount needs of the whole device beside the file system: it settles the device, and it cuts the power.
///
/// Idea       The mount knows instants and the device knows what happens at them; neither includes the other. Where a cut is to meet device work, the
///            mount asks for an instant at which such work is in flight.
/// Invariant  After cut() nothing else is called.
/// Cost       instant_in_flight() walks what is not settled; it is asked only while a cut waits for its instant.
/// Power cut  cut() leaves the stores in the state of the instant `at`. `seed` draws the outcomes of the operations in flight.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/sim_time.h"

namespace flashlab {

/// What is under way at the instant of a cut. work: some program, erase or PRAM word. idle: nothing. flush: the work of a sync. gc: a collection or
/// merge. erase: an erase. recovery: work, and then the recovery from that cut is cut, too.
enum class CutAt : std::uint8_t { work, idle, flush, gc, erase, recovery };
inline constexpr std::array<std::string_view, 6> cut_at_names{"work", "idle", "flush", "gc", "erase", "recovery"};

/// The outcomes of docs/crash-model.md, programs before erases.
inline constexpr std::array<std::string_view, 12> cut_outcome_names{"T0", "T1", "T2", "T3", "T4", "T5", "T6", "E0", "E1", "E2", "E3", "E4"};

struct CutSummary {
    SimTime at;
    std::uint64_t operations_undone = 0;
    std::uint64_t operations_interrupted = 0;   ///< programs and erases in flight
    std::uint64_t operations_torn = 0;          ///< of these, left neither as before nor complete
    std::uint64_t words_interrupted = 0;        ///< PRAM words in flight
    std::array<std::uint64_t, 12> outcomes{};   ///< of the operations in flight, in the order of cut_outcome_names
    std::optional<CutAt> struck = std::nullopt; ///< what it met
    std::int64_t steady_ns = 0;                 ///< of a mount: by the host's steady clock all answers were given before; 0: of none
};

class DevicePower {
public:
    virtual ~DevicePower() = default;
    virtual void settle(SimTime now) = 0;
    [[nodiscard]] virtual SimTime last_reserved_end() const = 0;
    /// An instant, not before `earliest`, at which operations of that kind are in flight; nullopt: none of those that were issued.
    /// `draw` chooses among the instants.
    [[nodiscard]] virtual std::optional<SimTime> instant_in_flight(CutAt kind, SimTime earliest, std::uint64_t draw) = 0;
    [[nodiscard]] virtual CutSummary cut(SimTime at, std::uint64_t seed) = 0;
};

} // namespace flashlab

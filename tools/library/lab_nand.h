/// One simulated chip, whose calls wait, and whose power may fail: what flashlab_nand.h offers to C.
///
/// Idea       A NandArray of one plane on cells that outlive it. Each call begins when the one before has ended.
/// Invariant  What the array takes for a broken promise of its caller (N1) never reaches it: this checks before.
/// Cost       RAM for what is programmed.
/// Power cut  T0 to T5 and E0 to E4 of docs/crash-model.md, drawn from the seed. One operation is in flight at most.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/events.h"
#include "nand/memory_page_store.h"
#include "nand/nand_array.h"
#include "tools/library/noted_instants.h"

namespace flashlab {

enum class LabNandError : std::uint8_t { power_lost, unreadable, out_of_range, not_erased, out_of_order, failed };

class LabNand {
public:
    using Result = std::expected<void, LabNandError>;

    [[nodiscard]] static std::expected<std::unique_ptr<LabNand>, std::string> make(const NandConfig& config);

    [[nodiscard]] const NandConfig& config() const { return config_; }
    [[nodiscard]] std::uint64_t now_ns() const { return static_cast<std::uint64_t>(ns_since_start(now_)); }
    [[nodiscard]] bool has_power() const { return array_ != nullptr; }
    [[nodiscard]] std::uint32_t erase_count(std::uint32_t block) const; ///< 0 without power or beyond the chip

    [[nodiscard]] Result read(std::uint32_t page, std::uint32_t offset, std::span<std::byte> to);
    [[nodiscard]] Result program(std::uint32_t page, std::span<const std::byte> data);
    [[nodiscard]] Result erase(std::uint32_t block);

    void cut_at(std::uint64_t at_ns, std::uint64_t seed);
    [[nodiscard]] Result recover();
    void note_instants() { noted_.begin(); }
    [[nodiscard]] std::vector<std::uint64_t> instants();

private:
    struct Cut {
        SimTime at;
        std::uint64_t seed;
    };
    LabNand(const NandConfig& config, const Geometry& geometry);
    [[nodiscard]] Result power_on();
    template <class Work>
    [[nodiscard]] Result call(bool is_within, const Work& work);
    [[nodiscard]] std::expected<void, LabNandError> check_erased(Ppn page);
    void note();
    void cut();

    NandConfig config_;
    Geometry geometry_;
    NullEventSink events_;
    MemoryPageStore cells_;
    std::unique_ptr<NandArray> array_; ///< null: no power
    SimTime now_ = sim_start;
    std::uint64_t programs_ = 0, cuts_ = 0;
    std::optional<Cut> cut_;
    NotedInstants noted_;
};

} // namespace flashlab

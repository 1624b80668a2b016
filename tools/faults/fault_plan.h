/// The faults in force on a mount: asked by the mount, by the write-back, by the flash and by the image.
///
/// Idea       Each rule counts what matches it, in the order in which it comes, and strikes from its n-th match on.
/// Invariant  A rule is in force from the return of add() to the return of clear(). Whatever strikes is told, with the file where there is one.
///            The same rules and the same calls in the same order give the same faults.
/// Cost       With no rule a compare for each question. A rule with a glob asks for the path of each file once, until a name changes.
/// Power cut  The rules end with the mount.
/// Threading  Inside the monitor.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fs/fuse/request_faults.h"
#include "fs/write_back_faults.h"
#include "ftl/broken_promises.h"
#include "nand/geometry.h"
#include "nand/nand_faults.h"
#include "tools/faults/fault_rule.h"

namespace flashlab {

/// What a plan needs of its mount.
struct FaultSurroundings {
    Geometry chips;                          ///< of the chips themselves
    bool can_lie = false;                    ///< the drive has answered what a cut may take
    std::function<std::string(Ino)> path_of; ///< from the root, "/a/b"; empty: it has no name
    std::function<void(Ino, std::uint64_t offset, std::uint64_t bytes)> drop_kernel_pages;
};

/// One rule struck.
struct FaultStrike {
    SimTime at;
    std::uint64_t rule = 0;
    std::string text;
    Ino ino{0};
    std::string path;
    int error = 0;
};

class FaultPlan final : public RequestFaults, public WriteBackFaults, public NandFaults, public BrokenPromises {
public:
    struct Entry {
        std::uint64_t number;
        FaultRule rule;
        std::uint64_t seen = 0;   ///< matches
        std::uint64_t struck = 0; ///< of these, failed
    };

    explicit FaultPlan(std::function<void(const FaultStrike&)> tell) : tell_{std::move(tell)} {}
    /// Must be called before the first rule is added.
    void set_surroundings(FaultSurroundings surroundings) { around_ = std::move(surroundings); }

    /// Returns the number of the rule, counted from 1. The error: the device has no such die or block, or nothing to lie about.
    [[nodiscard]] std::expected<std::uint64_t, std::string> add(const FaultRule& rule);
    /// nullopt: there is no such rule.
    std::optional<Entry> clear(std::uint64_t number);
    [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
    [[nodiscard]] bool has_flash_rules() const;
    [[nodiscard]] bool has_image_rules() const;
    [[nodiscard]] bool has_lies() const;

    [[nodiscard]] Verdict on_request(FsOp op, Ino ino, SimTime now) override;
    void sync_over() override { failing_sync_ = {Ino{0}, 0}; }
    [[nodiscard]] int write_back_fails(Ino ino) override;
    void page_reverted(Ino ino, std::uint64_t offset, std::uint64_t bytes) override;
    [[nodiscard]] bool program_fails(Ppn page) override;
    [[nodiscard]] bool erase_fails(BlockId block) override;
    [[nodiscard]] bool read_fails(Ppn page) override;
    [[nodiscard]] bool die_is_dead(DieId die) const override;
    [[nodiscard]] bool flush_lies() override { return lies(FaultKind::lie_flush); }
    [[nodiscard]] bool order_lies() override { return lies(FaultKind::lie_order); }
    [[nodiscard]] bool tears() override { return lies(FaultKind::lie_tear); }
    [[nodiscard]] bool would_tear() const override;
    /// The errno with which the host refuses the next write to the image; 0: it does not.
    [[nodiscard]] int image_write_fails();

private:
    [[nodiscard]] bool matches(const FaultRule& rule, std::string_view op, Ino ino);
    /// Counts a match; true: it fails.
    bool strikes(Entry& entry, Ino ino, int error);
    [[nodiscard]] bool flash_strikes(FaultKind kind, BlockId block);
    [[nodiscard]] bool lies(FaultKind kind);
    [[nodiscard]] const std::string& path_of(Ino ino);

    std::function<void(const FaultStrike&)> tell_;
    std::optional<FaultSurroundings> around_;
    std::vector<Entry> entries_;
    std::uint64_t last_number_ = 0;
    SimTime now_ = sim_start;
    std::pair<Ino, int> failing_sync_{Ino{0}, 0}; ///< the write-back of this file fails: its sync does
    std::map<std::uint64_t, std::string> paths_;  ///< by inode; forgotten when a name changes
};

} // namespace flashlab

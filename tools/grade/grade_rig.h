/// A tiny drive beside the reference model of what it may show. The first thing that is wrong stays, and nothing is asked after it.
///
/// Idea       Checks that need no power cut: crash/explorer.h makes those. Requests go to the drive and to the model; the process may die, the drive
///            may be shut down, and then everything is compared.
/// Invariant  R1 to R3 of crash/reference_model.h, W1 to W4 of tools/grade/witness.h.
/// Cost       What the drive costs; comparing reads it whole.
/// Power cut  None here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "crash/crash_device.h"
#include "crash/reference_model.h"
#include "tools/grade/witness.h"

namespace flashlab {

class GradeRig {
public:
    explicit GradeRig(const SsdConfig& config);
    [[nodiscard]] const std::optional<std::string>& wrong() const { return wrong_; }
    /// Keeps the first.
    void is_wrong(std::string what);

    [[nodiscard]] std::uint32_t units() const { return model_ ? model_->units() : 1; }
    [[nodiscard]] CrashDevice& device() { return *device_; }
    [[nodiscard]] SimTime now() const { return now_; }

    void write(std::uint32_t unit, std::uint32_t count, WriteDurability durability = WriteDurability::volatile_ok);
    void trim(std::uint32_t unit, std::uint32_t count);
    void flush();
    /// One random request, or a slice of idle time; half of the requests are waited for.
    void step(Random& random);
    /// Of a page that is drawn; it is waited for.
    void read_any(Random& random);
    /// What is valid in the block moves.
    void relocate(BlockId block);
    /// check() finds nothing, and each page shows its newest version.
    void compare();
    /// The same of check() alone.
    void look();
    /// What the scheme says of itself is true. So many programs may have failed.
    void audit(std::uint64_t failed = 0);
    /// The process dies: what was issued is complete, nothing was shut down.
    void kill();
    void restart_cleanly();

private:
    [[nodiscard]] bool works() const { return device_ != nullptr && model_ != nullptr && !wrong_; }
    void open();
    bool answered(std::string_view what, const DeviceResult<SimTime>& done);
    SimTime read(std::uint32_t unit);   ///< into page_; when it is answered
    void read_part(std::uint32_t unit); ///< after read()

    /// Puts a witness between the drive and the scheme: the drive's own answers come later, over the link.
    class Watch final : public Sabotage {
    public:
        explicit Watch(GradeRig& rig) : rig_{rig} {}
        [[nodiscard]] std::unique_ptr<Ftl> around(std::unique_ptr<Ftl> scheme) override;

    private:
        GradeRig& rig_;
    };
    Watch watch_{*this};
    Witness* witness_ = nullptr;          ///< of the drive that is on
    std::unique_ptr<CrashDevice> device_; ///< ends before its watch
    std::unique_ptr<ReferenceModel> model_;
    std::vector<std::byte> page_;
    SimTime now_ = sim_start;
    bool was_clean_ = false;
    bool has_changed_ = false; ///< written or trimmed since the power came on
    std::optional<std::string> wrong_;
};

} // namespace flashlab

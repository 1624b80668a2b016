/// Turns the events of a drive into sentences, and follows the picture of its flash.
///
/// Idea       Sentences are gathered until the step ends; then they are a frame. Copies and erases of a collection stand where they happened.
/// Invariant  Each flash operation is told and counted once.
/// Cost       A sentence an event.
/// Power cut  Asks the flash itself what is left (look_anew).
#pragma once

#include <string>
#include <vector>

#include "crash/crash_device.h"
#include "ftl/counters.h"
#include "tools/explain/story.h"

namespace flashlab {

class Narrator final : public EventSink {
public:
    Narrator(std::uint32_t blocks, std::uint32_t pages_per_block);

    using EventSink::on;
    void on(const NandOpEvent& event) override;
    void on(const GcJobEvent& event) override;
    void on(const PramWriteEvent& event) override;

    /// What the drive did to make itself ready counts for nobody.
    void begin(CrashDevice& device);
    void host_wrote(std::uint32_t pages) { totals_.host_pages += pages; }
    void trimmed(std::uint32_t first, std::uint32_t pages);
    /// What was torn, or had not begun, is so in the picture.
    void power_failed(CrashDevice& device);
    /// Recovery reads much: it is told as sums.
    void listen_to_recovery() {
        recovers_ = true;
        counted_ = {}; // the scheme begins anew, and counts anew
    }
    /// The picture from the flash itself.
    void look_anew(CrashDevice& device, std::uint32_t units, SimTime now);
    /// Ends a step: its sentences, `also`, and the picture become a frame.
    void finish(const std::string& title, const std::vector<std::string>& also, CrashDevice& device, std::vector<StoryFrame>& frames);
    void finish(const std::string& title, const std::vector<std::string>& also, std::vector<StoryFrame>& frames);

private:
    void tell_program(const NandOpEvent& event);
    void tell_read(const NandOpEvent& event);
    void tell_erase(const NandOpEvent& event);
    void tell_merges(CrashDevice& device);
    void tell_recovery();

    FlashPicture picture_;
    std::vector<std::uint32_t> erases_before_; ///< of each block, before the story began
    std::vector<std::string> lines_;
    StoryTotals totals_;
    CounterValues counted_;
    bool recovers_ = false;
    std::uint64_t recovery_reads_ = 0, recovery_programs_ = 0, recovery_erases_ = 0;
    std::uint64_t pram_words_ = 0; ///< of this step
};

} // namespace flashlab

/// A random program on the whole stack, whose power fails. The same seed gives the same run.
///
/// Idea       Operations are issued before earlier ones are complete. Slow calls run in steps between them, and ticks do the background work. Then
///            the power fails at an instant between the first operation and the last reserved end, and perhaps again during recovery.
///            The model judges.
/// Invariant  Everything follows from the seed. A verdict is a text that says what is wrong; nullopt: nothing is.
/// Cost       About a millisecond a cut on the tiny stack.
/// Power cut  Makes many.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "crash/fs/fs_stack.h"
#include "crash/fs/tree_model.h"

namespace flashlab {

class CrashRig {
public:
    /// On a new drive.
    CrashRig(const FsStackConfig& config, std::uint64_t seed);
    /// On a copy of `image`; `cells`: see FsStack.
    CrashRig(const FsStackConfig& config, std::uint64_t seed, const FsImage& image, FsCells cells);

    /// Runs `steps` operations at most. An error while running is a verdict, too.
    [[nodiscard]] std::optional<std::string> run(std::uint64_t steps);
    /// The power fails at a random instant since the last opening; `twice`: perhaps again during recovery.
    [[nodiscard]] std::optional<std::string> cut(bool twice);
    [[nodiscard]] std::optional<std::string> cut_at(SimTime at, bool twice);
    /// Instants before, within and after each operation of flash and PRAM since the last opening.
    [[nodiscard]] std::vector<SimTime> instants() const;
    /// As kill -9: all issued operations are complete.
    [[nodiscard]] std::optional<std::string> kill();
    [[nodiscard]] std::optional<std::string> remount();

    /// Who was not satisfied, after a verdict.
    [[nodiscard]] Judge convicted_by() const { return convicted_by_; }
    [[nodiscard]] FsStack& stack() { return *stack_; }
    /// The rig's last act: gives the cells away.
    void end(FsCells& cells) {
        pending_.clear();
        cells = stack_->take_cells();
    }
    [[nodiscard]] std::uint64_t operations() const { return operations_; }
    [[nodiscard]] SimTime opened_at() const { return opened_; }
    [[nodiscard]] std::uint64_t recoveries_cut() const { return recoveries_cut_; }

private:
    struct Pending {
        std::unique_ptr<SlowCall> call;
        ModelOp op;
        SimTime resume;
    };
    using Wrong = std::optional<std::string>;
    [[nodiscard]] Wrong convict(Judge judge, std::string what) {
        convicted_by_ = judge;
        return what;
    }
    void open();
    [[nodiscard]] FsCall call();
    void pass(SimTime done);
    /// The operation was answered at `done`: the model knows it from now on, and the clock moves on.
    void keep(ModelOp& op, SimTime done);
    void step_pending();
    bool step_one(std::size_t i);
    void finish_pending();
    /// Makes the call and repeats it while it answers "again". The drive and the other calls go on meanwhile.
    template <class Work>
    [[nodiscard]] auto patient(FsCall call, const Work& work);
    void begin_pending(std::unique_ptr<SlowCall> slow, ModelOp op);
    [[nodiscard]] Wrong reopen(SimTime at);
    [[nodiscard]] Wrong judge(SimTime at);
    [[nodiscard]] SimTime moment();
    /// A random node that satisfies `good`; 0: none.
    template <class Good>
    [[nodiscard]] Ino pick(const Good& good);
    [[nodiscard]] Ino pick_directory();
    [[nodiscard]] Ino pick_any_file();
    [[nodiscard]] Ino pick_file();
    [[nodiscard]] Ino pick_entry(ModelOp& op);
    [[nodiscard]] std::string name();
    [[nodiscard]] ModelOp base(ModelOp::Kind kind, const FsCall& at) const;

    void step();
    void make();
    void make_or_drop_unnamed();
    void link(Ino ino);
    void take_away();
    void rename();
    void change_attribute();
    void change_xattr();
    void write();
    void truncate();
    void allocate();
    void sync(Ino ino);
    void open_or_close();
    void hurry();

    Random random_;
    std::string trouble_;
    JudgeSet judges_;
    Judge convicted_by_ = Judge::recovery;
    std::unique_ptr<FsStack> stack_;
    TreeModel model_;
    SimTime now_ = sim_start;
    SimTime opened_ = sim_start;
    FileTime wall_{.seconds = 1000};
    std::vector<Pending> pending_;
    bool unnamed_;
    std::vector<Ino> open_files_;
    std::vector<Ino> unnamed_files_; ///< made without a name and open since
    Ino hurried_{0};                 ///< the file on which calls follow one another closely; 0: none
    std::uint64_t hurried_calls_ = 0;
    std::vector<SimTime> moments_; ///< issue times, for cuts near them
    std::uint64_t operations_ = 0;
    std::uint64_t recoveries_cut_ = 0;
};

} // namespace flashlab

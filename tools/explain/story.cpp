#include "tools/explain/story.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/random.h"
#include "crash/crash_device.h"
#include "crash/seeded_outcomes.h"
#include "crash/tiny_devices.h"
#include "crash/workload.h"
#include "tools/explain/narrator.h"

namespace flashlab {

namespace {

constexpr std::size_t most_steps = 2000;
using Kind = WorkloadStep::Kind;

std::vector<std::string> words_of(const std::string& script) {
    std::vector<std::string> words;
    std::string word;
    for (const char c : script + ".") {
        if (c != '.' && c != ' ' && c != '\n' && c != ',') {
            word += c;
        } else if (!word.empty()) {
            words.push_back(std::exchange(word, {}));
        }
    }
    return words;
}

std::expected<SsdConfig, std::string> small_drive(const StoryOptions& o) {
    auto config = tiny_device("plane-slc", o.scheme);
    if (!config) return config;
    config->nand.geometry.blocks_per_plane = o.blocks;
    config->nand.geometry.pages_per_block = o.pages_per_block;
    if (o.levels_wear) {
        config->ftl.wear_threshold = 1;
        config->ftl.moving_ring = true;
    }
    return with_enough_blocks(*config);
}

class Stage {
public:
    Stage(std::unique_ptr<CrashDevice> device, const StoryOptions& options)
        : device_{std::move(device)}, seed_{options.seed}, until_{options.until}, folds_{options.folds_pages}, look_{options.look},
          narrator_{device_->geometry().blocks(), device_->config().nand.geometry.pages_per_block} {
        device_->set_events(narrator_);
    }

    std::expected<void, std::string> open(Story& story) {
        const auto opened = device_->power_on(now_);
        if (!opened) return std::unexpected(opened.error());
        now_ = opened->done;
        units_ = device_->ftl().logical_pages();
        narrator_.begin(*device_);
        story.units = units_;
        finish("a new drive", {"nothing is written; every page that the host reads is zero"}, story);
        return {};
    }

    std::expected<void, std::string> take(const std::string& word, Story& story) {
        if (word.front() == 'c') return cut(word, story);
        const auto parsed = Workload::parse(word);
        if (!parsed) return std::unexpected(parsed.error());
        for (const WorkloadStep& step : parsed->steps) {
            if (step.kind == Kind::shut_down) return std::unexpected(std::string{"z, the clean shutdown, ends no story; c cuts the power"});
            if (step.kind != Kind::overwrites) {
                if (auto done = request(step, story); !done) return done;
                continue;
            }
            Random random{step.at};
            for (std::uint32_t i = 0; i < std::min<std::uint32_t>(step.count, most_steps) && !is_over(story); ++i)
                if (auto done = request({Kind::write, static_cast<std::uint32_t>(random.below(units_)), 1, {}}, story); !done) return done;
        }
        return {};
    }

    /// Whether what the story is told for has happened.
    [[nodiscard]] bool is_over(const Story& story) const {
        const StoryTotals& t = story.frames.back().totals;
        return (until_ == "collection" && t.collections != 0) || (until_ == "merge" && t.merges_switch + t.merges_partial + t.merges_full != 0) ||
               (until_ == "cut" && was_cut_);
    }

private:
    std::expected<void, std::string> request(const WorkloadStep& step, Story& story) {
        const std::uint32_t first = folds_ ? step.at % units_ : step.at, count = folds_ ? std::min(step.count, units_ - first) : step.count;
        if (first >= units_ || count > units_ - first)
            return std::unexpected(fmt::format("the drive has the pages 0 to {}; more with --blocks N", units_ - 1));
        const std::uint32_t per_unit = device_->ftl().logical_page_bytes() / sector_bytes;
        Ssd& ssd = device_->ssd();
        const std::string pages = count == 1 ? fmt::format("page {}", first) : fmt::format("pages {} to {}", first, first + count - 1);
        std::string title;
        DeviceResult<SimTime> done = now_;
        begun_ = now_;
        std::vector<std::string> also;
        switch (step.kind) {
        case Kind::write:
        case Kind::write_fua:
        case Kind::write_sectors:
            title = fmt::format("write {}{}", pages, step.kind == Kind::write_fua ? ", durable when answered" : "");
            data_.assign(std::size_t{count} * device_->ftl().logical_page_bytes(), std::byte{0x5a});
            done = ssd.write(Sector{first * per_unit}, count * per_unit, data_,
                             step.kind == Kind::write_fua ? WriteDurability::fua : WriteDurability::volatile_ok, now_);
            narrator_.host_wrote(count);
            break;
        case Kind::read:
            title = "read " + pages;
            done = ssd.read(Sector{first * per_unit}, count * per_unit, {}, now_);
            break;
        case Kind::trim:
        case Kind::trim_sectors:
            title = "trim " + pages;
            done = ssd.trim(Sector{first * per_unit}, std::uint64_t{count} * per_unit, now_);
            narrator_.trimmed(first, count);
            break;
        case Kind::flush:
            title = "flush: everything answered becomes durable";
            done = ssd.flush(now_);
            break;
        default:
            title = "a pause: the drive works for itself";
            (void)ssd.tick(now_);
            done = std::max(now_, ssd.last_reserved_end());
            break;
        }
        if (!done) return std::unexpected(fmt::format("the drive refuses it: {}", describe(done.error())));
        now_ = std::max(now_, *done);
        also.push_back(fmt::format("done after {:.0f} us", static_cast<double>((now_ - begun_).count()) / 1e3));
        finish(title, also, story);
        return {};
    }

    void finish(const std::string& title, const std::vector<std::string>& also, Story& story) {
        narrator_.finish(title, also, *device_, story.frames);
        if (look_) look_(*device_, story.frames.back());
    }

    /// In the midst of the step before: half of its time had passed.
    std::expected<void, std::string> cut(const std::string& word, Story& story) {
        if (word != "c") return std::unexpected(std::string{"c, the power cut, takes no number; --seed says what it leaves"});
        const SimTime at = begun_ + (now_ - begun_) / 2;
        SeededCutOutcomes nand{seed_};
        SeededPramCutOutcomes pram{seed_ ^ 1};
        ++seed_;
        was_cut_ = true;
        const auto report = device_->cut(at, nand, pram);
        if (!report) return std::unexpected(report.error());
        narrator_.power_failed(*device_);
        narrator_.finish("the power fails in the midst of the step before",
                         {fmt::format("{} flash operations had not begun; {} programs and {} erases are torn; DRAM is lost", report->nand.undone,
                                      report->nand.torn_programs, report->nand.torn_erases)},
                         story.frames);
        narrator_.listen_to_recovery();
        now_ = std::max(now_, at) + Duration{1'000'000};
        begun_ = now_;
        const auto back = device_->power_on(now_);
        if (!back) return std::unexpected(back.error());
        const double took = static_cast<double>((back->done - now_).count()) / 1e3;
        now_ = back->done;
        narrator_.look_anew(*device_, units_, now_);
        finish("the power is back: recovery",
               {fmt::format("{} spare areas were read to find the map again, which took {:.0f} us", back->pages_scanned, took)}, story);
        return {};
    }

    std::unique_ptr<CrashDevice> device_;
    std::uint64_t seed_;
    std::string until_;
    bool folds_, was_cut_ = false;
    std::function<void(CrashDevice&, const StoryFrame&)> look_;
    Narrator narrator_;
    SimTime now_ = sim_start, begun_ = sim_start;
    std::uint32_t units_ = 0;
    std::vector<std::byte> data_; ///< of a write
};

} // namespace

std::expected<Story, std::string> tell_story(const std::string& script, const StoryOptions& options) {
    const auto config = small_drive(options);
    if (!config) return std::unexpected(config.error());
    auto device = CrashDevice::make(*config, Payload::keep, UndoPolicy::keep);
    if (!device) return std::unexpected(device.error());
    Story story{.scheme = options.scheme,
                .blocks = (*device)->geometry().blocks(),
                .pages_per_block = config->nand.geometry.pages_per_block,
                .units = 0,
                .frames = {}};
    Stage stage{std::move(*device), options};
    if (auto opened = stage.open(story); !opened) return std::unexpected(opened.error());
    const bool has_end = !options.until.empty();
    const std::string all = !script.empty() || !has_end ? script
                            : options.until == "cut"    ? "w0x8.w3.c"
                                                        : fmt::format("w0x{}.r1x{}", story.units, most_steps);
    for (const std::string& word : words_of(all)) {
        if (has_end && stage.is_over(story)) break;
        if (auto taken = stage.take(word, story); !taken)
            return std::unexpected(taken.error().starts_with("step ") ? taken.error() : fmt::format("step '{}': {}", word, taken.error()));
        if (has_end && story.frames.size() > most_steps) break; // told below
        if (story.frames.size() > most_steps) return std::unexpected(fmt::format("a story has {} steps at most", most_steps));
    }
    if (has_end && !stage.is_over(story))
        return std::unexpected(fmt::format("no {} came in {} steps of {}: give it more writes, or another --ftl{}", options.until,
                                           story.frames.size() - 1, options.scheme,
                                           options.until != "merge"    ? ""
                                           : options.scheme == "coftl" ? " (coftl merges what was overwritten in order: w0x8.w0x8.w0x8.r3x900)"
                                                                       : " (block_map, log_block, fast and coftl merge)"));
    return story;
}

} // namespace flashlab

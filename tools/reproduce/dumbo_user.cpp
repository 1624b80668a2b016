#include <algorithm>
#include <array>
#include <deque>

#include <fmt/format.h>

#include "base/contract.h"
#include "ftl/schemes/merge_plan.h"
#include "tools/drive/device_plan.h"
#include "tools/drive/device_presets.h"
#include "tools/reproduce/dumbo_parameters.h"
#include "tools/reproduce/dumbo_raw.h"
#include "tools/reproduce/experiments.h"
#include "tools/run/virtual_device.h"

namespace flashlab {
namespace {

// Device: S2:I2, pipelined, one chip a channel as at raw level, scheme log_block. Load: a file read or overwritten from front to back, 4 KB a
// request.
constexpr DumboLayout layout{.striping = 2, .interleaving = 2, .is_pipelined = true};
constexpr std::uint32_t request_bytes = 4096; ///< the operating system's page, and a superpage of S2
constexpr std::uint32_t depth = 2 * layout.interleaving;
constexpr std::array<std::uint32_t, 6> block_sizes{4096, 8192, 16384, 32768, 65536, 131072};
/// Free: application, operating system and FTL keep the CPU, which moves the data itself, from a request of 4 KB for so long.
constexpr Duration cpu_of_request{46'000};

enum class Mode : std::uint8_t { read_ahead, synchronous, asynchronous };

/// Ours: the paper says that the threads compete the more the larger the block, not how much. The requests of one write() come to the driver
/// together, and each of them but the first finds the other group's thread at work on the one before.
constexpr std::uint32_t late_percent_of(Mode mode, std::uint32_t block_bytes) {
    return mode == Mode::asynchronous ? 100 - 100 * request_bytes / block_bytes : 0;
}

DeviceConfig device_of_user() {
    const DriverOverheads over;
    const auto preset = find_device_preset("dumbo");
    ensure(preset.has_value(), "the preset dumbo exists");
    DeviceConfig config;
    config.ssd = preset->config;
    NandConfig& nand = config.ssd.nand;
    nand.geometry.chips_per_channel = 1;
    nand.striping = layout.striping;
    nand.timing.page_program += over.program_status;
    nand.timing.host_interface_command += cpu_of_request / layout.striping;
    nand.timing.host_interface_confirm += over.write_software / layout.striping;
    config.ssd.ftl.scheme = "log_block";
    config.ssd.ftl.options.set(merge_option::interleaving, layout.interleaving);
    return config;
}

class User {
public:
    /// So many of a hundred requests are completed late; see dumbo_write_competing().
    User(DumboOp op, std::uint64_t file_bytes, std::uint32_t late_percent) : op_{op}, file_bytes_{file_bytes}, late_percent_{late_percent} {}
    std::expected<void, std::string> prepare();
    /// MB/s of the file's bytes, front to back, in blocks of so many bytes.
    std::expected<double, std::string> run(Mode mode, std::uint32_t block_bytes);

private:
    std::expected<SimTime, std::string> issue(DumboOp op, std::uint64_t request, SimTime now);
    std::expected<double, std::string> drive(DumboOp op, Mode mode, std::uint32_t block_bytes);

    struct Request {
        std::uint64_t number;
        SimTime done;
    };
    using InFlight = std::deque<Request>; ///< of a group
    [[nodiscard]] SimTime seen_complete(const Request& request, const InFlight& of_other) const;

    DumboOp op_;
    std::uint64_t file_bytes_;
    std::uint32_t late_percent_;
    NullEventSink events_;
    std::unique_ptr<Device> device_;
    SimTime now_ = sim_start;
};

std::expected<void, std::string> User::prepare() {
    const auto plan = plan_device(device_of_user(), std::nullopt);
    if (!plan) return std::unexpected(plan.error());
    auto made = make_virtual_device(*plan, Payload::none, events_);
    if (!made) return std::unexpected(made.error());
    device_ = std::move(*made);
    if (auto started = device_->start(sim_start); !started) return started;
    now_ = device_->ready_at();
    const auto filled = drive(DumboOp::write, Mode::asynchronous, request_bytes);
    return filled ? std::expected<void, std::string>{} : std::unexpected(filled.error());
}

/// A request is a page of the striped drive; which group it goes to is ftl.interleaving's business (section 4.2.2).
std::expected<SimTime, std::string> User::issue(DumboOp op, std::uint64_t request, SimTime now) {
    constexpr std::uint32_t sectors = request_bytes / sector_bytes;
    Ssd& ssd = device_->ssd();
    const Sector first{request * sectors};
    const auto done = op == DumboOp::read ? ssd.read(first, sectors, {}, now + DriverOverheads{}.of_read(layout.striping))
                                          : ssd.write(first, sectors, {}, WriteDurability::volatile_ok, now);
    if (!done) return std::unexpected(to_text(done.error()));
    return *done;
}

/// A driver thread that does not hold the CPU sees the end of its request when the other's busy wait is over.
SimTime User::seen_complete(const Request& request, const InFlight& of_other) const {
    const std::uint64_t in_group = request.number / layout.interleaving; // of both groups the same part is late
    const bool competes = (in_group + 1) * late_percent_ / 100 != in_group * late_percent_ / 100;
    const auto wait = std::ranges::find_if(
        of_other, [&](SimTime end) { return end > request.done; }, &Request::done);
    return competes && wait != of_other.end() ? wait->done : request.done;
}

/// Read-ahead and the buffer cache keep the device full; a synchronous write() waits for its own requests before the next begins.
std::expected<double, std::string> User::drive(DumboOp op, Mode mode, std::uint32_t block_bytes) {
    const SimTime begin = now_;
    SimTime end = begin;
    std::array<InFlight, layout.interleaving> in_flight;
    for (std::uint64_t r = 0; r < file_bytes_ / request_bytes; ++r) {
        auto& group = in_flight[r % layout.interleaving];
        if (mode == Mode::synchronous && r * request_bytes % block_bytes == 0) now_ = std::max(now_, end);
        if (group.size() == depth / layout.interleaving) {
            now_ = std::max(now_, seen_complete(group.front(), in_flight[(r + 1) % layout.interleaving]));
            group.pop_front();
        }
        device_->settle(now_);
        const auto done = issue(op, r, now_);
        if (!done) return std::unexpected(done.error());
        group.push_back({r, *done});
        end = std::max(end, *done);
    }
    now_ = end;
    return static_cast<double>(file_bytes_ / request_bytes * request_bytes) * 1e3 / static_cast<double>((end - begin).count());
}

std::expected<double, std::string> User::run(Mode mode, std::uint32_t block_bytes) { return drive(op_, mode, block_bytes); }

/// On a drive of its own, whose file was written once before.
std::expected<double, std::string> measure(RunLength length, DumboOp op, Mode mode, std::uint32_t block_bytes, std::uint32_t late_percent) {
    User user{op, length == RunLength::quick ? std::uint64_t{4} << 20 : std::uint64_t{32} << 20, late_percent};
    if (auto ready = user.prepare(); !ready) return std::unexpected(ready.error());
    return user.run(mode, block_bytes);
}

struct Curve {
    const char* series;
    DumboOp op;
    Mode mode;
};
constexpr std::array curves{Curve{"read, MB/s", DumboOp::read, Mode::read_ahead},
                            Curve{"write asynchronous, MB/s", DumboOp::write, Mode::asynchronous},
                            Curve{"write synchronous, MB/s", DumboOp::write, Mode::synchronous}};

Json::Object params(DumboOp op, std::uint32_t block_bytes) {
    return {{"op", op == DumboOp::read ? "read" : "write"}, {"request_bytes", block_bytes},      {"striping", layout.striping},
            {"interleaving", layout.interleaving},          {"pipelining", layout.is_pipelined}, {"ftl", "log_block"}};
}

void judge(Reproduction& out, const std::array<std::vector<double>, 3>& y, double raw_read, double raw_write) {
    const auto& [read, cached, synced] = y;
    const auto range = fmt::format("{:.2f} MB/s at 4 KB, {:.2f} at 128 KB", cached.front(), cached.back());
    const auto claim = [&out](const char* name, std::string ours, Evidence evidence) {
        out.claim("mc-fig16", name, std::move(ours), {std::move(evidence)});
    };
    claim("reads do not reach the raw throughput", fmt::format("{:.2f} of {:.2f} MB/s; the CPU's time is a free parameter", read.back(), raw_read),
          {{read.back()}, {raw_read}});
    claim("asynchronous writes are roughly independent of the block size", range + "; by construction of the load, but for the threads' competition",
          {cached});
    claim("asynchronous writes fall slightly with the block size", range + "; by construction: only the rule of the threads knows the block size",
          {{cached.back()}, {cached.front()}});
    claim("small synchronous writes cannot use the parallelism",
          fmt::format("{:.2f} MB/s at 4 KB, {:.2f} at 128 KB; raw {:.2f}", synced.front(), synced.back(), raw_write),
          {{synced.front(), synced.front()}, {synced.back(), cached.front()}});
}

} // namespace

std::expected<Reproduction, std::string> run_mc_fig16(RunLength length) {
    Reproduction out;
    std::array<std::vector<double>, 3> y;
    for (std::size_t c = 0; c < curves.size(); ++c) {
        for (const std::uint32_t block_bytes : block_sizes) {
            const auto speed = measure(length, curves[c].op, curves[c].mode, block_bytes, late_percent_of(curves[c].mode, block_bytes));
            if (!speed) return std::unexpected(speed.error());
            y[c].push_back(*speed);
            out.points.push_back({curves[c].series, static_cast<double>(block_bytes), params(curves[c].op, block_bytes), *speed});
        }
    }
    std::array<double, 2> raw{};
    for (const DumboOp op : {DumboOp::read, DumboOp::write}) {
        const auto result = run_dumbo({.op = op, .request_bytes = request_bytes, .requests = 1024, .layout = layout, .overheads = {}});
        if (!result) return std::unexpected(result.error());
        raw[static_cast<std::size_t>(op)] = result->megabytes_per_second;
    }
    const double share = y[0].back() / raw[0];
    out.points.push_back({"read over raw, times", static_cast<double>(block_sizes.back()), params(DumboOp::read, block_sizes.back()), share});
    judge(out, y, raw[0], raw[1]);
    out.free_parameters = dumbo_user_free_parameters(cpu_of_request);
    return out;
}

std::expected<double, std::string> dumbo_write_competing(RunLength length, std::uint32_t percent_of_completions) {
    return measure(length, DumboOp::write, Mode::asynchronous, request_bytes, percent_of_completions);
}

} // namespace flashlab

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/contract.h"
#include "ftl/memory_drive.h"
#include "ftl/schemes/demand_options.h"
#include "ftl/schemes/page_plan.h"
#include "tools/drive/device.h"
#include "tools/drive/device_presets.h"
#include "tools/reproduce/experiments.h"
#include "tools/reproduce/load.h"
#include "tools/traces/address_fit.h"

namespace flashlab {
namespace {

// Device and load of figure 4's Financial, without a partition: 16 MB of buffer and 16 MB of maps, everything divided by the scale. One request after
// the other. The host flushes after each so many requests.
constexpr std::uint64_t buffer_bytes = 16u << 20;
constexpr std::uint64_t map_bytes = 16u << 20;
constexpr std::uint32_t blocks = 524'288;
constexpr std::uint64_t all_requests = 2'000'000;
constexpr std::array<std::uint32_t, 6> flush_intervals{1, 4, 16, 64, 256, 1024};

enum class Place : std::uint8_t { none, dram, pram, pram_of_2008 };
struct Buffer {
    Place place;
    const char* name;
};
constexpr std::array buffers{Buffer{Place::none, "no buffer"}, Buffer{Place::dram, "DRAM"}, Buffer{Place::pram, "PRAM, 8 bytes in 500 ns"},
                             Buffer{Place::pram_of_2008, "PRAM of Kim et al., 2 bytes in 10 us"}};

struct Seen {
    double ms_a_request = 0;
    double programs_a_request = 0;
};

SsdConfig config_of(Place place, std::uint32_t scale) {
    const auto preset = find_device_preset("slc-64g");
    ensure(preset.has_value(), "the preset slc-64g exists");
    SsdConfig config = preset->config;
    config.nand.geometry.blocks_per_plane = blocks / scale + blocks / scale / 1000 * 30;
    config.nand.factory_bad_per_million = 0;
    config.ftl.scheme = "dftl";
    config.ftl.reserved_permille = 29; // 3 % on top
    config.ftl.options.set(demand_option::mapping_cache_bytes, map_bytes / scale);
    config.ftl.options.set(page_option::checkpoint_blocks, 1u << 30);
    if (place == Place::dram) config.dram.write_buffer_bytes = buffer_bytes / scale;
    if (place == Place::pram || place == Place::pram_of_2008) config.dram.pram_buffer_bytes = buffer_bytes / scale;
    config.pram.word_bytes = place == Place::pram_of_2008 ? 2 : 8;
    config.pram.word_read = Duration{place == Place::pram_of_2008 ? 80 : 100};
    config.pram.word_write = Duration{place == Place::pram_of_2008 ? 10'000 : 500};
    return config;
}

class PramBuffer {
public:
    explicit PramBuffer(const RunContext& context)
        : context_{context}, scale_{context.is_quick() ? 256u : 32u},
          load_{context, "financial", fmt::format("workload:financial,requests={},scale={},seed=1", all_requests / scale_, scale_)} {}
    std::expected<Reproduction, std::string> run();

private:
    std::expected<Seen, std::string> measure(Place place, std::uint32_t interval) const;
    void judge();
    [[nodiscard]] double ms(Place place, std::uint32_t interval) const { return seen_.at({place, interval}).ms_a_request; }

    RunContext context_;
    std::uint32_t scale_;
    Load load_;
    std::map<std::pair<Place, std::uint32_t>, Seen> seen_;
    Reproduction out_;
};

double programs_of(const NandArray& array) {
    double all = 0;
    for (const std::uint64_t n : array.counters().programs) all += static_cast<double>(n);
    return all;
}

std::expected<SimTime, std::string> fill(MemoryDrive& drive) {
    constexpr std::uint32_t at_once = 64;
    SimTime now = sim_start;
    const auto recovered = drive.ssd().recover(now);
    if (!recovered) return std::unexpected(to_text(recovered.error()));
    now = recovered->done;
    Ftl& ftl = drive.ftl(); // below the buffer
    for (std::uint32_t lpn = 0; lpn < ftl.logical_pages(); lpn += at_once) {
        const auto done = ftl.write(Lpn{lpn}, std::min(at_once, ftl.logical_pages() - lpn), {}, {now, {Cause::user, no_event}});
        if (!done) return std::unexpected(std::string{"filling the drive: a write failed"});
        now = std::max(now, *done);
        drive.ssd().settle(now);
    }
    return now;
}

std::expected<Seen, std::string> PramBuffer::measure(Place place, std::uint32_t interval) const {
    NullEventSink nobody;
    auto drive = MemoryDrive::make(config_of(place, scale_), Payload::none, nobody);
    if (!drive) return std::unexpected(drive.error());
    const auto filled = fill(**drive);
    if (!filled) return std::unexpected(filled.error());
    auto trace = load_.open();
    if (!trace) return std::unexpected(trace.error());
    Ssd& ssd = (*drive)->ssd();
    AddressFit fit{FitPolicy::wrap, ssd.identify().sectors * sector_bytes};
    const double programs = programs_of((*drive)->array());
    SimTime now = *filled;
    std::uint64_t requests = 0;
    const auto wait = [&now](const DeviceResult<SimTime>& done) -> std::expected<void, std::string> {
        if (!done) return std::unexpected(to_text(done.error()));
        now = std::max(now, *done);
        return {};
    };
    TraceRequest request;
    for (auto more = (*trace)->next(request);; more = (*trace)->next(request)) {
        if (!more) return std::unexpected(more.error());
        if (!*more) break;
        if (request.op != TraceOp::read && request.op != TraceOp::write) continue;
        const auto pieces = fit.place(request);
        if (!pieces) return std::unexpected(pieces.error());
        for (const AddressPiece& piece : **pieces) {
            const std::uint64_t first = piece.offset / sector_bytes;
            const auto sectors = static_cast<std::uint32_t>(sectors_of(piece.offset, piece.bytes));
            auto done = wait(request.op == TraceOp::read ? ssd.read(Sector{first}, sectors, {}, now)
                                                         : ssd.write(Sector{first}, sectors, {}, WriteDurability::volatile_ok, now));
            if (!done) return std::unexpected(done.error());
        }
        if (++requests % interval == 0)
            if (auto done = wait(ssd.flush(now)); !done) return std::unexpected(done.error());
        ssd.settle(now);
    }
    if (requests == 0) return std::unexpected(std::string{"the load financial has no request that reads or writes"});
    const auto n = static_cast<double>(requests);
    return Seen{.ms_a_request = static_cast<double>((now - *filled).count()) / 1e6 / n,
                .programs_a_request = (programs_of((*drive)->array()) - programs) / n};
}

void PramBuffer::judge() {
    const auto claim = [this](std::string name, std::string ours, std::vector<Evidence> evidence) {
        out_.claim("beyond-pram-buffer", std::move(name), std::move(ours), std::move(evidence));
    };
    const std::uint32_t often = flush_intervals.front(), seldom = flush_intervals.back();
    claim("with a flush after each request PRAM is faster than DRAM",
          fmt::format("{:.3f} ms against {:.3f}", ms(Place::pram, often), ms(Place::dram, often)),
          {{{ms(Place::dram, often)}, {ms(Place::pram, often)}}});
    Evidence level, loss;
    for (const std::uint32_t interval : flush_intervals) {
        level.over.push_back(ms(Place::pram, interval));
        loss.over.push_back(ms(Place::pram, interval));
        loss.under.push_back(ms(Place::dram, interval));
    }
    claim("a buffer in PRAM takes the same time however often the host flushes",
          fmt::format("{:.3f} ms at each request, {:.3f} at each {}th", level.over.front(), level.over.back(), seldom), {level});
    claim("the more seldom the host flushes, the less PRAM gains on DRAM",
          fmt::format("{:.2f} of DRAM's time at each request, {:.2f} at each {}th", loss.values().front(), loss.values().back(), seldom), {loss});
    claim("with the words of Kim et al. a buffer in PRAM is slower than none",
          fmt::format("{:.2f} ms against {:.2f}", ms(Place::pram_of_2008, often), ms(Place::none, often)),
          {{{ms(Place::pram_of_2008, often)}, {ms(Place::none, often)}}});
}

std::expected<Reproduction, std::string> PramBuffer::run() {
    struct Setting {
        Buffer buffer;
        std::uint32_t interval;
    };
    std::vector<Setting> settings;
    for (const Buffer& buffer : buffers)
        for (const std::uint32_t interval : flush_intervals) settings.push_back({buffer, interval});
    const auto measured = measure_points<Seen>(context_.workers, settings.size(),
                                               [&](std::size_t i) { return measure(settings[i].buffer.place, settings[i].interval); });
    if (!measured) return std::unexpected(measured.error());
    for (std::size_t i = 0; i < settings.size(); ++i) {
        const auto& [buffer, interval] = settings[i];
        const Seen& seen = measured->at(i);
        seen_[{buffer.place, interval}] = seen;
        const Json::Object params{{"buffer", buffer.name}, {"flush_each", interval}, {"buffer_bytes", buffer_bytes / scale_}};
        const char* unit =
            buffer.place == Place::pram_of_2008 ? "ms a request of the slow PRAM" : "ms a request"; // a plot of its own: 30 times the others
        out_.points.push_back({fmt::format("{}, {}", buffer.name, unit), static_cast<double>(interval), params, seen.ms_a_request});
    }
    for (std::size_t i = 0; i < settings.size(); ++i) {
        const auto& [buffer, interval] = settings[i];
        const Json::Object params{{"buffer", buffer.name}, {"flush_each", interval}, {"buffer_bytes", buffer_bytes / scale_}};
        out_.points.push_back(
            {fmt::format("{}, programs a request", buffer.name), static_cast<double>(interval), params, measured->at(i).programs_a_request});
    }
    judge();
    const auto source = load_.source();
    if (!source) return std::unexpected(source.error());
    out_.loads.push_back(*source);
    out_.free_parameters = {{"buffer and maps", "16 MB each, fixed", "a partition would hide what the place of the buffer does"},
                            {"PRAM", "8 bytes in 500 ns, read in 100; beside it Table 1 of Kim et al., 2 bytes in 10 us, read in 80 ns",
                             "the default of this project, and the one part whose times a paper of the four gives"},
                            {"flushes", "after each 1 to 1024 requests", "the traces have none"}};
    return std::move(out_);
}

} // namespace

std::expected<Reproduction, std::string> run_beyond_pram_buffer(const RunContext& context) { return PramBuffer{context}.run(); }

} // namespace flashlab

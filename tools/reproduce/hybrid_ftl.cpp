#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "tools/reproduce/experiments.h"
#include "tools/reproduce/hybrid_device.h"
#include "tools/reproduce/hybrid_parameters.h"

namespace flashlab {
namespace {

// Device: preset k9g8g08u0m. Load: one request at a time within a quarter of the drive, which was written once from front to back; the rest was never
// written, so that hFTL has free blocks for the whole span. Beside it the steady state: all of the drive written, then overwritten at random until
// collections are routine.
constexpr std::array<std::uint32_t, 9> request_sizes{8u << 10,   16u << 10,  32u << 10, 64u << 10, 128u << 10,
                                                     256u << 10, 512u << 10, 1u << 20,  2u << 20};
constexpr std::array<std::uint32_t, 4> quick_sizes{8u << 10, 64u << 10, 256u << 10, 2u << 20};
constexpr std::uint32_t small = request_sizes.front();
constexpr std::array<std::string_view, 2> schemes_compared{"log_block", "hftl"};
constexpr std::uint64_t seed = 11;

enum class Load : std::uint8_t { sequential_write, random_write, sequential_read, random_read };
constexpr std::array loads{Load::sequential_write, Load::random_write, Load::sequential_read, Load::random_read};
constexpr std::string_view name_of(Load load) {
    constexpr std::array<std::string_view, 4> names{"sequential write", "random write", "sequential read", "random read"};
    return names[static_cast<std::size_t>(load)];
}
constexpr bool is_write(Load load) { return load == Load::sequential_write || load == Load::random_write; }
constexpr bool is_random(Load load) { return load == Load::random_write || load == Load::random_read; }

struct Span {
    std::uint64_t region = 0; ///< bytes that requests fall into
    std::uint64_t bytes = 0;  ///< moved while the clock is watched
};

/// MB/s of so many bytes in requests of one size; random ones lie at multiples of their size.
std::expected<double, std::string> drive(HybridDevice& device, Load load, std::uint32_t request, Span span) {
    Random random{seed};
    const std::uint64_t places = span.region / request;
    const std::uint64_t requests = std::max<std::uint64_t>(1, span.bytes / request);
    const SimTime begin = device.now();
    for (std::uint64_t r = 0; r < requests; ++r) {
        const std::uint64_t place = (is_random(load) ? random.below(places) : r % places) * request;
        if (auto done = is_write(load) ? device.write(place, request) : device.read(place, request); !done) return std::unexpected(done.error());
    }
    return static_cast<double>(requests * request) * 1e3 / static_cast<double>((device.now() - begin).count());
}

class Figure {
public:
    explicit Figure(RunLength length) : is_quick_{length == RunLength::quick} {}

    std::expected<Reproduction, std::string> run();

private:
    [[nodiscard]] HybridChoice choice(std::string_view scheme) const { return {.scheme = scheme, .blocks = is_quick_ ? 1024u : 4096u}; }
    [[nodiscard]] std::span<const std::uint32_t> sizes() const {
        return is_quick_ ? std::span<const std::uint32_t>{quick_sizes} : std::span<const std::uint32_t>{request_sizes};
    }
    std::expected<void, std::string> measure_fresh(std::string_view scheme);
    std::expected<void, std::string> measure_steady(std::string_view scheme);
    void add(std::string series, std::string_view scheme, Load load, std::uint32_t request, double y);
    void judge(const RawSpeed& raw);
    void judge_sequential(const RawSpeed& raw);
    void claim(std::string name, std::string ours, Evidence evidence) {
        out_.claim("hy-fig11", std::move(name), std::move(ours), {std::move(evidence)});
    }
    double at(std::string_view scheme, Load load, std::uint32_t request) const { return fresh_.at({std::string{scheme}, load, request}); }

    bool is_quick_;
    std::map<std::tuple<std::string, Load, std::uint32_t>, double> fresh_;
    Reproduction out_;
};

void Figure::add(std::string series, std::string_view scheme, Load load, std::uint32_t request, double y) {
    out_.points.push_back(
        {std::move(series), static_cast<double>(request), {{"ftl", scheme}, {"workload", name_of(load)}, {"request_bytes", request}}, y});
}

std::expected<void, std::string> Figure::measure_fresh(std::string_view scheme) {
    for (const Load load : loads) {
        for (const std::uint32_t request : sizes()) {
            auto device = HybridDevice::make(choice(scheme));
            if (!device) return std::unexpected(device.error());
            const Span span{.region = device->bytes() / 4 / request_sizes.back() * request_sizes.back(), .bytes = is_quick_ ? 8u << 20 : 32u << 20};
            if (auto filled = device->fill(span.region); !filled) return filled;
            const auto speed = drive(*device, load, request, span);
            if (!speed) return std::unexpected(speed.error());
            fresh_[{std::string{scheme}, load, request}] = *speed;
            add(fmt::format("{} {}, MB/s", scheme, name_of(load)), scheme, load, request, *speed);
        }
    }
    return {};
}

std::expected<void, std::string> Figure::measure_steady(std::string_view scheme) {
    for (const std::uint32_t request : {small, 64u << 10}) {
        auto device = HybridDevice::make(choice(scheme));
        if (!device) return std::unexpected(device.error());
        if (auto filled = device->fill(device->bytes()); !filled) return filled;
        // The page map needs a turn of overwrites; every merge of log_block is like the one before.
        const Span span{.region = device->bytes(), .bytes = is_quick_ ? 8u << 20 : 32u << 20};
        const Span warm_up{.region = span.region, .bytes = scheme == "hftl" ? span.region : span.bytes / 4};
        if (auto warm = drive(*device, Load::random_write, request, warm_up); !warm) return std::unexpected(warm.error());
        const auto speed = drive(*device, Load::random_write, request, span);
        if (!speed) return std::unexpected(speed.error());
        add(fmt::format("{} random write, steady state, MB/s", scheme), scheme, Load::random_write, request, *speed);
    }
    return {};
}

void Figure::judge_sequential(const RawSpeed& raw) {
    for (const Load load : {Load::sequential_write, Load::sequential_read}) {
        const double limit = is_write(load) ? raw.write : raw.read;
        Evidence speeds;
        for (const std::string_view scheme : schemes_compared)
            for (const std::uint32_t request : sizes()) {
                speeds.over.push_back(at(scheme, load, request));
                speeds.under.push_back(limit);
            }
        const auto [least, most] = std::ranges::minmax(speeds.over);
        claim(fmt::format("{}s reach raw speed on both translation layers", name_of(load)),
              fmt::format("{:.2f} to {:.2f} MB/s, raw {:.2f}", least, most, limit), speeds);
    }
}

void Figure::judge(const RawSpeed& raw) {
    judge_sequential(raw);
    std::vector<double> hybrid, logs;
    for (const std::uint32_t request : sizes()) {
        hybrid.push_back(at("hftl", Load::random_write, request));
        logs.push_back(at("log_block", Load::random_write, request));
    }
    const auto [least, most] = std::ranges::minmax(hybrid);
    const double first = at("log_block", Load::random_write, small);
    const double last = at("log_block", Load::random_write, request_sizes.back());
    claim("random writes of hftl do not depend on the request size", fmt::format("{:.3f} to {:.3f} MB/s", least, most), {hybrid});
    claim("random writes of log_block fall with the request size", fmt::format("{:.3f} MB/s at 2 MB, {:.3f} at 8 KB", last, first), {logs});
}

std::expected<Reproduction, std::string> Figure::run() {
    const auto raw = measure_raw_speed();
    if (!raw) return std::unexpected(raw.error());
    for (const std::string_view scheme : schemes_compared) {
        if (auto measured = measure_fresh(scheme); !measured) return std::unexpected(measured.error());
        if (auto measured = measure_steady(scheme); !measured) return std::unexpected(measured.error());
    }
    add("raw write, MB/s", "none", Load::sequential_write, 2048, raw->write);
    add("raw read, MB/s", "none", Load::sequential_read, 2048, raw->read);
    const double gain = at("hftl", Load::random_write, small) / at("log_block", Load::random_write, small);
    add("random write, hftl over log_block, times", "hftl", Load::random_write, small, gain);
    judge(*raw);
    out_.free_parameters = hybrid_board_parameters();
    out_.free_parameters.push_back({"span", "a quarter of the drive, written once before; 32 MB measured, quick 8",
                                    "not given; nothing else is written, so that hFTL collects nothing, and merges have pages to copy"});
    return std::move(out_);
}

} // namespace

std::expected<Reproduction, std::string> run_hy_fig11(RunLength length) { return Figure{length}.run(); }

} // namespace flashlab

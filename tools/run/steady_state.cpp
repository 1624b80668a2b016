#include "tools/run/steady_state.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace flashlab {
namespace {

std::uint64_t sum(const std::uint64_t (&by_cause)[cause_count]) {
    return std::accumulate(std::begin(by_cause), std::end(by_cause), std::uint64_t{0});
}

Json spread_json(const SteadyState::Spread& s) { return Json::object({{"mean", s.mean}, {"excursion", s.excursion}, {"slope", s.slope}}); }

} // namespace

LiveData LiveData::of(Device& device) {
    const auto identity = device.ssd().identify();
    return {device.ftl().space().mapped_pages * identity.atomic_unit_bytes, identity.sectors * sector_bytes, device.array().geometry().bytes()};
}

double Settling::shrinks_between(const LiveData& before, const LiveData& after, std::uint64_t written_bytes) {
    if (after.bytes <= before.bytes || written_bytes == 0) return 0;
    const double went = static_cast<double>(after.bytes - before.bytes), left = static_cast<double>(after.flash_bytes - after.bytes);
    return went / std::max(1.0, left) * static_cast<double>(after.drive_bytes) / static_cast<double>(written_bytes);
}

std::string Settling::why_not() const {
    if (overwritten < least) return fmt::format("too little was overwritten: {:.2f} of {:g} fills", overwritten, least);
    if (shrinks <= shrinks_at_most) return {};
    return fmt::format(
        "the drive still fills up: by {:.1f} % of the space without live data for each time that it is written, where {:g} % are allowed",
        shrinks * 100, shrinks_at_most * 100);
}

SteadyState::SteadyState(Device& device, std::uint64_t window_bytes, bool judges_speed, SimTime begin, double overwritten)
    : device_{device}, window_bytes_{window_bytes}, judges_speed_{judges_speed}, begin_{begin}, overwritten_before_{overwritten},
      first_{now_at(begin)}, last_{first_} {}

std::uint64_t SteadyState::usual_window(Device& device) {
    const auto identity = device.ssd().identify();
    return std::max<std::uint64_t>(identity.sectors * sector_bytes / 20, std::uint64_t{64} * identity.atomic_unit_bytes);
}

SteadyState::Counters SteadyState::now_at(SimTime now) const {
    const NandCounters& nand = device_.array().counters();
    return {device_.ssd().counters().host_write_bytes, sum(nand.programs), sum(nand.erases), now, LiveData::of(device_)};
}

bool SteadyState::look(std::uint64_t requests, SimTime now) {
    if (device_.ssd().counters().host_write_bytes < last_.written + window_bytes_) return false;
    const Counters here = now_at(now);
    const double written = static_cast<double>(here.written - last_.written), seconds = static_cast<double>((here.at - last_.at).count()) / 1e9;
    Window& window = windows_[count_++ % windows_compared];
    window.programs = here.programs - last_.programs;
    window.erases = here.erases - last_.erases;
    window.written = here.written - last_.written;
    window.live_before = last_.live;
    window.waf = static_cast<double>(window.programs) * device_.array().geometry().page_bytes() / written;
    window.megabytes_per_second = seconds > 0 ? written / 1e6 / seconds : 0;
    last_ = here;
    if (!reached_ && why_not().empty()) reached_ = Reached{requests, now};
    return true;
}

Settling SteadyState::settling() const {
    const std::uint64_t written = last_.written - first_.written;
    const std::uint64_t grown = last_.live.bytes - std::min(last_.live.bytes, first_.live.bytes);
    const double overwritten =
        static_cast<double>(written - std::min(written, grown)) / static_cast<double>(std::max<std::uint64_t>(1, last_.live.bytes));
    const Window& oldest = windows_[count_ < windows_compared ? 0 : count_ % windows_compared];
    std::uint64_t compared = 0;
    for (const Window& w : windows_) compared += w.written;
    return {overwritten_before_ + overwritten, Settling::shrinks_between(oldest.live_before, last_.live, compared)};
}

std::string SteadyState::why_not() const {
    if (count_ < windows_compared) return fmt::format("{} of {} windows were written", count_, windows_compared);
    std::uint64_t programs = 0, erases = 0;
    for (const Window& w : windows_) {
        programs += w.programs;
        erases += w.erases;
    }
    const std::uint64_t filled = programs / device_.array().geometry().pages_per_block();
    std::vector<std::string> why{settling().why_not(), spread(&Window::waf).why_not("write amplification")};
    if (erases * 10 < filled * 9) why.emplace_back("free space is being used up");
    if (judges_speed_) why.push_back(spread(&Window::megabytes_per_second).why_not("throughput"));
    std::erase(why, "");
    return fmt::format("{}", fmt::join(why, "; "));
}

SteadyState::Spread SteadyState::spread(double Window::*value) const {
    std::array<double, windows_compared> values{};
    const std::uint64_t n = std::min<std::uint64_t>(count_, windows_compared);
    for (std::uint64_t i = 0; i < n; ++i) values[i] = windows_[(count_ - n + i) % windows_compared].*value;
    return spread_of(std::span{values}.first(n));
}

SteadyState::Spread SteadyState::spread_of(std::span<const double> values) {
    if (values.empty()) return {};
    const double n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    const auto [low, high] = std::ranges::minmax(values);
    double products = 0, squares = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double x = static_cast<double>(i) - (n - 1) / 2;
        products += x * (values[i] - mean);
        squares += x * x;
    }
    if (mean <= 0) return {mean, 0, 0};
    const double rise = squares > 0 ? std::abs(products / squares) * (n - 1) : 0;
    return {mean, (high - low) / mean, rise / mean};
}

std::string SteadyState::Spread::why_not(std::string_view value) const {
    if (is_steady()) return {};
    return fmt::format("{} still changes: excursion {:.1f} %, slope {:.1f} %", value, excursion * 100, slope * 100);
}

Json SteadyState::to_json() const {
    return Json::object({{"reached", reached()},
                         {"why_not", reached_ ? Json{} : Json{why_not()}},
                         {"at_request", reached_ ? Json{reached_->request} : Json{}},
                         {"at_sim_seconds", reached_ ? Json{static_cast<double>((reached_->at - begin_).count()) / 1e9} : Json{}},
                         {"window_bytes", window_bytes_},
                         {"windows", count_},
                         {"overwritten", settling().overwritten},
                         {"waf", spread_json(spread(&Window::waf))},
                         {"write_mb_s", spread_json(spread(&Window::megabytes_per_second))}});
}

} // namespace flashlab

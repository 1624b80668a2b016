#include "tools/run/steady_state.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace flashlab {
namespace {

std::uint64_t sum(const std::uint64_t (&by_cause)[cause_count]) {
    return std::accumulate(std::begin(by_cause), std::end(by_cause), std::uint64_t{0});
}

Json spread_json(const SteadyState::Spread& s) { return Json::object({{"mean", s.mean}, {"excursion", s.excursion}, {"slope", s.slope}}); }

} // namespace

SteadyState::SteadyState(Device& device, std::uint64_t window_bytes, bool judges_speed, SimTime begin)
    : device_{device}, window_bytes_{window_bytes}, judges_speed_{judges_speed}, begin_{begin}, last_{now_at(begin)} {}

std::uint64_t SteadyState::usual_window(Device& device) {
    const auto identity = device.ssd().identify();
    return std::max<std::uint64_t>(identity.sectors * sector_bytes / 20, std::uint64_t{64} * identity.atomic_unit_bytes);
}

SteadyState::Counters SteadyState::now_at(SimTime now) const {
    const NandCounters& nand = device_.array().counters();
    return {device_.ssd().counters().host_write_bytes, sum(nand.programs), sum(nand.erases), now};
}

bool SteadyState::look(std::uint64_t requests, SimTime now) {
    if (device_.ssd().counters().host_write_bytes < last_.written + window_bytes_) return false;
    const Counters here = now_at(now);
    const double written = static_cast<double>(here.written - last_.written), seconds = static_cast<double>((here.at - last_.at).count()) / 1e9;
    Window& window = windows_[count_++ % windows_compared];
    window.programs = here.programs - last_.programs;
    window.erases = here.erases - last_.erases;
    window.waf = static_cast<double>(window.programs) * device_.array().geometry().page_bytes() / written;
    window.megabytes_per_second = seconds > 0 ? written / 1e6 / seconds : 0;
    last_ = here;
    if (!reached_ && is_steady()) reached_ = Reached{requests, now};
    return true;
}

bool SteadyState::is_steady() const {
    if (count_ < windows_compared) return false;
    std::uint64_t programs = 0, erases = 0;
    for (const Window& w : windows_) {
        programs += w.programs;
        erases += w.erases;
    }
    const std::uint64_t filled = programs / device_.array().geometry().pages_per_block();
    if (erases * 10 < filled * 9) return false;
    return spread(&Window::waf).is_steady() && (!judges_speed_ || spread(&Window::megabytes_per_second).is_steady());
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

Json SteadyState::to_json() const {
    return Json::object({{"reached", reached()},
                         {"at_request", reached_ ? Json{reached_->request} : Json{}},
                         {"at_sim_seconds", reached_ ? Json{static_cast<double>((reached_->at - begin_).count()) / 1e9} : Json{}},
                         {"window_bytes", window_bytes_},
                         {"windows", count_},
                         {"waf", spread_json(spread(&Window::waf))},
                         {"write_mb_s", spread_json(spread(&Window::megabytes_per_second))}});
}

} // namespace flashlab

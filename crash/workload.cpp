#include "crash/workload.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/contract.h"
#include "base/random.h"

namespace flashlab {

namespace {

using Kind = WorkloadStep::Kind;

bool has_place(Kind kind) { return kind != Kind::flush && kind != Kind::idle && kind != Kind::shut_down; }

std::expected<std::uint32_t, std::string> take_number(std::string_view& text, std::string_view of) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::unexpected(fmt::format("a number below 2^32 is missing in step '{}'", of));
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

std::expected<WorkloadStep, std::string> parse_step(std::string_view whole) {
    WorkloadStep step;
    std::string_view text = whole;
    if (text.empty() || std::string_view{"wWpgtqrfiz"}.find(text.front()) == std::string_view::npos)
        return std::unexpected(
            fmt::format("step '{}' is unknown; steps are w3 and w0x4 (write), W3 (FUA), p5x3, g3 (read), t3 (trim), q5x3, r7x20, f, i, z", whole));
    step.kind = static_cast<Kind>(text.front());
    text.remove_prefix(1);
    if (has_place(step.kind)) {
        const auto at = take_number(text, whole);
        if (!at) return std::unexpected(at.error());
        step.at = *at;
        if (text.starts_with('x')) {
            text.remove_prefix(1);
            const auto count = take_number(text, whole);
            if (!count) return std::unexpected(count.error());
            if (*count == 0) return std::unexpected(fmt::format("step '{}' has a count of 0", whole));
            step.count = *count;
        }
    }
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        const auto gap = take_number(text, whole);
        if (!gap) return std::unexpected(gap.error());
        step.gap_ns = *gap;
    }
    if (!text.empty()) return std::unexpected(fmt::format("step '{}' has '{}' behind it; steps are as w3 or w0x4", whole, text));
    return step;
}

std::expected<std::vector<WorkloadStep>, std::string> parse_steps(std::string_view text) {
    std::vector<WorkloadStep> steps;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('.'), text.size());
        const auto step = parse_step(text.substr(0, end));
        if (!step) return std::unexpected(step.error());
        steps.push_back(*step);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return steps;
}

std::string join(const std::vector<WorkloadStep>& steps) {
    std::string out;
    for (const WorkloadStep& step : steps) {
        if (!out.empty()) out += '.';
        out += step.text();
    }
    return out;
}

WorkloadStep random_step(Random& random, std::uint32_t units) {
    constexpr std::pair<Kind, std::uint32_t> weights[] = {{Kind::write, 10},       {Kind::write_fua, 2}, {Kind::write_sectors, 1}, {Kind::trim, 2},
                                                          {Kind::trim_sectors, 1}, {Kind::flush, 3},     {Kind::idle, 1},          {Kind::read, 2}};
    WorkloadStep step;
    std::uint64_t drawn = random.below(22);
    for (const auto& [kind, weight] : weights) {
        step.kind = kind;
        if (drawn < weight) break;
        drawn -= weight;
    }
    if (has_place(step.kind)) {
        // Half of the requests go to a quarter of the device, so that pages are overwritten while they are young.
        step.at = static_cast<std::uint32_t>(random.below(random.chance(1, 2) ? units : units / 4 + 1));
        step.count = static_cast<std::uint32_t>(1 + random.below(random.chance(1, 4) ? 8 : 2));
    }
    if (random.chance(1, 2)) step.gap_ns = static_cast<std::uint32_t>(random.below(400'000));
    return step;
}

} // namespace

std::string WorkloadStep::text() const {
    const std::string place = !has_place(kind) ? "" : count == 1 ? fmt::format("{}", at) : fmt::format("{}x{}", at, count);
    const std::string gap = gap_ns ? fmt::format("+{}", *gap_ns) : "";
    return fmt::format("{}{}{}", static_cast<char>(kind), place, gap);
}

std::string Workload::text() const { return aging.empty() ? join(steps) : fmt::format("{}/{}", join(aging), join(steps)); }

std::expected<Workload, std::string> Workload::parse(std::string_view text) {
    Workload workload;
    if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
        auto aging = parse_steps(text.substr(0, slash));
        if (!aging) return std::unexpected(aging.error());
        workload.aging = std::move(*aging);
        text.remove_prefix(slash + 1);
    }
    auto steps = parse_steps(text);
    if (!steps) return std::unexpected(steps.error());
    workload.steps = std::move(*steps);
    for (std::size_t i = 0; i + 1 < workload.steps.size(); ++i) {
        if (workload.steps[i].kind == Kind::shut_down) return std::unexpected("z, the clean shutdown, is the last step, or stands before the '/'");
    }
    return workload;
}

Workload Workload::random(std::uint64_t seed, std::uint32_t steps, std::uint32_t units) {
    Random random{seed};
    Workload workload;
    const std::uint64_t age = random.below(4);
    if (age != 0) workload.aging.push_back({Kind::write, 0, age == 1 ? units / 2 : units, {}});
    if (age >= 2)
        workload.aging.push_back(
            {Kind::overwrites, static_cast<std::uint32_t>(random.below(1'000'000)), static_cast<std::uint32_t>(1 + random.below(2 * units)), {}});
    if (age != 0 && random.chance(1, 2)) workload.aging.push_back({random.chance(1, 3) ? Kind::shut_down : Kind::flush, 0, 1, {}});
    for (std::uint32_t i = 0; i < steps; ++i) workload.steps.push_back(random_step(random, units));
    if (random.chance(1, 8)) workload.steps.push_back({Kind::shut_down, 0, 1, {}});
    return workload;
}

std::vector<Workload> standard_workloads(std::uint32_t units) {
    std::vector<Workload> all;
    for (const std::string& text : {
             std::string{"w0x3.f.w1.t2.f.w0x2+1000.W4+1000.w1.w5x4"},
             fmt::format("w0x{}.f/w3.w3+2000.w9x3+5000.f.w0x4.w3", units),
             fmt::format("w0x{}.r1x{}.f/w0.i.w2+3000.w7.t1x2.f.w5x4.i.w1", units, 2 * units),
             std::string{"w0x9.f.t0x3/w1x2.t1.w3+1000.t3.f.w1.w0x5.w9.w3"},
             fmt::format("w0x{}.r2x{}.z/w4x2.w0.z", units / 2, units / 2),
         }) {
        const auto workload = Workload::parse(text);
        ensure(workload.has_value(), "a standard workload parses");
        all.push_back(*workload);
    }
    return all;
}

} // namespace flashlab

#include "crash/crash_case.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace flashlab {

namespace {

std::string_view take_field(std::string_view& text) {
    const std::size_t end = std::min(text.find(':'), text.size());
    const std::string_view field = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return field;
}

std::expected<CutPoint, std::string> parse_cut(std::string_view text) {
    std::int64_t ns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
    const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
    if (error != std::errc{} || ns < 0 || !rest.starts_with('-'))
        return std::unexpected(fmt::format("cut '{}' is not NANOSECONDS-OUTCOMES, such as 1234567-02", text));
    const std::string outcomes{rest.substr(1)};
    if (!std::ranges::all_of(outcomes, [](char c) { return c >= '0' && c <= '7'; }))
        return std::unexpected(fmt::format("outcomes '{}' of a cut are not digits from 0 to 7", outcomes));
    return CutPoint{sim_time_from_ns(ns), outcomes};
}

} // namespace

std::string CrashCase::id() const {
    std::string out = fmt::format("{}:{}:{}", scheme, device, workload.text());
    for (const CutPoint& cut : cuts) out += fmt::format(":{}-{}", ns_since_start(cut.at), cut.outcomes);
    return out;
}

std::expected<CrashCase, std::string> CrashCase::parse(std::string_view id) {
    CrashCase parsed;
    std::string_view rest = id;
    parsed.scheme = take_field(rest);
    parsed.device = take_field(rest);
    if (parsed.scheme.empty() || parsed.device.empty())
        return std::unexpected(
            fmt::format("'{}' is not SCHEME:DEVICE:WORKLOAD:NANOSECONDS-OUTCOMES…, such as hftl:chip-slc:w0x3.f.w1:1234567-02", id));
    auto workload = Workload::parse(take_field(rest));
    if (!workload) return std::unexpected(workload.error());
    parsed.workload = std::move(*workload);
    while (!rest.empty()) {
        auto cut = parse_cut(take_field(rest));
        if (!cut) return std::unexpected(cut.error());
        parsed.cuts.push_back(std::move(*cut));
    }
    return parsed;
}

} // namespace flashlab

#include "tools/workloads/workload_source.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tools/traces/trace_fields.h"
#include "tools/workloads/paper_workloads.h"
#include "tools/workloads/workload_generator.h"

namespace flashlab {
namespace {

constexpr std::string_view prefix = "workload:";

class WorkloadSource final : public TraceSource {
public:
    WorkloadSource(const WorkloadSpec& spec, std::uint64_t seed, std::uint64_t requests) : generator_{spec, seed}, left_{requests} {}

    std::expected<std::optional<TraceParse>, std::string> next(TraceRequest& request) override {
        if (at_ == made_) {
            made_ = std::min<std::uint64_t>(batch_.size(), left_);
            if (made_ == 0) return std::nullopt;
            generator_.fill(std::span{batch_}.first(made_));
            left_ -= made_;
            at_ = 0;
        }
        ++number_;
        request = batch_[at_++];
        return TraceParse::request();
    }
    std::string where() const override { return fmt::format("request {}", number_); }

private:
    WorkloadGenerator generator_;
    std::array<TraceRequest, 256> batch_{};
    std::size_t at_ = 0, made_ = 0;
    std::uint64_t left_, number_ = 0;
};

} // namespace

bool is_workload_name(std::string_view path) { return path.starts_with(prefix); }

std::expected<std::unique_ptr<TraceSource>, std::string> make_workload_source(std::string_view path) {
    std::uint64_t requests = 2'000'000, scale = 1, seed = 1;
    std::string_view rest = path.substr(prefix.size());
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view name = rest.substr(0, comma);
    for (rest.remove_prefix(comma); !rest.empty();) {
        rest.remove_prefix(1);
        const std::string_view part = rest.substr(0, rest.find(','));
        rest.remove_prefix(part.size());
        const std::size_t equals = std::min(part.find('='), part.size());
        const std::string_view key = part.substr(0, equals);
        const auto value = parse_unsigned(part.substr(std::min(equals + 1, part.size())));
        std::uint64_t* const to = key == "requests" ? &requests : key == "scale" ? &scale : key == "seed" ? &seed : nullptr;
        if (to == nullptr || !value)
            return std::unexpected(
                fmt::format("'{}': requests=N, scale=1 to 256 or seed=N is wanted, as in workload:financial,requests=100000,scale=16", part));
        *to = *value;
    }
    if (requests == 0 || scale > 256)
        return std::unexpected(fmt::format("requests={},scale={}: at least one request and a scale of 1 to 256 are wanted", requests, scale));
    const auto spec = paper_workload(name, static_cast<std::uint32_t>(scale));
    if (!spec) return std::unexpected(spec.error());
    return std::make_unique<WorkloadSource>(*spec, seed, requests);
}

} // namespace flashlab

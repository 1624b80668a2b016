#include "ftl/schemes/log_block_scheme.h"

#include "ftl/schemes/log_block.h"
#include "ftl/schemes/merge_plan.h"

namespace flashlab {

namespace {

constexpr MergeScheme kind{"log_block", 2, 0};

std::expected<FtlPlan, std::string> plan_log_block(const SsdConfig& config, const Geometry& geometry) {
    auto planned = plan_merge(kind, config, geometry);
    if (!planned) return std::unexpected(planned.error());
    return planned->plan;
}

std::expected<std::unique_ptr<Ftl>, std::string> make_log_block(const FtlParts& parts) {
    auto planned = plan_merge(kind, parts.config, parts.array.geometry());
    if (!planned) return std::unexpected(planned.error());
    return std::make_unique<LogBlockFtl>(std::move(planned->ftl), parts.array, parts.events);
}

} // namespace

const Scheme& log_block_scheme() {
    static constexpr Scheme scheme{"log_block", "block map with a log block for each logical block under write (BAST, LBFTL)", plan_log_block, make_log_block};
    return scheme;
}

} // namespace flashlab

#include "tests/examples/last.h"

#include "ftl/schemes/merge_plan.h"

namespace flashlab {

FtlResult<MergeFtl::Place> LastFtl::place(Lpn lpn, std::uint32_t pages, SimTime now) {
    const LogicalBlock home = map_.block_of(lpn);
    const bool is_long = pages >= long_pages_;
    if (const auto own = logs_.of_home(home)) {
        const bool continues = logs_.has_room(*own) && logs_.at(*own).next == map_.offset_of(lpn);
        if (continues || (is_long && logs_.has_room(*own))) {
            logs_.touch(*own);
            return place_in(*own, pages);
        }
        if (is_long)
            if (auto merged = merge(home, now); !merged) return std::unexpected(merged.error());
    }
    if (!is_long)
        if (const auto shared = logs_.newest(LogKind::shared); shared && logs_.has_room(*shared)) return place_in(*shared, pages);
    const auto slot = open_one(is_long ? std::optional{home} : std::nullopt, now);
    if (!slot) return std::unexpected(slot.error());
    return place_in(*slot, pages);
}

FtlResult<LogSlot> LastFtl::open_one(std::optional<LogicalBlock> home, SimTime now) {
    const LogKind kind = home ? LogKind::own : LogKind::shared;
    const LogKind other = home ? LogKind::shared : LogKind::own;
    while (logs_.count(kind) >= most_of(kind) || logs_.count() >= max_logs()) {
        const auto victim = logs_.oldest(logs_.count(kind) >= most_of(kind) ? kind : other);
        if (!victim) return std::unexpected(FtlError{FtlErrorKind::no_free_block, Lpn{0}, now});
        if (auto emptied = reclaim(*victim, now); !emptied) return std::unexpected(emptied.error());
    }
    own_logs_opened_ += home ? 1 : 0;
    return open_log(home, now);
}

namespace {

constexpr MergeKind kind{.name = "last", .logs_beside = 1, .warning = {}};
constexpr std::array options = joined(merge_options, std::array<const Option*, 1>{&last_option::long_pages});
constexpr std::array counters =
    joined(merge_counters, std::array{Counter{"own_logs_opened", "blocks", "Log blocks opened for long writes to one logical block.",
                                              [](const Ftl& ftl) { return dynamic_cast<const LastFtl&>(ftl).own_logs_opened(); }}});

std::expected<std::unique_ptr<Ftl>, std::string> make_last(const FtlParts& parts) {
    return make_of<LastFtl>(kind, parts, parts.config.ftl.options[last_option::long_pages]);
}

} // namespace

const Scheme& last_scheme() {
    static constexpr Scheme scheme{.name = kind.name,
                                   .idea = "block map with log blocks of their own for long writes, and shared ones for short (LAST)",
                                   .keys = merge_keys,
                                   .options = options,
                                   .counters = counters,
                                   .plan = [](const SsdConfig& config, const Geometry& geometry) { return plan_of(kind, config, geometry); },
                                   .make = make_last};
    return scheme;
}

} // namespace flashlab

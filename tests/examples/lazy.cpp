/// Lazy: a map on flash whose cache of entries moves an entry only now and then. The worked example of docs/adding-a-scheme.md; only tests have it.
///
/// Idea       dftl moves an entry to the hot end at each use: three links are written for a look-up. Lazy does so at each n-th use of the cache. An
///            entry that is used often is still moved often.
/// Invariant  Those of DemandTable and LruEntries. With n = 1 it is dftl.
/// Cost       As dftl's; a few hits fewer.
/// Power cut  As dftl's.
/// Source     Controllers do so; this is no paper's.
#include "ftl/maps/lru_entries.h"
#include "ftl/schemes/demand_scheme.h"

namespace flashlab {
namespace {

constexpr OptionOf<std::uint32_t> every{
    {.key = "lazy.every", .help = "Uses of the cache between two that move an entry to the hot end.", .initial = 8, .min = 1, .max = 1000}};

class LazyEntries : public LruEntries {
public:
    LazyEntries(const CachedEntries& cached, std::uint32_t entries_per_page, std::uint32_t translation_pages, std::uint32_t n)
        : LruEntries{cached, entries_per_page, translation_pages}, every_{n} {}
    [[nodiscard]] std::optional<std::uint32_t> use(Lpn lpn) {
        const auto entry = peek(lpn);
        if (!entry || ++uses_ % every_ != 0) return entry;
        ++moves_;
        return LruEntries::use(lpn);
    }
    [[nodiscard]] std::uint64_t moves() const { return moves_; }

private:
    std::uint32_t every_;
    std::uint64_t uses_ = 0, moves_ = 0;
};

constexpr DemandKind kind{.scheme = "lazy"};
constexpr std::array<const Option*, 3> options{&page_option::checkpoint_blocks, &demand_option::mapping_cache_bytes, &every};
constexpr std::array counters =
    demand_counters<LazyEntries>(Counter{"entries_moved", "entries", "Used entries that went to the hot end.",
                                         [](const Ftl& ftl) { return demand_table_of<LazyEntries>(ftl).cache().moves(); }});

} // namespace

const Scheme& lazy_scheme() {
    static constexpr Scheme scheme =
        demand_scheme({.name = kind.scheme,
                       .idea = "dftl that moves an entry at each n-th use only",
                       .keys = demand_keys,
                       .options = options,
                       .counters = counters,
                       .plan = [](const SsdConfig& config, const Geometry& g) { return plan_demand(kind, config, g); },
                       .make = [](const FtlParts& parts) { return make_demand<LazyEntries>(kind, parts, {}, parts.config.ftl.options[every]); }});
    return scheme;
}

} // namespace flashlab

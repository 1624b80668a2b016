#include "crash/apps/persistence.h"

#include <algorithm>
#include <array>

namespace flashlab {

namespace {

constexpr std::array models{
    Persistence{"strict", NameOrder::all, SyncReach::everything, AppendRule::together, CarryRule::everything, false, 0, 0},
    Persistence{"ext4", NameOrder::prefix, SyncReach::everything, AppendRule::by_block, CarryRule::new_blocks, true, 7'000, 45'000},
    Persistence{"xfs", NameOrder::prefix, SyncReach::last_change, AppendRule::in_order, CarryRule::nothing, true, 35'000, 75'000},
    Persistence{"btrfs", NameOrder::prefix, SyncReach::own_names, AppendRule::by_commit, CarryRule::nothing, false, 35'000, 75'000},
    Persistence{"posix", NameOrder::any, SyncReach::nothing, AppendRule::apart, CarryRule::nothing, true, 0, 0},
};

} // namespace

std::optional<Persistence> find_persistence(std::string_view name) {
    const auto* const found = std::ranges::find(models, name, &Persistence::name);
    return found == models.end() ? std::nullopt : std::optional{*found};
}

} // namespace flashlab

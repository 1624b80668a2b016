#include "crash/apps/persistence.h"

#include <algorithm>
#include <array>

namespace flashlab {

namespace {

constexpr std::array models{
    Persistence{"strict", NameOrder::all, SyncReach::everything, AppendRule::together, true, false, 0, 0},
    Persistence{"ext4", NameOrder::prefix, SyncReach::everything, AppendRule::in_order, true, true, 5'000, 35'000},
    Persistence{"xfs", NameOrder::prefix, SyncReach::last_change, AppendRule::in_order, false, true, 30'000, 60'000},
    Persistence{"btrfs", NameOrder::prefix, SyncReach::own_names, AppendRule::by_write, false, false, 30'000, 60'000},
    Persistence{"posix", NameOrder::any, SyncReach::nothing, AppendRule::apart, false, true, 0, 0},
};

} // namespace

std::optional<Persistence> find_persistence(std::string_view name) {
    const auto* const found = std::ranges::find(models, name, &Persistence::name);
    return found == models.end() ? std::nullopt : std::optional{*found};
}

} // namespace flashlab

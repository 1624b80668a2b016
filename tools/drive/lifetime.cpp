#include "tools/drive/lifetime.h"

#include <algorithm>
#include <cmath>

namespace flashlab {

namespace {

/// Null instead of a number that would mean nothing.
Json known(double value, bool is_known) { return is_known && std::isfinite(value) ? Json{value} : Json{}; }

} // namespace

Lifetime Lifetime::of(const LifetimeInput& in) {
    Lifetime out;
    const auto block = static_cast<double>(in.block_bytes), endurance = static_cast<double>(in.endurance_cycles);
    out.nand_budget_bytes = endurance * static_cast<double>(in.good_blocks) * block;
    out.wear_bytes = std::max(static_cast<double>(in.nand_bytes), static_cast<double>(in.erases) * block);
    out.remaining_share = endurance <= 0 ? 0 : std::clamp(1 - (in.mean_erases + in.erases_before) / endurance, 0.0, 1.0);
    out.wear_evenness = in.worst_erases <= 0 ? 1 : std::min(1.0, in.mean_erases / in.worst_erases);
    if (in.host_bytes == 0 || out.wear_bytes <= 0) return out;
    out.wear_per_host_byte = out.wear_bytes / static_cast<double>(in.host_bytes);
    out.rated_bytes_written = out.nand_budget_bytes / out.wear_per_host_byte;
    if (in.device_bytes != 0) out.drive_writes_per_day = out.rated_bytes_written / (static_cast<double>(in.device_bytes) * 365.25 * warranty_years);
    return out;
}

Json Lifetime::to_json() const {
    const bool is_loaded = wear_per_host_byte > 0;
    return Json::object({{"nand_budget_bytes", nand_budget_bytes},
                         {"wear_bytes", wear_bytes},
                         {"wear_per_host_byte", known(wear_per_host_byte, is_loaded)},
                         {"tbw_bytes", known(rated_bytes_written, is_loaded)},
                         {"drive_writes_per_day", known(drive_writes_per_day, is_loaded)},
                         {"remaining_percent", 100 * remaining_share},
                         {"wear_evenness", wear_evenness}});
}

std::vector<std::string> lifetime_assumptions() {
    return {"every good block lasts nand.endurance_cycles erases and is erased equally often (wear_evenness says how far that is from true)",
            "write amplification stays as it was measured: a drive that was not full when the load began will write more once it is",
            "drive_writes_per_day is for 5 years; a year has 365.25 days", "no retention loss, no read disturb, no failing chips"};
}

} // namespace flashlab

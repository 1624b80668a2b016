#include "tools/drive/smart_fields.h"

#include <initializer_list>
#include <utility>

namespace flashlab {

namespace {

/// A number of 128 bits as nvme-cli prints it.
Json wide(std::uint64_t value) { return Json::object({{"hi", std::uint64_t{0}}, {"lo", value}}); }

} // namespace

Json nvme_smart_log(const Json& smart) {
    Json out;
    for (const char* key : {"critical_warning", "temperature", "avail_spare", "spare_thresh", "percent_used", "data_units_read", "data_units_written",
                            "host_read_commands", "host_write_commands", "power_cycles", "power_on_hours", "unsafe_shutdowns", "media_errors",
                            "num_err_log_entries", "warning_temp_time", "critical_comp_time"})
        out.add(key, smart[key]);
    return out;
}

Json ocp_smart_log(const Json& smart) {
    Json out;
    out.add("Physical media units written", wide(smart["physical_media_units_written_bytes"].number()));
    out.add("Physical media units read", wide(smart["physical_media_units_read_bytes"].number()));
    for (const auto& [name, key] :
         std::initializer_list<std::pair<const char*, const char*>>{{"Bad user nand blocks - Raw", "bad_user_nand_blocks_grown"},
                                                                    {"Bad user nand blocks - Normalized", "bad_user_nand_blocks_normalized"},
                                                                    {"Uncorrectable read error count", "media_errors"},
                                                                    {"Max User data erase counts", "max_user_data_erase_count"},
                                                                    {"Min User data erase counts", "min_user_data_erase_count"},
                                                                    {"Incomplete shutdowns", "unsafe_shutdowns"}})
        out.add(name, smart[key]);
    out.add("Percent free blocks", static_cast<std::uint64_t>(smart["percent_free_blocks"].real()));
    out.add("NUSE - Namespace utilization", smart["namespace_utilization_units"]);
    out.add("Endurance estimate", wide(smart["endurance_estimate"].number()));
    return out;
}

void add_remaining_years(Json& smart, std::uint64_t host_bytes_per_day) {
    const Json& left = smart["remaining_host_bytes"];
    smart.add("remaining_years",
              left.is_number() && host_bytes_per_day != 0 ? Json{left.real() / static_cast<double>(host_bytes_per_day) / 365.25} : Json{});
}

} // namespace flashlab

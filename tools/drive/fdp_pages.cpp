#include "tools/drive/fdp_pages.h"

#include <algorithm>
#include <utility>

#include "ftl/blocks/separation_policies.h"
#include "ftl/placement_handles.h"

namespace flashlab {

namespace {

/// Reclaim unit handle types.
constexpr int initially_isolated = 1, persistently_isolated = 2;

std::uint64_t option_of(const SsdConfig& config, std::string_view key) {
    for (const Option* option : find_named(separation_policies(), config.ftl.separation)->options)
        if (option->key == key) return config.ftl.options.number(*option);
    return 0;
}

int type_of(const Json& placement) { return placement["isolated"].text() == "persistently" ? persistently_isolated : initially_isolated; }

Json configs(const Json& placement) {
    Json::Array handles;
    for (std::uint64_t h = 0; h < placement["handles"].number(); ++h) handles.push_back(Json::object({{"ruht", type_of(placement)}}));
    Json::Array all;
    all.push_back(Json::object({{"fdpa", 128}, // valid, no volatile write cache of its own
                                {"vss", 0},
                                {"nrg", 1},
                                {"nruh", placement["handles"]},
                                {"nnss", 1},
                                {"runs", placement["unit_bytes"]},
                                {"erutl", 0},
                                {"ruhs", std::move(handles)}}));
    return Json::object({{"n", 0}, {"configs", std::move(all)}});
}

Json usage(const Json& placement) {
    constexpr int host_specified = 1;
    Json::Array handles;
    for (std::uint64_t h = 0; h < placement["handles"].number(); ++h) handles.push_back(Json::object({{"ruha", host_specified}}));
    return Json::object({{"nruh", placement["handles"]}, {"ruhus", std::move(handles)}});
}

/// In logical blocks of 512 bytes, as the namespace has them.
Json status(const Json& placement) {
    Json::Array handles;
    for (const Json& bytes : placement["writable_bytes"].items()) {
        const std::size_t h = handles.size();
        handles.push_back(Json::object({{"pid", h}, {"ruhid", h}, {"earutr", 0}, {"ruamw", bytes.number() / 512}}));
    }
    return Json::object({{"nruhsd", handles.size()}, {"ruhss", std::move(handles)}});
}

/// The clock in milliseconds, as NVMe's timestamps are.
Json events(const Json& placement) {
    constexpr std::uint64_t most_moved = 0xffff; ///< that the field can say
    constexpr int has_handle = 1;
    Json::Array all;
    for (const Json& event : placement["events"].items()) {
        Json one = Json::object({{"Type", event["type"]},
                                 {"fdpef", has_handle},
                                 {"pid", event["handle"]},
                                 {"timestamp", event["at_ns"].number() / 1'000'000},
                                 {"NSID", 0}});
        if (event["type"].number() == std::to_underlying(PlacementEvent::Kind::media_moved))
            one.add("nlbam", std::min(event["moved_bytes"].number() / 512, most_moved));
        all.push_back(std::move(one));
    }
    return Json::object({{"n", all.size()}, {"events", std::move(all)}});
}

} // namespace

std::uint64_t placement_handles_of(const SsdConfig& config) { return config.ftl.separation == "host" ? option_of(config, "ftl.host_streams") : 0; }

Json placement_report(const Device& device, std::uint64_t erased_blocks) {
    const SsdConfig& config = device.config().ssd;
    const auto* handles = dynamic_cast<const PlacementHandles*>(&device.ftl().undecorated());
    const std::uint64_t count = placement_handles_of(config);
    if (handles == nullptr || count == 0) return {};
    const Geometry &g = device.array().geometry(), &of_chips = device.array().chip_geometry();
    const std::uint64_t block_bytes = std::uint64_t{g.pages_per_block()} * g.page_bytes();
    Json::Array writable;
    for (const std::uint64_t pages : handles->writable_pages())
        if (writable.size() < count) writable.push_back(pages * device.ftl().logical_page_bytes());
    Json::Array events;
    const auto is_told = [count](const PlacementEvent& e) { return e.kind == PlacementEvent::Kind::unknown_handle || e.handle.value() < count; };
    for (const PlacementEvent& event : handles->placement_events())
        if (is_told(event)) // copies that share superblocks are no handle's
            events.push_back(Json::object({{"type", std::to_underlying(event.kind)},
                                           {"handle", event.handle.value()},
                                           {"at_ns", ns_since_start(event.at)},
                                           {"moved_bytes", event.pages * device.ftl().logical_page_bytes()}}));
    return Json::object({{"handles", count},
                         {"isolated", option_of(config, "ftl.host_isolation") == 0 ? "initially" : "persistently"},
                         {"unit_bytes", handles->groups() * g.planes_per_die() * block_bytes},
                         {"erased_bytes", erased_blocks * of_chips.pages_per_block() * of_chips.page_bytes()},
                         {"writable_bytes", std::move(writable)},
                         {"events", std::move(events)}});
}

std::expected<Json, std::string> fdp_page(const Json& smart, std::string_view page) {
    const Json& placement = smart["placement"];
    if (placement.is_null()) return std::unexpected(std::string{no_placement_handles});
    if (page == "configs") return configs(placement);
    if (page == "usage") return usage(placement);
    if (page == "status") return status(placement);
    if (page == "events") return events(placement);
    return Json::object(
        {{"hbmw", smart["host_write_bytes"]}, {"mbmw", smart["physical_media_units_written_bytes"]}, {"mbe", placement["erased_bytes"]}});
}

} // namespace flashlab

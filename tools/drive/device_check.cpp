#include "tools/drive/device_check.h"

#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "base/contract.h"
#include "nand/image_page_store.h"

namespace flashlab {
namespace {

void add(Json& problems, const std::string& kind, const std::string& where, const std::string& detail) {
    problems.push(Json::object({{"kind", kind}, {"where", where}, {"detail", detail}}));
}

ImageDamage damaged_record(const Geometry& geometry, Ppn page) {
    return {"page-record-damaged",
            fmt::format("nand.img page {} (block {}, page {} in it)", page.value(), geometry.block_of(page).value(), geometry.page_in_block(page)),
            "its record (state, OOB) is not what was written: the checksum does not hold"};
}

/// The record and the OOB of every written page, whether it is mapped or not.
void check_records(const Device& device, CheckedDevice& checked) {
    const NandArray& array = device.array();
    const Geometry& geometry = array.geometry();
    std::vector<PageRecord> records(geometry.pages_per_block());
    for (std::uint32_t block = 0; block < geometry.blocks(); ++block) {
        const bool whole = array.inspect(BlockId{block}, records).has_value();
        for (std::uint32_t page = 0; page < geometry.pages_per_block(); ++page) {
            const Ppn at = geometry.page_of(BlockId{block}, page);
            const auto one = whole ? std::expected<PageRecord, NandError>{records[page]} : array.inspect(at);
            if (one)
                checked.oob_pages += one->state == CellState::erased ? 0 : 1;
            else
                add_damage({damaged_record(geometry, at)}, checked);
        }
    }
}

} // namespace

void add_damage(const std::vector<ImageDamage>& damage, CheckedDevice& checked) {
    for (const auto& d : damage) add(checked.problems, d.kind, d.where, d.detail);
}

std::vector<ImageDamage> damaged_page_records(const std::string& directory) {
    const std::filesystem::path image = std::filesystem::path{directory} / "nand.img";
    const auto header = ImagePageStore::read_header(image);
    const auto geometry = header ? Geometry::make(header->geometry) : std::unexpected(std::string{});
    if (!geometry) return {};
    const auto store = ImagePageStore::open(image, *geometry, HostSync::none, ImageAccess::read_only);
    if (!store) return {};
    std::vector<ImageDamage> damage;
    std::vector<PageRecord> records(geometry->pages_per_block());
    for (std::uint32_t block = 0; block < geometry->blocks(); ++block) {
        if ((*store)->read_block_records(BlockId{block}, records)) continue;
        for (std::uint32_t page = 0; page < geometry->pages_per_block(); ++page) {
            const Ppn at = geometry->page_of(BlockId{block}, page);
            if (const auto one = (*store)->read_record(at); !one && one.error().error_number == EBADMSG)
                damage.push_back(damaged_record(*geometry, at));
        }
    }
    return damage;
}

CheckedDevice check_device(Device& device, DeviceCheckDepth depth, const std::function<bool(std::uint64_t)>& go_on) {
    CheckedDevice checked;
    Json& problems = checked.problems;
    try {
        for (const auto& p : device.ssd().check()) add(problems, "device " + p.invariant, p.where, p.detail);
        // Pages programmed for records that never came are trimmed by recovery; a drive that is worn out takes no trim, and they harm nobody.
        const bool takes_trims = !device.ftl().space().is_read_only;
        for (const auto& p : device.fs().check())
            if (takes_trims || p.kind != "free-page-mapped") add(problems, p.kind, p.where, p.detail);
        check_records(device, checked);
        if (depth != DeviceCheckDepth::data) return checked;
        const auto data = device.fs().check_data(
            [&](std::uint64_t pages) {
                device.settle(device.last_reserved_end());
                return go_on(pages);
            },
            device.ready_at());
        checked.data_pages = data.pages;
        checked.data_checked = data.complete;
        for (const auto& p : data.problems) add(problems, p.kind, p.where, p.detail);
    } catch (const ContractViolation& broken) { // the structures are so damaged that even the check cannot walk them
        add(problems, "unreadable", "metadata", broken.what());
    }
    return checked;
}

} // namespace flashlab

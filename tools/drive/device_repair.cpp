#include "tools/drive/device_repair.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/contract.h"
#include "nand/image_page_store.h"
#include "pram/image_pram_store.h"
#include "tools/drive/config_file.h"
#include "tools/drive/device_check.h"
#include "tools/drive/device_copy.h"
#include "tools/drive/device_directory.h"
#include "tools/drive/image_mender.h"
#include "tools/drive/kept_logs.h"

namespace flashlab {

namespace {

namespace files = std::filesystem;

std::expected<std::string, std::string> free_snapshot_name(const std::string& directory) {
    const auto taken = list_snapshots(directory);
    if (!taken) return std::unexpected(taken.error());
    for (int number = 1;; ++number) {
        std::string name = fmt::format("before-repair-{}", number);
        if (std::ranges::find(*taken, name) == taken->end()) return name;
    }
}

/// Opens the damaged device on private copies, and the new one, and copies.
std::expected<Salvage, std::string> fill(const std::string& damaged, const std::string& made) {
    OpenOptions look;
    look.access = DeviceAccess::look;
    const auto source = DeviceDirectory::open(damaged, look);
    if (!source) return std::unexpected(source.error());
    OpenOptions use;
    use.access = DeviceAccess::check;
    use.past = DevicePast::final;
    auto target = DeviceDirectory::open(made, use);
    if (!target) return std::unexpected(target.error());
    auto salvaged = salvage_tree((*source)->device(), (*target)->device());
    if (!salvaged) {
        (*target)->abandon();
        return salvaged;
    }
    if (const auto closed = (*target)->close((*target)->device().ready_at(), {}); !closed) return std::unexpected(closed.error());
    auto again = DeviceDirectory::open(made, use);
    if (!again) return std::unexpected(again.error());
    const CheckedDevice checked = check_device((*again)->device(), DeviceCheckDepth::data, [](std::uint64_t) { return true; });
    if (!checked.problems.items().empty()) {
        (*again)->abandon();
        return std::unexpected(fmt::format("what could be read makes no sound device: {}", checked.problems.items().front()["detail"].text()));
    }
    if (const auto closed = (*again)->close((*again)->device().ready_at(), {}); !closed) return std::unexpected(closed.error());
    return salvaged;
}

/// True: it opens, and neither its images nor its structures nor any page of a file show a problem.
bool is_sound(const std::string& directory) {
    OpenOptions look;
    look.access = DeviceAccess::look;
    try {
        const auto opened = DeviceDirectory::open(directory, look);
        return opened && check_device((*opened)->device(), DeviceCheckDepth::data, [](std::uint64_t) { return true; }).problems.items().empty();
    } catch (const ContractViolation&) { // of structures that no checksum covers
        return false;
    }
}

std::expected<void, std::string> replace_images(const std::string& directory, const DeviceConfig& config, Repair& repair) {
    DevicePlan plan;
    plan.config = config;
    std::string label;
    {
        OpenOptions look;
        look.access = DeviceAccess::look;
        const auto opened = DeviceDirectory::open(directory, look);
        if (!opened) return std::unexpected(opened.error());
        label = (*opened)->device().fs().label();
    }
    const KeptLogs logs{directory};
    return make_device_directory(directory, plan, label, ExistingDevice::replace, [&](const std::string& place) -> std::expected<void, std::string> {
        try {
            auto salvaged = fill(directory, place);
            if (!salvaged) return std::unexpected(salvaged.error());
            repair.lost.insert(repair.lost.end(), salvaged->lost.begin(), salvaged->lost.end());
            repair.salvage = std::move(*salvaged);
            return {};
        } catch (const ContractViolation& broken) {
            return std::unexpected(fmt::format("its structures cannot be walked ({})", broken.what()));
        }
    });
}

/// A drive that keeps nothing in PRAM wants a pram.img all the same: where it is missing, or is none, there is nothing to restore.
class RenewedPram {
public:
    explicit RenewedPram(const std::string& directory) : path_{files::path{directory} / "pram.img"}, kept_{path_.string() + ".before-repair"} {}
    ~RenewedPram() {
        std::error_code ignored;
        if (is_new_) files::remove(path_, ignored);
        if (is_new_ && files::exists(kept_, ignored)) files::rename(kept_, path_, ignored);
    }
    RenewedPram(const RenewedPram&) = delete;
    RenewedPram& operator=(const RenewedPram&) = delete;

    /// It belongs to the nand.img beside it. True: it was made.
    [[nodiscard]] std::expected<bool, std::string> make(const DeviceConfig& config) {
        if (config.needs_pram() || ImagePramStore::open(path_, PramImageAccess::private_copy)) return false;
        const files::path nand_path = path_.parent_path() / "nand.img";
        const auto header = ImagePageStore::read_header(nand_path);
        if (!header) return false; // the mender says what is wrong with it
        std::error_code error;
        if (files::exists(path_, error)) files::rename(path_, kept_, error);
        if (error) return std::unexpected(fmt::format("{}: {}", path_.string(), error.message()));
        is_new_ = true;
        if (auto made = ImagePramStore::create(path_, config.ssd.pram, header->uuid); !made) return std::unexpected(made.error());
        const auto geometry = Geometry::make(header->geometry);
        if (!geometry) return std::unexpected(geometry.error());
        const auto nand = ImagePageStore::open(nand_path, *geometry, HostSync::none, ImageAccess::read_only);
        const auto generation = nand ? (*nand)->generation() : std::unexpected(nand.error());
        auto pram = ImagePramStore::open(path_);
        if (!pram) return std::unexpected(pram.error());
        if (generation) (*pram)->set_generation(*generation);
        return true;
    }
    void keep() {
        std::error_code ignored;
        files::remove(kept_, ignored);
        is_new_ = false;
    }

private:
    files::path path_, kept_;
    bool is_new_ = false;
};

} // namespace

std::expected<Repair, std::string> repair_device(const std::string& directory) {
    const auto config = read_device_toml(directory);
    if (!config) return std::unexpected(config.error());
    const auto name = free_snapshot_name(directory);
    if (!name) return std::unexpected(name.error());
    KeptLogs::bring_back(directory);
    Repair repair;
    repair.snapshot = *name;
    RenewedPram pram{directory};
    const auto is_renewed = pram.make(*config);
    if (!is_renewed) return std::unexpected(is_renewed.error());
    if (const auto kept = take_snapshot(directory, *name); !kept)
        return std::unexpected(fmt::format("the damaged images cannot be kept: {}", kept.error()));
    std::expected<void, std::string> mended;
    {
        ImageMender images{directory, *config};
        mended = images.mend();
        repair.bits_mended = images.bits_mended();
        repair.lost = images.lost();
        if (*is_renewed) repair.lost.push_back({"pram.img", "was no image, and is made anew; this drive keeps nothing in it"});
        repair.is_in_place = mended && is_sound(directory);
        if (mended && !repair.is_in_place) mended = replace_images(directory, *config, repair);
        if (mended) {
            images.keep();
            pram.keep();
        }
    }
    if (mended) return repair;
    (void)delete_snapshot(directory, *name); // nothing was changed
    return std::unexpected(mended.error());
}

} // namespace flashlab

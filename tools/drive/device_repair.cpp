#include "tools/drive/device_repair.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/contract.h"
#include "nand/image_page_store.h"
#include "tools/drive/config_file.h"
#include "tools/drive/device_check.h"
#include "tools/drive/device_copy.h"
#include "tools/drive/device_directory.h"

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

/// The log and what the daemons wrote belong to the device, not to its images: they stay, although the images are replaced.
class KeptLogs {
public:
    explicit KeptLogs(const std::string& directory) : directory_{directory} {
        for (const char* name : names) rename(name, aside(name));
    }
    ~KeptLogs() {
        for (const char* name : names) rename(aside(name), name);
    }
    KeptLogs(const KeptLogs&) = delete;
    KeptLogs& operator=(const KeptLogs&) = delete;

private:
    static constexpr std::array<const char*, 3> names{"events.db", "events.db-wal", "mount.log"};
    static std::string aside(const char* name) { return fmt::format("{}.kept", name); }
    void rename(const std::string& from, const std::string& to) {
        std::error_code there;
        if (files::exists(directory_ / from, there)) files::rename(directory_ / from, directory_ / to, there);
    }
    files::path directory_;
};

/// Damaged records of blocks, written anew; taken back unless they are kept.
class MendedBlocks {
public:
    explicit MendedBlocks(const std::string& directory) : image_{files::path{directory} / "nand.img"} {}
    ~MendedBlocks() {
        if (is_kept_) return;
        std::fstream image{image_, std::ios::in | std::ios::out | std::ios::binary};
        for (const auto& [at, bytes] : before_)
            image.seekp(static_cast<std::streamoff>(at)).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    MendedBlocks(const MendedBlocks&) = delete;
    MendedBlocks& operator=(const MendedBlocks&) = delete;

    [[nodiscard]] std::expected<void, std::string> mend(const DeviceConfig& config, std::vector<LostPart>& lost) {
        const auto geometry = Geometry::make(config.ssd.nand.geometry);
        if (!geometry) return std::unexpected(geometry.error());
        auto nand = ImagePageStore::open(image_, *geometry);
        if (!nand) return std::unexpected(nand.error().message);
        std::vector<BlockId> damaged;
        BlockRecord mended{};
        for (std::uint32_t block = 0; block < geometry->blocks(); ++block) {
            BlockRecord record;
            if (!(*nand)->read_blocks(BlockId{block}, {&record, 1}))
                damaged.push_back(BlockId{block});
            else
                mended.erase_count = std::max(mended.erase_count, record.erase_count);
        }
        const ImageLayout layout{*geometry};
        for (const BlockId block : damaged) {
            remember(layout.block_record_at(block));
            if (!(*nand)->write_block(block, mended)) return std::unexpected(std::string{"nand.img cannot be written"});
            lost.push_back({fmt::format("nand.img block {}", block.value()), "its erase count and bad mark"});
        }
        return {};
    }
    void keep() { is_kept_ = true; }

private:
    void remember(std::uint64_t at) {
        std::string bytes(ImageLayout::block_record_bytes, '\0');
        std::ifstream{image_, std::ios::binary}.seekg(static_cast<std::streamoff>(at)).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        before_.emplace_back(at, std::move(bytes));
    }
    files::path image_;
    std::vector<std::pair<std::uint64_t, std::string>> before_; ///< place in the image, and what was there
    bool is_kept_ = false;
};

/// True: all that is damaged is records of blocks.
bool only_blocks_are_damaged(const std::string& directory) {
    std::vector<ImageDamage> damage;
    OpenOptions look;
    look.access = DeviceAccess::look;
    look.damage = &damage;
    (void)DeviceDirectory::open(directory, look);
    return !damage.empty() && std::ranges::all_of(damage, [](const ImageDamage& one) { return one.kind == "block-record-damaged"; });
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

} // namespace

std::expected<Repair, std::string> repair_device(const std::string& directory) {
    const auto config = read_device_toml(directory);
    if (!config) return std::unexpected(config.error());
    const auto name = free_snapshot_name(directory);
    if (!name) return std::unexpected(name.error());
    Repair repair{.salvage = {}, .lost = {}, .snapshot = *name};
    if (const auto kept = take_snapshot(directory, *name); !kept)
        return std::unexpected(fmt::format("the damaged images cannot be kept: {}", kept.error()));
    std::expected<void, std::string> mended;
    {
        MendedBlocks blocks{directory};
        if (only_blocks_are_damaged(directory)) mended = blocks.mend(*config, repair.lost);
        if (mended) mended = replace_images(directory, *config, repair);
        if (mended) blocks.keep();
    }
    if (mended) return repair;
    (void)delete_snapshot(directory, *name); // nothing was changed
    return std::unexpected(mended.error());
}

} // namespace flashlab

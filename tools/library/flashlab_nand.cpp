#include "tools/library/flashlab_nand.h"

#include <algorithm>
#include <exception>
#include <new>

#include "tools/library/flashlab.h"
#include "tools/library/lab_nand.h"

using flashlab::LabNand;
using flashlab::LabNandError;

struct flashlab_nand {
    std::unique_ptr<LabNand> lab;
    std::string why;
};

namespace {

int nand_code_of(const LabNand::Result& result) {
    if (result) return FLASHLAB_OK;
    switch (result.error()) {
    case LabNandError::power_lost:
        return FLASHLAB_POWER_LOST;
    case LabNandError::unreadable:
        return FLASHLAB_UNREADABLE;
    case LabNandError::out_of_range:
        return FLASHLAB_OUT_OF_RANGE;
    case LabNandError::not_erased:
        return FLASHLAB_NOT_ERASED;
    case LabNandError::out_of_order:
        return FLASHLAB_OUT_OF_ORDER;
    case LabNandError::failed:
        break;
    }
    return FLASHLAB_FAILED;
}

/// Nothing is thrown into C.
template <class Work>
int on_chip(flashlab_nand* nand, const Work& work) {
    try {
        return work();
    } catch (const std::exception& error) {
        nand->why = error.what();
    }
    return FLASHLAB_FAILED;
}

constexpr std::uint64_t longest_operation_ns = 10'000'000'000;

flashlab::Duration time_or(std::uint64_t ns, std::int64_t otherwise) {
    return flashlab::Duration{ns == 0 ? otherwise : static_cast<std::int64_t>(ns)};
}

flashlab::NandConfig config_of(const flashlab_nand_chip& chip) {
    flashlab::NandConfig config;
    config.geometry = {.channels = 1,
                       .chips_per_channel = 1,
                       .dies_per_chip = 1,
                       .planes_per_die = 1,
                       .blocks_per_plane = chip.blocks,
                       .pages_per_block = chip.pages_per_block,
                       .page_bytes = chip.page_bytes,
                       .spare_bytes = 64,
                       .cell = flashlab::CellType::slc};
    config.timing = {.page_read = time_or(chip.read_ns, 25'000),
                     .page_program = time_or(chip.program_ns, 200'000),
                     .block_erase = time_or(chip.erase_ns, 1'500'000)};
    config.factory_bad_per_million = 0;
    return config;
}

void tell(const std::string& text, char* to, std::size_t bytes) {
    if (to != nullptr && bytes != 0) to[text.copy(to, bytes - 1)] = '\0';
}

} // namespace

flashlab_nand* flashlab_nand_make(const struct flashlab_nand_chip* chip, char* why, size_t why_bytes) {
    try {
        if (std::max({chip->read_ns, chip->program_ns, chip->erase_ns}) > longest_operation_ns) {
            tell("an operation takes 10 s at most", why, why_bytes);
            return nullptr;
        }
        auto lab = LabNand::make(config_of(*chip));
        if (lab) return new flashlab_nand{std::move(*lab), {}};
        tell(lab.error(), why, why_bytes);
    } catch (const std::bad_alloc&) {
        tell("there is not enough memory for it", why, why_bytes);
    } catch (const std::exception& error) {
        tell(error.what(), why, why_bytes);
    }
    return nullptr;
}

void flashlab_nand_free(flashlab_nand* nand) { delete nand; }

void flashlab_nand_get_chip(const flashlab_nand* nand, struct flashlab_nand_chip* to) {
    const flashlab::GeometryConfig& geometry = nand->lab->config().geometry;
    const flashlab::NandTiming& timing = nand->lab->config().timing;
    *to = {.page_bytes = geometry.page_bytes,
           .pages_per_block = geometry.pages_per_block,
           .blocks = geometry.blocks_per_plane,
           .read_ns = static_cast<std::uint64_t>(timing.page_read.count()),
           .program_ns = static_cast<std::uint64_t>(timing.page_program.count()),
           .erase_ns = static_cast<std::uint64_t>(timing.block_erase.count())};
}

int flashlab_nand_read(flashlab_nand* nand, uint32_t page, uint32_t offset, uint32_t bytes, void* to) {
    return on_chip(nand, [&] { return nand_code_of(nand->lab->read(page, offset, {static_cast<std::byte*>(to), bytes})); });
}
int flashlab_nand_program(flashlab_nand* nand, uint32_t page, const void* from) {
    const std::size_t bytes = nand->lab->config().geometry.page_bytes;
    return on_chip(nand, [&] { return nand_code_of(nand->lab->program(page, {static_cast<const std::byte*>(from), bytes})); });
}
int flashlab_nand_erase(flashlab_nand* nand, uint32_t block) {
    return on_chip(nand, [&] { return nand_code_of(nand->lab->erase(block)); });
}
uint32_t flashlab_nand_erase_count(const flashlab_nand* nand, uint32_t block) { return nand->lab->erase_count(block); }
uint64_t flashlab_nand_now_ns(const flashlab_nand* nand) { return nand->lab->now_ns(); }

void flashlab_nand_cut_at(flashlab_nand* nand, uint64_t at_ns, uint64_t seed) {
    (void)on_chip(nand, [&] {
        nand->lab->cut_at(at_ns, seed);
        return 0;
    });
}
int flashlab_nand_has_power(const flashlab_nand* nand) { return nand->lab->has_power() ? 1 : 0; }
int flashlab_nand_recover(flashlab_nand* nand) {
    return on_chip(nand, [&] { return nand_code_of(nand->lab->recover()); });
}
void flashlab_nand_note_instants(flashlab_nand* nand) { nand->lab->note_instants(); }
size_t flashlab_nand_instants(flashlab_nand* nand, uint64_t* to, size_t room) {
    size_t count = 0;
    (void)on_chip(nand, [&] {
        const auto instants = nand->lab->instants();
        std::ranges::copy_n(instants.begin(), static_cast<std::ptrdiff_t>(std::min(room, instants.size())), to);
        count = instants.size();
        return 0;
    });
    return count;
}
const char* flashlab_nand_why(const flashlab_nand* nand) { return nand->why.c_str(); }

#include "nand_adapters.h"

#include "block_adapter.h"

static struct flashlab_nand_chip chip_of(const flashlab_nand* nand) {
    struct flashlab_nand_chip chip;
    flashlab_nand_get_chip(nand, &chip);
    return chip;
}

static int code_of_nand(int flashlab) {
    switch (flashlab) {
    case FLASHLAB_OK:
        return BLOCK_OK;
    case FLASHLAB_POWER_LOST:
        return BLOCK_POWER_LOST;
    case FLASHLAB_UNREADABLE:
        return BLOCK_BAD;
    case FLASHLAB_NOT_ERASED:
    case FLASHLAB_OUT_OF_ORDER:
        return BLOCK_NOT_ERASED;
    default:
        return BLOCK_WRONG;
    }
}

/* Bytes of the chip, from `at` on: of one page after the other. */
static int read_bytes(flashlab_nand* nand, uint64_t at, unsigned char* to, uint32_t bytes) {
    const uint32_t page_bytes = chip_of(nand).page_bytes;
    while (bytes != 0) {
        const uint32_t offset = (uint32_t)(at % page_bytes), part = bytes < page_bytes - offset ? bytes : page_bytes - offset;
        const int code = code_of_nand(flashlab_nand_read(nand, (uint32_t)(at / page_bytes), offset, part, to));
        if (code != BLOCK_OK) return code;
        at += part, to += part, bytes -= part;
    }
    return BLOCK_OK;
}

static int program_bytes(flashlab_nand* nand, uint64_t at, const unsigned char* from, uint32_t bytes) {
    const uint32_t page_bytes = chip_of(nand).page_bytes;
    if (at % page_bytes != 0 || bytes % page_bytes != 0) return BLOCK_WRONG;
    for (uint32_t done = 0; done < bytes; done += page_bytes) {
        const int code = code_of_nand(flashlab_nand_program(nand, (uint32_t)((at + done) / page_bytes), from + done));
        if (code != BLOCK_OK) return code;
    }
    return BLOCK_OK;
}

/* The shape of littlefs */

static int is_in_block(const struct block_config* c, uint32_t block, uint32_t offset, uint32_t size) {
    return block < c->block_count && offset <= c->block_size && size <= c->block_size - offset;
}

static int read_chip(const struct block_config* c, uint32_t block, uint32_t offset, void* to, uint32_t size) {
    if (!is_in_block(c, block, offset, size)) return BLOCK_WRONG;
    return read_bytes(c->context, (uint64_t)block * c->block_size + offset, to, size);
}

static int prog_chip(const struct block_config* c, uint32_t block, uint32_t offset, const void* from, uint32_t size) {
    if (!is_in_block(c, block, offset, size)) return BLOCK_WRONG;
    return program_bytes(c->context, (uint64_t)block * c->block_size + offset, from, size);
}

static int erase_chip(const struct block_config* c, uint32_t block) { return code_of_nand(flashlab_nand_erase(c->context, block)); }

static int sync_chip(const struct block_config* c) { /* what a prog returned from is durable */
    return flashlab_nand_has_power(c->context) ? BLOCK_OK : BLOCK_POWER_LOST;
}

void nand_block_config(struct block_config* config, flashlab_nand* nand) {
    const struct flashlab_nand_chip chip = chip_of(nand);
    *config = (struct block_config){.context = nand,
                                    .read = read_chip,
                                    .prog = prog_chip,
                                    .erase = erase_chip,
                                    .sync = sync_chip,
                                    .read_size = 1,
                                    .prog_size = chip.page_bytes,
                                    .block_size = chip.page_bytes * chip.pages_per_block,
                                    .block_count = chip.blocks};
}

/* The shape of MCUboot: the functions know no chip, so that there is one for all */

static struct {
    flashlab_nand* nand;
    const struct flash_area* areas;
    uint32_t count, block_bytes;
} map;

int flash_map(flashlab_nand* nand, const struct flash_area* areas, uint32_t count) {
    const struct flashlab_nand_chip chip = chip_of(nand);
    const uint32_t block_bytes = chip.page_bytes * chip.pages_per_block;
    for (uint32_t i = 0; i < count; ++i)
        if (areas[i].fa_off % block_bytes != 0 || areas[i].fa_size % block_bytes != 0 ||
            (uint64_t)areas[i].fa_off + areas[i].fa_size > (uint64_t)block_bytes * chip.blocks)
            return -1;
    map.nand = nand, map.areas = areas, map.count = count, map.block_bytes = block_bytes;
    return 0;
}

int flash_area_open(uint8_t id, const struct flash_area** area) {
    for (uint32_t i = 0; i < map.count; ++i)
        if (map.areas[i].fa_id == id) {
            *area = &map.areas[i];
            return 0;
        }
    return BLOCK_WRONG;
}

void flash_area_close(const struct flash_area* area) { (void)area; }

static int is_in_area(const struct flash_area* area, uint32_t offset, uint32_t bytes) {
    return offset <= area->fa_size && bytes <= area->fa_size - offset;
}

int flash_area_read(const struct flash_area* area, uint32_t offset, void* to, uint32_t bytes) {
    return is_in_area(area, offset, bytes) ? read_bytes(map.nand, (uint64_t)area->fa_off + offset, to, bytes) : BLOCK_WRONG;
}

int flash_area_write(const struct flash_area* area, uint32_t offset, const void* from, uint32_t bytes) {
    return is_in_area(area, offset, bytes) ? program_bytes(map.nand, (uint64_t)area->fa_off + offset, from, bytes) : BLOCK_WRONG;
}

int flash_area_erase(const struct flash_area* area, uint32_t offset, uint32_t bytes) {
    if (!is_in_area(area, offset, bytes) || offset % map.block_bytes != 0 || bytes % map.block_bytes != 0) return BLOCK_WRONG;
    for (uint32_t done = 0; done < bytes; done += map.block_bytes) {
        const int code = code_of_nand(flashlab_nand_erase(map.nand, (area->fa_off + offset + done) / map.block_bytes));
        if (code != BLOCK_OK) return code;
    }
    return BLOCK_OK;
}

uint32_t flash_area_align(const struct flash_area* area) {
    (void)area;
    return chip_of(map.nand).page_bytes;
}

uint8_t flash_area_erased_val(const struct flash_area* area) {
    (void)area;
    return 0xff;
}

/* A raw flash chip of FlashLab in the two shapes that embedded programs ask for, with which they need no other code of FlashLab.
 *
 * Idea       A file system like littlefs brings a struct of four functions (block_adapter.h). A boot loader like MCUboot calls functions of areas:
 *            runs of whole blocks, read by the byte, written by the page, erased by the block.
 * Invariant  What does not fit pages or blocks is refused. So is what the chip refuses: a page is programmed once after an erase, in order.
 * Power cut  Every function fails from the cut on. What a program or an erase leaves that was under way: flashlab_nand.h.
 */
#ifndef NAND_ADAPTERS_H
#define NAND_ADAPTERS_H

#include <flashlab_nand.h>

struct block_config;

/* All blocks of the chip; `config->context` is the chip. */
void nand_block_config(struct block_config* config, flashlab_nand* nand);

struct flash_area {
    uint8_t fa_id, fa_device_id;
    uint16_t pad16;
    uint32_t fa_off, fa_size;
};

/* The areas that flash_area_open() finds, by fa_id; whole blocks of this chip. The array outlives their use. 0, or -1 if one does not fit. */
int flash_map(flashlab_nand* nand, const struct flash_area* areas, uint32_t count);

int flash_area_open(uint8_t id, const struct flash_area** area);
void flash_area_close(const struct flash_area* area);
int flash_area_read(const struct flash_area* area, uint32_t offset, void* to, uint32_t bytes);
int flash_area_write(const struct flash_area* area, uint32_t offset, const void* from, uint32_t bytes);
int flash_area_erase(const struct flash_area* area, uint32_t offset, uint32_t bytes);
uint32_t flash_area_align(const struct flash_area* area); /* what a write is a multiple of */
uint8_t flash_area_erased_val(const struct flash_area* area);

#endif

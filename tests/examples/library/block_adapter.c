#include "block_adapter.h"

#include <stdlib.h>
#include <string.h>

static struct block_adapter* adapter_of(const struct block_config* c) { return c->context; }

static int code_of(int flashlab) {
    return flashlab == FLASHLAB_OK ? BLOCK_OK : flashlab == FLASHLAB_POWER_LOST ? BLOCK_POWER_LOST : BLOCK_BAD;
}

static int is_within(const struct block_config* c, uint32_t block, uint32_t offset, uint32_t size, uint32_t unit) {
    return block < c->block_count && offset <= c->block_size && size <= c->block_size - offset && offset % unit == 0 && size % unit == 0;
}

static uint64_t sector_of(const struct block_config* c, uint32_t block, uint32_t offset) {
    return ((uint64_t)block * c->block_size + offset) / FLASHLAB_SECTOR_BYTES;
}

static int read_block(const struct block_config* c, uint32_t block, uint32_t offset, void* to, uint32_t size) {
    if (!is_within(c, block, offset, size, c->read_size)) return BLOCK_WRONG;
    return code_of(flashlab_read(adapter_of(c)->device, sector_of(c, block, offset), size / FLASHLAB_SECTOR_BYTES, to));
}

static int prog_block(const struct block_config* c, uint32_t block, uint32_t offset, const void* from, uint32_t size) {
    if (!is_within(c, block, offset, size, c->prog_size)) return BLOCK_WRONG;
    unsigned char* erased = adapter_of(c)->erased + sector_of(c, block, offset);
    for (uint32_t i = 0; i < size / c->prog_size; ++i)
        if (!erased[i]) return BLOCK_NOT_ERASED;
    memset(erased, 0, size / c->prog_size);
    return code_of(flashlab_write(adapter_of(c)->device, sector_of(c, block, offset), size / FLASHLAB_SECTOR_BYTES, from));
}

static int erase_block(const struct block_config* c, uint32_t block) {
    if (block >= c->block_count) return BLOCK_WRONG;
    const int code = code_of(flashlab_trim(adapter_of(c)->device, sector_of(c, block, 0), c->block_size / FLASHLAB_SECTOR_BYTES));
    if (code == BLOCK_OK) memset(adapter_of(c)->erased + sector_of(c, block, 0), 1, c->block_size / c->prog_size);
    return code;
}

static int sync_blocks(const struct block_config* c) { return code_of(flashlab_flush(adapter_of(c)->device)); }

int block_adapter_open(struct block_adapter* adapter, struct block_config* config, flashlab_device* device, uint32_t block_size) {
    const uint64_t sectors = flashlab_sectors(device);
    adapter->device = device;
    adapter->erased = calloc(sectors, 1);
    if (adapter->erased == NULL) return -1;
    *config = (struct block_config){.context = adapter,
                                    .read = read_block,
                                    .prog = prog_block,
                                    .erase = erase_block,
                                    .sync = sync_blocks,
                                    .read_size = FLASHLAB_SECTOR_BYTES,
                                    .prog_size = FLASHLAB_SECTOR_BYTES,
                                    .block_size = block_size,
                                    .block_count = (uint32_t)(sectors * FLASHLAB_SECTOR_BYTES / block_size)};
    return 0;
}

void block_adapter_close(struct block_adapter* adapter) { free(adapter->erased); }

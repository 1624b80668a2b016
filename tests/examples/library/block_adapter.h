/* A block device as embedded file systems ask for one: read, prog, erase and sync of blocks, on a drive of FlashLab.
 *
 * Idea       Such a file system brings a struct of four functions and the sizes. An erase is a trim: the block then reads zero. A prog is a write.
 *            Its bytes are durable after sync.
 * Invariant  What the contract of flash forbids is refused: a prog over bytes that were not erased since (BLOCK_NOT_ERASED).
 * Power cut  Every function returns BLOCK_POWER_LOST from the cut on.
 */
#ifndef BLOCK_ADAPTER_H
#define BLOCK_ADAPTER_H

#include <stdint.h>

#include <flashlab.h>

enum { BLOCK_OK = 0, BLOCK_POWER_LOST = -5, BLOCK_BAD = -84, BLOCK_WRONG = -22, BLOCK_NOT_ERASED = -77 };

struct block_config {
    void* context; /* a struct block_adapter */
    int (*read)(const struct block_config* c, uint32_t block, uint32_t offset, void* to, uint32_t size);
    int (*prog)(const struct block_config* c, uint32_t block, uint32_t offset, const void* from, uint32_t size);
    int (*erase)(const struct block_config* c, uint32_t block);
    int (*sync)(const struct block_config* c);
    uint32_t read_size, prog_size, block_size, block_count;
};

struct block_adapter {
    flashlab_device* device;
    unsigned char* erased; /* a byte for each prog_size of the device: erased and not written since */
};

/* 0, or -1 where there is no memory. Blocks of `block_size` bytes on the whole device. */
int block_adapter_open(struct block_adapter* adapter, struct block_config* config, flashlab_device* device, uint32_t block_size);
void block_adapter_close(struct block_adapter* adapter);

#endif

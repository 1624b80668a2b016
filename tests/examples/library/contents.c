/* The bytes that an adapter carries, compared with a copy in memory: short and long reads and progs at drawn places, erased blocks, their neighbours, and
 * all of it after a power cut. An adapter that returns any other byte ends this program with 1, and with the block and the byte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block_adapter.h"

enum { block_bytes = 4096, steps = 600, pages = block_bytes / FLASHLAB_SECTOR_BYTES };

static unsigned char *copy, *erased; /* of the device: its bytes, and which sectors may be programmed */
static uint32_t blocks, state = 1;

static uint32_t draw(uint32_t below) { return (state = state * 1664525u + 1013904223u) / 65536u % below; }

static void fail(const char* what, uint32_t block, uint32_t at) {
    printf("%s: block %u, byte %u\n", what, (unsigned)block, (unsigned)at);
    exit(1);
}

/* Whatever lies behind the bytes that were asked for is not the adapter's to write. */
static void compare(const struct block_config* c, uint32_t block, uint32_t page, uint32_t count) {
    unsigned char in[block_bytes + 1];
    const uint32_t at = page * FLASHLAB_SECTOR_BYTES, bytes = count * FLASHLAB_SECTOR_BYTES;
    memset(in, 0xee, sizeof in);
    if (c->read(c, block, at, in, bytes) != BLOCK_OK) fail("a read fails", block, at);
    for (uint32_t i = 0; i < bytes; ++i)
        if (in[i] != copy[block * (size_t)block_bytes + at + i]) fail("another byte is read than was written", block, at + i);
    if (in[bytes] != 0xee) fail("a read goes on behind its end", block, at + bytes);
}

static void prog(const struct block_config* c, uint32_t block, uint32_t page, uint32_t count) {
    unsigned char out[block_bytes];
    const size_t at = block * (size_t)block_bytes + (size_t)page * FLASHLAB_SECTOR_BYTES, bytes = (size_t)count * FLASHLAB_SECTOR_BYTES;
    int is_erased = 1;
    for (uint32_t i = 0; i < count; ++i) is_erased &= erased[block * pages + page + i];
    for (size_t i = 0; i < bytes; ++i) out[i] = (unsigned char)draw(256);
    const int code = c->prog(c, block, page * FLASHLAB_SECTOR_BYTES, out, (uint32_t)bytes);
    if (code != (is_erased ? BLOCK_OK : BLOCK_NOT_ERASED)) fail("a prog is not answered by what was erased", block, page);
    if (code != BLOCK_OK) return;
    memcpy(copy + at, out, bytes);
    memset(erased + block * pages + page, 0, count);
}

static void erase(const struct block_config* c, uint32_t block) {
    if (c->erase(c, block) != BLOCK_OK) fail("an erase fails", block, 0);
    memset(copy + block * (size_t)block_bytes, 0, block_bytes);
    memset(erased + block * pages, 1, pages);
}

int main(void) {
    char why[200];
    struct block_adapter adapter;
    struct block_config config;
    flashlab_device* device = flashlab_make("tiny", NULL, 0, 0, why, sizeof why);
    if (device == NULL || block_adapter_open(&adapter, &config, device, block_bytes) != 0) return 3;
    blocks = config.block_count;
    if (blocks != flashlab_sectors(device) / pages) fail("the number of blocks is wrong", blocks, 0);
    copy = calloc(blocks, block_bytes);
    erased = calloc(blocks, pages);
    if (copy == NULL || erased == NULL) return 3;
    const uint32_t used[] = {0, 1, 2, blocks / 2, blocks - 2, blocks - 1}; /* the first, neighbours, the last */
    for (uint32_t i = 0; i < sizeof used / sizeof *used; ++i) erase(&config, used[i]);
    for (uint32_t step = 0; step < steps; ++step) {
        const uint32_t block = used[draw(sizeof used / sizeof *used)], page = draw(pages), count = 1 + draw(pages - page);
        if (draw(8) == 0) erase(&config, block);
        prog(&config, block, page, count);
        compare(&config, block, page, count);
        compare(&config, used[draw(sizeof used / sizeof *used)], 0, pages);
    }
    /* What a sync has promised is there after a cut; what came later is not asked for. */
    if (config.sync(&config) != BLOCK_OK) fail("a sync fails", 0, 0);
    flashlab_cut_at(device, flashlab_now_ns(device), 1);
    if (config.sync(&config) != BLOCK_POWER_LOST) fail("a sync without power is not told", 0, 0);
    if (flashlab_recover(device) != FLASHLAB_OK || flashlab_check(device) != 0) fail(flashlab_why(device), 0, 0);
    for (uint32_t i = 0; i < sizeof used / sizeof *used; ++i) compare(&config, used[i], 0, pages);
    printf("%u steps on %u blocks, each byte as it was written\n", (unsigned)steps, (unsigned)blocks);
    free(copy);
    free(erased);
    block_adapter_close(&adapter);
    flashlab_free(device);
    return 0;
}

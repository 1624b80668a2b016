/* A store of one value in two blocks, as the superblock of an embedded file system, tested with power cuts at hundreds of instants.
 *
 * power_cuts          the store as it should be: exit 0
 * power_cuts broken   it overwrites the block in use instead of the other one: the cuts must find it, and the program ends with 1
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block_adapter.h"

enum { block_bytes = 4096, values = 12 };

struct page {
    uint32_t value, again; /* `again` is ~value where the page is whole */
    unsigned char fill[FLASHLAB_SECTOR_BYTES - 8];
};

static int is_whole(const struct page* p) { return p->value != 0 && p->again == ~p->value; }

static int put(const struct block_config* c, uint32_t value, int broken) {
    struct page page = {.value = value, .again = ~value};
    const uint32_t block = broken ? 0 : value % 2;
    int code = c->erase(c, block);
    if (code == BLOCK_OK) code = c->sync(c); /* the old value lies in the other block */
    if (code == BLOCK_OK) code = c->prog(c, block, 0, &page, sizeof page);
    return code == BLOCK_OK ? c->sync(c) : code;
}

static int get(const struct block_config* c, uint32_t* value) {
    *value = 0;
    for (uint32_t block = 0; block < 2; ++block) {
        struct page page;
        const int code = c->read(c, block, 0, &page, sizeof page);
        if (code != BLOCK_OK) return code;
        if (is_whole(&page) && page.value > *value) *value = page.value;
    }
    return BLOCK_OK;
}

static flashlab_device* make(void) {
    static const char* const settings[] = {"ftl.scheme=page_map"};
    char why[200];
    flashlab_device* device = flashlab_make("tiny", settings, 1, 0, why, sizeof why);
    if (device == NULL) fprintf(stderr, "no device: %s\n", why);
    return device;
}

/* Puts all values with a cut at this instant; the values that were put before it must be there afterwards. 0 good, 1 lost, 2 no cut came. */
static int run(uint64_t cut_ns, uint64_t seed, int broken) {
    struct block_adapter adapter;
    struct block_config config;
    flashlab_device* device = make();
    if (device == NULL || block_adapter_open(&adapter, &config, device, block_bytes) != 0) exit(3);
    flashlab_cut_at(device, cut_ns, seed);
    uint32_t put_last = 0, found = 0;
    while (put_last < values && put(&config, put_last + 1, broken) == BLOCK_OK) ++put_last;
    int result = 2;
    if (!flashlab_has_power(device)) {
        if (put(&config, 99, 0) != BLOCK_POWER_LOST) result = 3;
        if (flashlab_recover(device) != FLASHLAB_OK || flashlab_check(device) != 0 || get(&config, &found) != BLOCK_OK) {
            fprintf(stderr, "cut at %llu ns: the drive does not recover: %s\n", (unsigned long long)cut_ns, flashlab_why(device));
            exit(3);
        }
        result = found == put_last || found == put_last + 1 ? 0 : 1;
        if (result == 1) printf("cut at %llu ns, seed %llu: %u was put, %u is there\n", (unsigned long long)cut_ns, (unsigned long long)seed, put_last, found);
    }
    block_adapter_close(&adapter);
    flashlab_free(device);
    return result;
}

static uint64_t end_of_run(void) {
    struct block_adapter adapter;
    struct block_config config;
    struct flashlab_statistics s;
    unsigned char sector[FLASHLAB_SECTOR_BYTES];
    uint32_t found = 0;
    flashlab_device* device = make();
    if (device == NULL || block_adapter_open(&adapter, &config, device, block_bytes) != 0) exit(3);
    for (uint32_t v = 1; v <= values; ++v)
        if (put(&config, v, 0) != BLOCK_OK) exit(3);
    /* The contract of flash, and the edges. */
    if (get(&config, &found) != BLOCK_OK || found != values) exit(3);
    if (config.prog(&config, 0, 0, sector, sizeof sector) != BLOCK_NOT_ERASED) exit(3);
    if (config.erase(&config, config.block_count) != BLOCK_WRONG || config.read(&config, 0, 1, sector, 512) != BLOCK_WRONG) exit(3);
    if (flashlab_read(device, flashlab_sectors(device), 1, sector) != FLASHLAB_OUT_OF_RANGE) exit(3);
    flashlab_get_statistics(device, &s);
    if (s.host_write_bytes != (uint64_t)values * 512 || s.nand_page_programs < values || s.waf < 1 || s.power_cuts != 0) exit(3);
    const uint64_t end = flashlab_now_ns(device);
    block_adapter_close(&adapter);
    flashlab_free(device);
    return end;
}

int main(int argc, char** argv) {
    const int broken = argc > 1 && strcmp(argv[1], "broken") == 0;
    const uint64_t end = end_of_run();
    unsigned cuts = 0, lost = 0;
    for (unsigned i = 1; i < 300; ++i) {
        const int result = run(end * i / 300, i, broken);
        if (result == 3) return 3;
        cuts += result != 2;
        lost += result == 1;
    }
    char why[200] = "";
    if (flashlab_make("nosuch", NULL, 0, 0, why, sizeof why) != NULL || strstr(why, "nosuch") == NULL) return 3;
    printf("FlashLab %s: %u cuts in %llu ns, %u lost a value\n", flashlab_version(), cuts, (unsigned long long)end, lost);
    return cuts < 250 ? 3 : lost != 0;
}

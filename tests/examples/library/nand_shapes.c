/* Two users of a raw chip, cut at every instant at which a cut makes a difference: a boot loader that installs a new image, through flash areas; and a value
 * that is kept in two blocks, through the functions that a file system brings.
 *
 * nand_shapes          both as they should be: exit 0
 * nand_shapes boot     the boot loader forgets what it was about to install before the copy is whole: the cuts must find it, exit 1
 * nand_shapes value    the value is overwritten in place: likewise
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block_adapter.h"
#include "nand_adapters.h"

enum { page_bytes = 512, block_pages = 4, block_bytes = page_bytes * block_pages, image_bytes = 3 * page_bytes, seeds = 6, values = 5, value_at = 100 };
static const struct flash_area areas[] = {{.fa_id = 1, .fa_off = 0, .fa_size = block_bytes},
                                          {.fa_id = 2, .fa_off = block_bytes, .fa_size = block_bytes},
                                          {.fa_id = 3, .fa_off = 2 * block_bytes, .fa_size = block_bytes}};

static const struct flash_area* area_of(uint8_t id) {
    const struct flash_area* area;
    if (flash_area_open(id, &area) != 0) exit(3);
    return area;
}

/* An image of version v: bytes that follow from v and their place. */
static void make_image(unsigned char* to, unsigned v) {
    for (unsigned i = 0; i < image_bytes; ++i) to[i] = (unsigned char)(v + i * 7 + i / 256);
}

/* The version that the area boots; 0: none. */
static unsigned version_of(const struct flash_area* area) {
    unsigned char found[image_bytes], right[image_bytes];
    if (flash_area_read(area, 0, found, image_bytes) != 0) return 0;
    make_image(right, found[0]);
    return memcmp(found, right, image_bytes) == 0 && found[0] < 16 ? found[0] : 0;
}

static int install(const struct flash_area* to, unsigned v) {
    unsigned char image[image_bytes];
    make_image(image, v);
    const int code = flash_area_erase(to, 0, to->fa_size);
    return code != 0 ? code : flash_area_write(to, 0, image, image_bytes);
}

/* Area 2 holds what is to be installed, and area 3 a page that says so. */
static int boot(int broken) {
    const struct flash_area *primary = area_of(1), *secondary = area_of(2), *mark = area_of(3);
    unsigned char page[page_bytes];
    if (flash_area_read(mark, 0, page, page_bytes) != 0 || page[0] != 'i' || page[page_bytes - 1] != 'i') return 0;
    int code = broken ? flash_area_erase(mark, 0, mark->fa_size) : 0;
    const unsigned v = version_of(secondary);
    if (code == 0 && v != 0) code = install(primary, v);
    return code != 0 || broken ? code : flash_area_erase(mark, 0, mark->fa_size);
}

static int update(int broken) {
    unsigned char page[page_bytes];
    memset(page, 'i', sizeof page);
    int code = install(area_of(2), 2);
    if (code == 0) code = flash_area_erase(area_of(3), 0, block_bytes);
    if (code == 0) code = flash_area_write(area_of(3), 0, page, page_bytes);
    return code != 0 ? code : boot(broken);
}

static int put(const struct block_config* c, unsigned value, int broken) {
    unsigned char page[page_bytes];
    memset(page, 0, sizeof page);
    page[value_at] = (unsigned char)value;
    const uint32_t block = broken ? 3 : 3 + value % 2;
    int code = c->erase(c, block);
    if (code == BLOCK_OK) code = c->prog(c, block, 0, page, sizeof page);
    return code == BLOCK_OK ? c->sync(c) : code;
}

static unsigned get(const struct block_config* c) {
    unsigned newest = 0;
    for (uint32_t block = 3; block < 5; ++block) {
        unsigned char value = 250; /* what nobody put: a read that returns nothing is seen */
        if (c->read(c, block, value_at, &value, 1) == BLOCK_OK && value != 0xff && value > newest) newest = value;
    }
    return newest;
}

/* The whole load; how many values were put. */
static unsigned run(flashlab_nand* nand, const struct block_config* c, int broken_boot, int broken_value) {
    unsigned put_last = 0;
    if (update(broken_boot) != 0) return 0;
    while (put_last < values && put(c, put_last + 1, broken_value) == BLOCK_OK) ++put_last;
    if (put_last < values && flashlab_nand_has_power(nand)) exit(3);
    return put_last;
}

static flashlab_nand* make(struct block_config* c) {
    const struct flashlab_nand_chip chip = {.page_bytes = page_bytes, .pages_per_block = block_pages, .blocks = 5};
    flashlab_nand* nand = flashlab_nand_make(&chip, NULL, 0);
    if (nand == NULL || flash_map(nand, areas, 3) != 0) exit(3);
    nand_block_config(c, nand);
    if (flash_area_align(area_of(1)) != page_bytes || flash_area_write(area_of(1), 1, "", 1) != BLOCK_WRONG) exit(3);
    if (flash_area_read(area_of(1), block_bytes, c, 1) != BLOCK_WRONG || flash_area_erase(area_of(1), 0, 1) != BLOCK_WRONG) exit(3);
    if (c->prog(c, 0, block_bytes, "", 1) != BLOCK_WRONG || c->erase(c, 5) != BLOCK_WRONG) exit(3);
    if (install(area_of(1), 1) != 0) exit(3);
    return nand;
}

int main(int argc, char** argv) {
    const int broken_boot = argc > 1 && strcmp(argv[1], "boot") == 0, broken_value = argc > 1 && strcmp(argv[1], "value") == 0;
    static uint64_t instants[1000];
    struct block_config c;
    flashlab_nand* nand = make(&c);
    flashlab_nand_note_instants(nand);
    if (run(nand, &c, broken_boot, broken_value) != values || version_of(area_of(1)) != 2) return 3;
    const size_t count = flashlab_nand_instants(nand, instants, 1000);
    flashlab_nand_free(nand);
    for (size_t i = 0; i < count && i < 1000; ++i) {
        for (uint64_t seed = i * seeds; seed < (i + 1) * seeds; ++seed) {
            nand = make(&c);
            flashlab_nand_cut_at(nand, instants[i], seed);
            const unsigned put_last = run(nand, &c, broken_boot, broken_value);
            if (flashlab_nand_recover(nand) != 0 || boot(0) != 0) return 3;
            const unsigned booted = version_of(area_of(1)), found = get(&c);
            if (booted == 0 || found < put_last || found > put_last + 1) {
                printf("cut at %llu ns, seed %llu: version %u boots; %u was put, %u is there\n", (unsigned long long)instants[i], (unsigned long long)seed, booted,
                       put_last, found);
                return 1;
            }
            flashlab_nand_free(nand);
        }
    }
    printf("%u instants, %d outcomes each: each leaves an image that boots, and the newest value\n", (unsigned)count, seeds);
    return count < 50 ? 3 : 0;
}

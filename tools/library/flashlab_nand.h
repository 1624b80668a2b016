/* FlashLab for C, without a drive: one flash chip of SLC cells, for whoever writes the layer above it. Link as flashlab.h says.
 *
 * Idea       Read, program and erase, which wait as the calls of flashlab.h do. Pages are numbered through the chip, and erased by the block.
 * Invariant  What a data sheet forbids is refused and changes nothing: a page is programmed once after an erase, and those of a block in their order.
 *            The error correction is the chip's: what a read returns is what was programmed, or FLASHLAB_UNREADABLE.
 * Cost       RAM for what is programmed.
 * Power cut  flashlab_nand_cut_at() orders one. The operation under way is left undone, done, torn or garbage; or a page reads right once more only;
 *            or page and block look erased, and what is programmed over them is garbage. The seed draws which.
 */
#ifndef FLASHLAB_NAND_H
#define FLASHLAB_NAND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What functions that return int return, beside enum flashlab_error. */
enum flashlab_nand_error {
    FLASHLAB_NOT_ERASED = -7,  /* the page was programmed since its block was erased */
    FLASHLAB_OUT_OF_ORDER = -8 /* a later page of its block was */
};

typedef struct flashlab_nand flashlab_nand;

struct flashlab_nand_chip {
    uint32_t page_bytes; /* a multiple of 512 */
    uint32_t pages_per_block, blocks;
    uint64_t read_ns, program_ns, erase_ns; /* 0: 25 us, 200 us, 1.5 ms; 10 s at most */
};

/* A new chip, erased and without bad blocks. Null if there is none like that: then `why`, of `why_bytes`, says why. */
flashlab_nand* flashlab_nand_make(const struct flashlab_nand_chip* chip, char* why, size_t why_bytes);
void flashlab_nand_free(flashlab_nand* nand);
void flashlab_nand_get_chip(const flashlab_nand* nand, struct flashlab_nand_chip* to);

/* Part of a page. An erased page reads 0xff. */
int flashlab_nand_read(flashlab_nand* nand, uint32_t page, uint32_t offset, uint32_t bytes, void* to);
/* A whole page. It is durable when this returns FLASHLAB_OK. */
int flashlab_nand_program(flashlab_nand* nand, uint32_t page, const void* from);
int flashlab_nand_erase(flashlab_nand* nand, uint32_t block);
uint32_t flashlab_nand_erase_count(const flashlab_nand* nand, uint32_t block);
uint64_t flashlab_nand_now_ns(const flashlab_nand* nand);

/* As those of flashlab.h. */
void flashlab_nand_cut_at(flashlab_nand* nand, uint64_t at_ns, uint64_t seed);
int flashlab_nand_has_power(const flashlab_nand* nand);
int flashlab_nand_recover(flashlab_nand* nand);
void flashlab_nand_note_instants(flashlab_nand* nand);
size_t flashlab_nand_instants(flashlab_nand* nand, uint64_t* to, size_t room);
const char* flashlab_nand_why(const flashlab_nand* nand);

#ifdef __cplusplus
}
#endif

#endif

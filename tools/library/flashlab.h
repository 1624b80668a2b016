/* FlashLab for C: a simulated SSD in memory, whose power may fail at any nanosecond. Link with pkg-config flashlab.
 *
 * Idea       Calls wait: each begins, in simulated time, when the one before has ended. No thread, no file, no clock of the host.
 * Invariant  Same settings, calls, instant and seed: same bytes. Data written before a flush that returned 0 survive every cut.
 * Cost       RAM for what is written.
 * Power cut  flashlab_cut_at() orders one. The call under way then returns FLASHLAB_POWER_LOST, as all calls until flashlab_recover().
 */
#ifndef FLASHLAB_H
#define FLASHLAB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLASHLAB_SECTOR_BYTES 512

enum flashlab_error {
    FLASHLAB_OK = 0,
    FLASHLAB_POWER_LOST = -1,
    FLASHLAB_UNREADABLE = -2,   /* the flash does not give these sectors back */
    FLASHLAB_OUT_OF_RANGE = -3, /* beyond the drive */
    FLASHLAB_NO_SPACE = -4,
    FLASHLAB_READ_ONLY = -5, /* worn out */
    FLASHLAB_FAILED = -6     /* flashlab_why() says why */
};

typedef struct flashlab_device flashlab_device;

struct flashlab_statistics {
    uint64_t now_ns;
    uint64_t host_read_bytes, host_write_bytes;
    uint64_t nand_page_reads, nand_page_programs, nand_block_erases, page_bytes;
    uint64_t power_cuts, operations_torn, operations_undone; /* of the whole life; the others since the last start */
    uint32_t erase_count_min, erase_count_max;
    double erase_count_mean, waf;
};

/* A new, empty drive. `preset` as flashlab presets lists them, or null; `settings` KEY=VALUE as --set of flashlab mkfs; `bytes` 0: the preset's size.
 * Null if that is no drive: then `why`, of `why_bytes`, says why. */
flashlab_device* flashlab_make(const char* preset, const char* const* settings, size_t settings_count, uint64_t bytes, char* why, size_t why_bytes);
void flashlab_free(flashlab_device* device);
uint64_t flashlab_sectors(const flashlab_device* device);

int flashlab_read(flashlab_device* device, uint64_t first_sector, uint32_t sectors, void* to);
int flashlab_write(flashlab_device* device, uint64_t first_sector, uint32_t sectors, const void* from);
/* Trimmed sectors read zero. */
int flashlab_trim(flashlab_device* device, uint64_t first_sector, uint64_t sectors);
int flashlab_flush(flashlab_device* device);
/* Lets simulated time pass; the drive collects garbage meanwhile. FLASHLAB_OUT_OF_RANGE if more than 146 years have passed then. */
int flashlab_wait(flashlab_device* device, uint64_t ns);
uint64_t flashlab_now_ns(const flashlab_device* device);

/* The power fails at this instant, or at once if it has passed. The seed draws which operations in flight are torn, and how. */
void flashlab_cut_at(flashlab_device* device, uint64_t at_ns, uint64_t seed);
int flashlab_has_power(const flashlab_device* device);
/* Power on: the drive recovers from what its cells hold. Without a cut before, the power fails now. */
int flashlab_recover(flashlab_device* device);

/* When must the next run of the same calls be cut, so that no cut is left out? From now on the drive notes it. */
void flashlab_note_instants(flashlab_device* device);
/* How many instants were noted, of which `to` gets the first `room`, sorted: one after each change of the cells, within each operation that a cut
 * could tear, and each call's end. */
size_t flashlab_instants(flashlab_device* device, uint64_t* to, size_t room);

void flashlab_get_statistics(const flashlab_device* device, struct flashlab_statistics* to);
/* The number of things that the drive's own check finds broken; 0: sound. flashlab_why() has the first. */
int flashlab_check(flashlab_device* device);
/* What the last FLASHLAB_FAILED, or the last check that found something, was about. Valid until the next call. */
const char* flashlab_why(const flashlab_device* device);
const char* flashlab_version(void);

#ifdef __cplusplus
}
#endif

#endif

// GNU dbm: gdbm_store() with GDBM_SYNC, or gdbm_sync(), has returned. `gdbm_store setup|write|check`; `setup` makes the database.
#include <gdbm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_keys = 12, value_bytes = 400 };

static int asks;
static void need(int holds, const char *what, int number) {
    if (holds) return;
    printf(what, number);
    puts("");
    if (!asks) exit(1); // it prints what is there and what is not, and judges nothing
}
static datum text(char *bytes) { return (datum){bytes, (int)strlen(bytes)}; }
static char *key_of(int number) {
    static char key[16];
    snprintf(key, sizeof key, "key%03d", number);
    return key;
}
static char *content(int number) {
    static char value[value_bytes + 1];
    memset(value, 'a' + number % 26, value_bytes);
    return value;
}

int main(int argc, char **argv) {
    need(argc == 2, "gdbm_store setup|write|check|ask", 0);
    asks = strcmp(argv[1], "ask") == 0;
    const int is_setup = strcmp(argv[1], "setup") == 0, writes = is_setup || strcmp(argv[1], "write") == 0;
    GDBM_FILE db = gdbm_open("db", 0, writes ? GDBM_WRCREAT : GDBM_READER, 0600, NULL);
    need(db != NULL, "the database does not open", 0);
    if (writes) {
        for (int number = is_setup ? 0 : 1; number <= (is_setup ? 0 : most_keys); ++number) {
            need(gdbm_store(db, text(key_of(number)), text(content(number)), GDBM_REPLACE) == 0, "key %d is not stored", number);
            need(gdbm_sync(db) == 0, "no sync behind key %d", number);
            if (!is_setup) dprintf(atoi(getenv("FLASHLAB_ACK_FD")), "%d\n", number);
        }
        return is_setup ? gdbm_close(db) : 0;
    }
    int newest = 0;
    FILE *acks = fopen(getenv("FLASHLAB_ACKS"), "r");
    while (acks != NULL && fscanf(acks, "%d", &newest) == 1) {}
    for (int number = 0; number <= most_keys; ++number) {
        const datum found = gdbm_fetch(db, text(key_of(number)));
        need(found.dptr != NULL || number > newest, "lost: key %d", number);
        if (found.dptr == NULL) continue;
        need(found.dsize == value_bytes && memcmp(found.dptr, content(number), value_bytes) == 0, "wrong: key %d has other bytes", number);
        free(found.dptr);
    }
    return 0;
}

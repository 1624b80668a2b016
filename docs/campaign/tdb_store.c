// Samba's tdb: a transaction has been committed. `tdb_store setup|write|check` in a directory; each transaction stores two keys, never one of them.
// A first transaction is made by `setup`, so that the file is there.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tdb.h>

enum { most_transactions = 12, value_bytes = 600 };

static int asks;
static void need(int holds, const char *what, int number) {
    if (holds) return;
    printf(what, number);
    puts("");
    if (!asks) exit(1); // it prints what is there and what is not, and judges nothing
}
static TDB_DATA text(char *bytes) { return (TDB_DATA){(unsigned char *)bytes, strlen(bytes)}; }

static TDB_CONTEXT *open_store(void) {
    TDB_CONTEXT *tdb = tdb_open("db.tdb", 0, TDB_DEFAULT, O_RDWR | O_CREAT, 0600); // as Samba opens its own
    need(tdb != NULL, "db.tdb does not open", 0);
    return tdb;
}
static char *content(int number) {
    static char value[value_bytes + 1];
    snprintf(value, sizeof value, "value%03d.", number);
    const size_t begin = strlen(value);
    memset(value + begin, 'a' + number % 26, value_bytes - begin);
    return value;
}
static void commit(TDB_CONTEXT *tdb, int number) {
    char key[16];
    need(tdb_transaction_start(tdb) == 0, "transaction %d does not start", number);
    for (const char *half = "ab"; *half != '\0'; ++half) {
        snprintf(key, sizeof key, "%c%03d", *half, number);
        need(tdb_store(tdb, text(key), text(content(number)), TDB_REPLACE) == 0, "key %d is not stored", number);
    }
    need(tdb_transaction_commit(tdb) == 0, "transaction %d is not committed", number);
}
static int has(TDB_CONTEXT *tdb, char half, int number) {
    char key[16];
    snprintf(key, sizeof key, "%c%03d", half, number);
    const TDB_DATA found = tdb_fetch(tdb, text(key));
    if (found.dptr == NULL) return 0;
    need(found.dsize == value_bytes && memcmp(found.dptr, content(number), value_bytes) == 0, "wrong: key %d has other bytes", number);
    free(found.dptr);
    return 1;
}

int main(int argc, char **argv) {
    need(argc == 2, "tdb_store setup|write|check|ask", 0);
    asks = strcmp(argv[1], "ask") == 0;
    TDB_CONTEXT *tdb = open_store();
    if (strcmp(argv[1], "setup") == 0) {
        commit(tdb, 0);
        return tdb_close(tdb);
    }
    if (strcmp(argv[1], "write") == 0) {
        const int promises = atoi(getenv("FLASHLAB_ACK_FD"));
        for (int number = 1; number <= most_transactions; ++number) {
            commit(tdb, number);
            dprintf(promises, "%d\n", number);
        }
        return 0;
    }
    int newest = 0;
    FILE *acks = fopen(getenv("FLASHLAB_ACKS"), "r");
    while (acks != NULL && fscanf(acks, "%d", &newest) == 1) {}
    need(tdb_check(tdb, NULL, NULL) == 0, "tdb_check finds the database damaged (%d promised)", newest);
    for (int number = 0; number <= most_transactions; ++number) {
        const int a = has(tdb, 'a', number), b = has(tdb, 'b', number);
        need(a == b, "half of transaction %d is there", number);
        need(a || number > newest, "lost: transaction %d", number);
    }
    return 0;
}

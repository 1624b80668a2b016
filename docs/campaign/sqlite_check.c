/* The check of python/sqlite_store.py, compiled: a state a millisecond. Usage: sqlite_check [integrity|but_newest]
 * The database opens, integrity_check says ok, every transaction is whole, and what was promised is there: not with `integrity`, and with
 * `but_newest` all but the newest transaction. It leaves the log where it is: what comes behind the judgement is not judged. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int newest, wrong;

static int is_ok(void* unused, int columns, char** values, char** names) {
    (void)unused, (void)columns, (void)names;
    if (strcmp(values[0], "ok") != 0) wrong = 1, printf("integrity_check: %s\n", values[0]);
    return 0;
}
static int transaction(void* unused, int columns, char** values, char** names) {
    (void)unused, (void)columns, (void)names;
    if (strcmp(values[1], "4") != 0) wrong = 1, printf("half of transaction %s: %s rows\n", values[0], values[1]);
    if (values[2] != NULL && strcmp(values[2], "1") != 0) wrong = 1, printf("a wrong value in transaction %s\n", values[0]);
    if (atoi(values[0]) > newest) newest = atoi(values[0]);
    return 0;
}
static int run(sqlite3* db, const char* sql, int (*row)(void*, int, char**, char**)) {
    char* why = NULL;
    if (sqlite3_exec(db, sql, row, NULL, &why) == SQLITE_OK) return 1;
    printf("%s\n", why);
    return 0;
}

int main(int argc, char** argv) {
    const char* acks = getenv("FLASHLAB_ACKS");
    int promised = 0, table = 0;
    char line[64];
    FILE* file = acks == NULL ? NULL : fopen(acks, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) promised = atoi(line);
    sqlite3* db = NULL;
    if (sqlite3_open("db", &db) != SQLITE_OK || sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) != SQLITE_OK ||
        !run(db, "PRAGMA integrity_check", is_ok)) return 1;
    sqlite3_stmt* statement = NULL;
    if (sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_master", -1, &statement, NULL) != SQLITE_OK) return 1;
    table = sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    if (table && !run(db, "SELECT n / 4, count(*), min(v = CAST(replace(hex(zeroblob(1500)), '00', 'xx') AS BLOB)) FROM t GROUP BY 1",
                      transaction))
        return 1;
    const int may_miss = argc < 2 ? 0 : strcmp(argv[1], "but_newest") == 0 ? 1 : promised;
    if (newest + may_miss < promised) wrong = 1, printf("promised %d, found %d\n", promised, newest);
    sqlite3_close(db);
    return wrong;
}

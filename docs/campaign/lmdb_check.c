/* The check of python/lmdb_default.py, compiled: the environment opens, its keys have no hole and their values, and what was promised is there. */
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int must(int code) {
    if (code == MDB_SUCCESS) return 1;
    printf("%s\n", mdb_strerror(code));
    exit(1);
}

/* The value of key i: its decimal digits, 200 times. */
static size_t value_of(int i, char* to) {
    char digits[16];
    const size_t each = (size_t)sprintf(digits, "%d", i);
    for (int n = 0; n < 200; ++n) memcpy(to + each * (size_t)n, digits, each);
    return each * 200;
}

int main(void) {
    const char* acks = getenv("FLASHLAB_ACKS");
    int promised = 0, have = 0;
    char line[64], key[16], value[4096];
    FILE* file = acks == NULL ? NULL : fopen(acks, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) ++promised;
    MDB_env* env = NULL;
    MDB_txn* txn = NULL;
    MDB_dbi dbi;
    MDB_cursor* cursor = NULL;
    must(mdb_env_create(&env));
    must(mdb_env_set_mapsize(env, 1 << 22));
    (void)mkdir("db", 0755); /* as its writer does */
    must(mdb_env_open(env, "db", 0, 0755));
    must(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
    must(mdb_dbi_open(txn, NULL, 0, &dbi));
    must(mdb_cursor_open(txn, dbi, &cursor));
    MDB_val k, v;
    int code;
    while ((code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) == MDB_SUCCESS) {
        ++have;
        const size_t key_size = (size_t)sprintf(key, "k%04d", have), value_size = value_of(have, value);
        if (k.mv_size != key_size || memcmp(k.mv_data, key, key_size) != 0 || v.mv_size != value_size || memcmp(v.mv_data, value, value_size) != 0) {
            printf("hole or wrong value at %d\n", have);
            return 1;
        }
    }
    if (code != MDB_NOTFOUND) must(code);
    if (have < promised) printf("lost: %d promised, %d there\n", promised, have);
    return have < promised;
}

// Writers and checks of the campaign for stores in Go: store NAME write|check|ask.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble"
	"github.com/dgraph-io/badger/v4"
	"github.com/natefinch/atomic"
	"github.com/peterbourgon/diskv/v3"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/tidwall/buntdb"
	"github.com/tidwall/wal"
	bolt "go.etcd.io/bbolt"
	oldbolt "go.etcd.io/bboltold"
)

const rounds = 12

func must(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func need(holds bool, what string, values ...any) {
	if !holds {
		fmt.Printf(what+"\n", values...)
		if os.Args[2] != "ask" { // it prints what is there and what is not, and judges nothing
			os.Exit(1)
		}
	}
}

func promise(i int) {
	fd, err := strconv.Atoi(os.Getenv("FLASHLAB_ACK_FD"))
	must(err)
	_, err = os.NewFile(uintptr(fd), "promises").WriteString(strconv.Itoa(i) + "\n")
	must(err)
}

func promised() int {
	file, err := os.Open(os.Getenv("FLASHLAB_ACKS"))
	must(err)
	defer file.Close()
	lines := 0
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		lines++
	}
	return lines
}

func key(i int) string   { return fmt.Sprintf("key%03d", i) }
func value(i int) string { return strings.Repeat(fmt.Sprintf("value%03d.", i), 40) }

// A store of keys; nothing: there is no such key.
type store interface {
	put(i int)
	get(i int) string
}

type boltStore struct{ db *bolt.DB }

func (s boltStore) put(i int) {
	must(s.db.Update(func(tx *bolt.Tx) error {
		bucket, err := tx.CreateBucketIfNotExists([]byte("b"))
		must(err)
		return bucket.Put([]byte(key(i)), []byte(value(i)))
	}))
}
func (s boltStore) get(i int) (found string) {
	must(s.db.View(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			must(err)
		}
		if bucket := tx.Bucket([]byte("b")); bucket != nil {
			found = string(bucket.Get([]byte(key(i))))
		}
		return nil
	}))
	return found
}

type oldBoltStore struct{ db *oldbolt.DB }

func (s oldBoltStore) put(i int) {
	must(s.db.Update(func(tx *oldbolt.Tx) error {
		bucket, err := tx.CreateBucketIfNotExists([]byte("b"))
		must(err)
		return bucket.Put([]byte(key(i)), []byte(value(i)))
	}))
}
func (s oldBoltStore) get(i int) (found string) {
	must(s.db.View(func(tx *oldbolt.Tx) error {
		for err := range tx.Check() {
			must(err)
		}
		if bucket := tx.Bucket([]byte("b")); bucket != nil {
			found = string(bucket.Get([]byte(key(i))))
		}
		return nil
	}))
	return found
}

type buntStore struct{ db *buntdb.DB }

func (s buntStore) put(i int) {
	must(s.db.Update(func(tx *buntdb.Tx) error {
		_, _, err := tx.Set(key(i), value(i), nil)
		return err
	}))
}
func (s buntStore) get(i int) (found string) {
	must(s.db.View(func(tx *buntdb.Tx) error {
		found, _ = tx.Get(key(i))
		return nil
	}))
	return found
}

type levelStore struct{ db *leveldb.DB }

func (s levelStore) put(i int) {
	must(s.db.Put([]byte(key(i)), []byte(value(i)), &opt.WriteOptions{Sync: true}))
}
func (s levelStore) get(i int) string {
	found, err := s.db.Get([]byte(key(i)), nil)
	if err == leveldb.ErrNotFound {
		return ""
	}
	must(err)
	return string(found)
}

type diskvStore struct{ db *diskv.Diskv }

func (s diskvStore) put(i int) { must(s.db.WriteStream(key(i), strings.NewReader(value(i)), true)) }
func (s diskvStore) get(i int) string {
	found, err := s.db.Read(key(i))
	if os.IsNotExist(err) {
		return ""
	}
	must(err)
	return string(found)
}

type walStore struct{ log *wal.Log }

func (s walStore) put(i int) { must(s.log.Write(uint64(i), []byte(value(i)))) }
func (s walStore) get(i int) string {
	found, err := s.log.Read(uint64(i))
	if err == wal.ErrNotFound {
		return ""
	}
	must(err)
	return string(found)
}

// natefinch/atomic: one file, replaced as a whole.
type atomicFile struct{}

func (atomicFile) put(i int) { must(atomic.WriteFile("file", strings.NewReader(value(i)))) }
func (atomicFile) get(i int) string {
	found, err := os.ReadFile("file")
	if os.IsNotExist(err) {
		return ""
	}
	must(err)
	return string(found)
}

// Small files, so that a state is soon made; all else as badger has it with SyncWrites.
type badgerStore struct{ db *badger.DB }

func (s badgerStore) put(i int) {
	must(s.db.Update(func(tx *badger.Txn) error { return tx.Set([]byte(key(i)), []byte(value(i))) }))
}
func (s badgerStore) get(i int) (found string) {
	must(s.db.View(func(tx *badger.Txn) error {
		item, err := tx.Get([]byte(key(i)))
		if err == badger.ErrKeyNotFound {
			return nil
		}
		must(err)
		return item.Value(func(bytes []byte) error {
			found = string(bytes)
			return nil
		})
	}))
	return found
}

type pebbleStore struct{ db *pebble.DB }

func (s pebbleStore) put(i int) { must(s.db.Set([]byte(key(i)), []byte(value(i)), pebble.Sync)) }
func (s pebbleStore) get(i int) string {
	found, closer, err := s.db.Get([]byte(key(i)))
	if err == pebble.ErrNotFound {
		return ""
	}
	must(err)
	defer closer.Close()
	return string(found)
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, values ...any) {
	must(fmt.Errorf(format, values...))
}

func open(name string) store {
	switch name {
	case "badger":
		options := badger.DefaultOptions("db").WithSyncWrites(true).WithLogger(nil).WithMemTableSize(1 << 20).WithValueLogFileSize(1 << 20)
		db, err := badger.Open(options.WithValueThreshold(1 << 10).WithBlockCacheSize(1 << 20).WithNumCompactors(2))
		must(err)
		return badgerStore{db}
	case "pebble":
		db, err := pebble.Open("db", &pebble.Options{Logger: quiet{}})
		must(err)
		return pebbleStore{db}
	case "bbolt":
		db, err := bolt.Open("db", 0o600, nil)
		must(err)
		return boltStore{db}
	case "bbolt_old":
		db, err := oldbolt.Open("db", 0o600, nil)
		must(err)
		return oldBoltStore{db}
	case "buntdb", "buntdb_always":
		db, err := buntdb.Open("db")
		must(err)
		if name == "buntdb_always" {
			var config buntdb.Config
			must(db.ReadConfig(&config))
			config.SyncPolicy = buntdb.Always
			must(db.SetConfig(config))
		}
		return buntStore{db}
	case "goleveldb":
		db, err := leveldb.OpenFile("db", nil)
		must(err)
		return levelStore{db}
	case "diskv":
		return diskvStore{diskv.New(diskv.Options{BasePath: "db", TempDir: "tmp"})}
	case "tidwall_wal":
		options := *wal.DefaultOptions
		options.SegmentSize = 2000 // so that there is more than one
		log, err := wal.Open("log", &options)
		must(err)
		return walStore{log}
	case "natefinch_atomic":
		return atomicFile{}
	}
	need(false, "no such store: %s", name)
	return nil
}

func main() {
	name := os.Args[1]
	s := open(name)
	if os.Args[2] == "write" {
		for i := 1; i <= rounds; i++ {
			s.put(i)
			promise(i)
		}
		os.Exit(0) // without close(): a program that is cut off has none
	}
	newest := promised()
	if name == "natefinch_atomic" {
		found := s.get(0)
		for i := newest; i <= rounds; i++ {
			if found == value(i) || (i == 0 && found == "") {
				return
			}
		}
		for i := 1; i < newest; i++ {
			need(found != value(i), "lost: %d was written, the file is that of %d", newest, i)
		}
		need(false, "the file is none that was written: %d bytes", len(found))
	}
	for i := 1; i <= rounds; i++ {
		found := s.get(i)
		need(found == "" || found == value(i), "wrong: %s has %d bytes", key(i), len(found))
		need(i > newest || found != "", "lost: %s of %d", key(i), newest)
	}
}

//! Writers and checks of the campaign for stores in Rust: campaign NAME write|check|ask.
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::FromRawFd;
use std::process::exit;

/// STORE_TRANSACTIONS, or twelve.
fn rounds() -> u32 {
    std::env::var("STORE_TRANSACTIONS").map_or(12, |text| text.parse().unwrap())
}

fn key(i: u32) -> String {
    format!("key{i:03}")
}
fn value(i: u32) -> String {
    format!("value{i:03}.").repeat(40)
}
fn need(holds: bool, what: String) {
    if !holds {
        println!("{what}");
        if std::env::args().nth(2).as_deref() != Some("ask") {
            exit(1); // "ask" prints what is there and what is not, and judges nothing
        }
    }
}
fn must<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(why) => {
            println!("{why}");
            exit(1);
        }
    }
}
fn promise(i: u32) {
    let fd = std::env::var("FLASHLAB_ACK_FD").unwrap().parse().unwrap();
    let mut file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
    file.write_all(format!("{i}\n").as_bytes()).unwrap();
}
fn promised() -> u32 {
    let file = File::open(std::env::var("FLASHLAB_ACKS").unwrap()).unwrap();
    BufReader::new(file).lines().count() as u32
}

/// A store of keys; none: there is no such key.
trait Store {
    fn put(&mut self, i: u32);
    fn get(&mut self, i: u32) -> Option<String>;
    /// Whether the check goes on with it: what it says is free must not be in use.
    fn uses_itself(&self) -> bool {
        false
    }
}

struct Sled(sled::Db);
impl Store for Sled {
    fn put(&mut self, i: u32) {
        must(self.0.insert(key(i), value(i).as_bytes()));
        must(self.0.flush());
    }
    fn get(&mut self, i: u32) -> Option<String> {
        must(self.0.get(key(i))).map(|v| String::from_utf8_lossy(&v).into())
    }
}

struct Redb(redb::Database);
const TABLE: redb::TableDefinition<&str, &str> = redb::TableDefinition::new("t");
impl Store for Redb {
    fn uses_itself(&self) -> bool {
        true
    }
    fn put(&mut self, i: u32) {
        let transaction = must(self.0.begin_write());
        must(must(transaction.open_table(TABLE)).insert(key(i).as_str(), value(i).as_str()));
        must(transaction.commit());
    }
    fn get(&mut self, i: u32) -> Option<String> {
        let transaction = must(self.0.begin_read());
        match transaction.open_table(TABLE) {
            Ok(table) => must(table.get(key(i).as_str())).map(|v| v.value().to_string()),
            Err(redb::TableError::TableDoesNotExist(_)) => None,
            Err(why) => must(Err(why)),
        }
    }
}

struct Redb4(redb4::Database);
const TABLE4: redb4::TableDefinition<&str, &str> = redb4::TableDefinition::new("t");
impl Store for Redb4 {
    fn uses_itself(&self) -> bool {
        true
    }
    fn put(&mut self, i: u32) {
        let transaction = must(self.0.begin_write());
        must(must(transaction.open_table(TABLE4)).insert(key(i).as_str(), value(i).as_str()));
        must(transaction.commit());
    }
    fn get(&mut self, i: u32) -> Option<String> {
        use redb4::ReadableDatabase;
        let transaction = must(self.0.begin_read());
        match transaction.open_table(TABLE4) {
            Ok(table) => must(table.get(key(i).as_str())).map(|v| v.value().to_string()),
            Err(redb4::TableError::TableDoesNotExist(_)) => None,
            Err(why) => must(Err(why)),
        }
    }
}

struct Persy(persy::Persy);
impl Store for Persy {
    fn put(&mut self, i: u32) {
        let mut transaction = must(self.0.begin());
        if !must(self.0.exists_index("i")) {
            must(transaction.create_index::<String, String>("i", persy::ValueMode::Replace));
        }
        must(transaction.put("i", key(i), value(i)));
        must(must(transaction.prepare()).commit());
    }
    fn get(&mut self, i: u32) -> Option<String> {
        if !must(self.0.exists_index("i")) {
            return None;
        }
        must(self.0.one::<String, String>("i", &key(i)))
    }
}

struct Jamm(jammdb::DB);
impl Store for Jamm {
    fn put(&mut self, i: u32) {
        let transaction = must(self.0.tx(true));
        must(must(transaction.get_or_create_bucket("b")).put(key(i), value(i)));
        must(transaction.commit());
    }
    fn get(&mut self, i: u32) -> Option<String> {
        let transaction = must(self.0.tx(false));
        let bucket = transaction.get_bucket("b").ok()?;
        let data = bucket.get(key(i))?;
        Some(String::from_utf8_lossy(data.kv().value()).into())
    }
}

struct Fjall(fjall::Keyspace, fjall::PartitionHandle);
impl Store for Fjall {
    fn put(&mut self, i: u32) {
        must(self.1.insert(key(i), value(i)));
        must(self.0.persist(fjall::PersistMode::SyncAll));
    }
    fn get(&mut self, i: u32) -> Option<String> {
        must(self.1.get(key(i))).map(|v| String::from_utf8_lossy(&v).into())
    }
}

struct PickleDb(pickledb::PickleDb);
impl Store for PickleDb {
    fn put(&mut self, i: u32) {
        must(self.0.set(&key(i), &value(i)));
    }
    fn get(&mut self, i: u32) -> Option<String> {
        self.0.get(&key(i))
    }
}

/// One file for each key, written with the crate atomicwrites.
struct AtomicFile;
impl Store for AtomicFile {
    fn put(&mut self, i: u32) {
        let file = atomicwrites::AtomicFile::new(key(i), atomicwrites::OverwriteBehavior::AllowOverwrite);
        must(file.write(|f| f.write_all(value(i).as_bytes())));
    }
    fn get(&mut self, i: u32) -> Option<String> {
        fs::read_to_string(key(i)).ok()
    }
}

fn open(name: &str) -> Box<dyn Store> {
    match name {
        "sled" => Box::new(Sled(must(sled::Config::new().path("db").flush_every_ms(None).open()))),
        "redb" => Box::new(Redb(must(redb::Database::create("db")))),
        "redb4" => Box::new(Redb4(must(redb4::Database::create("db")))),
        "persy" => Box::new(Persy(must(persy::Persy::open_or_create_with("db", persy::Config::new(), |_| Ok(()))))),
        "jammdb" => Box::new(Jamm(must(jammdb::DB::open("db")))),
        "fjall" => {
            let keyspace = must(fjall::Config::new("db").open());
            let partition = must(keyspace.open_partition("p", fjall::PartitionCreateOptions::default()));
            Box::new(Fjall(keyspace, partition))
        }
        "pickledb_rust" => {
            let policy = || pickledb::PickleDbDumpPolicy::AutoDump;
            Box::new(PickleDb(if fs::exists("db").unwrap() {
                must(pickledb::PickleDb::load_json("db", policy()))
            } else {
                pickledb::PickleDb::new_json("db", policy())
            }))
        }
        "atomicwrites_rust" => Box::new(AtomicFile),
        _ => must(Err(format!("no such store: {name}"))),
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let mut store = open(&words[1]);
    if words[2] == "write" {
        for i in 1..=rounds() {
            store.put(i);
            promise(i);
        }
        exit(0); // a program that is cut off closes nothing
    }
    let newest = promised();
    for i in 1..=rounds() {
        let found = store.get(i);
        need(found.as_ref().is_none_or(|v| *v == value(i)), format!("wrong: {}", key(i)));
        need(i > newest || found.is_some(), format!("lost: {} of {newest}", key(i)));
    }
    if store.uses_itself() {
        let there: Vec<u32> = (1..=rounds()).filter(|i| store.get(*i).is_some()).collect();
        for i in 901..=903 {
            store.put(i);
            for i in there.iter().copied().chain(901..=i) {
                need(store.get(i) == Some(value(i)), format!("wrong after it went on: {}", key(i)));
            }
        }
    }
    exit(0);
}

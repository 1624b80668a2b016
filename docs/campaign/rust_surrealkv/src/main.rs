//! Writer and check of the campaign for SurrealKV, before and after compaction syncs what it wrote: surreal new|old write|check|ask; `ask` prints what is lost
//! and judges nothing.
//! Commits are Durability::Immediate and promised. The memtable is small, so that tables are flushed and compacted while the writer runs.
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::FromRawFd;

const VALUE_BYTES: usize = 1500;

/// STORE_TRANSACTIONS, or 60.
fn rounds() -> u32 {
    std::env::var("STORE_TRANSACTIONS").map_or(60, |text| text.parse().unwrap())
}
fn key(i: u32) -> String {
    format!("key{i:04}")
}
fn value(i: u32) -> Vec<u8> {
    format!("value{i:04}.").into_bytes().into_iter().cycle().take(VALUE_BYTES).collect()
}
fn promise(i: u32) {
    let fd = std::env::var("FLASHLAB_ACK_FD").unwrap().parse().unwrap();
    let mut file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
    file.write_all(format!("{i}\n").as_bytes()).unwrap();
}
fn promised() -> u32 {
    BufReader::new(File::open(std::env::var("FLASHLAB_ACKS").unwrap()).unwrap()).lines().count() as u32
}

macro_rules! store {
    ($name:ident, $kv:ident) => {
        mod $name {
            use super::*;
            type End = Result<(), Box<dyn std::error::Error>>;
            fn open() -> Result<$kv::Tree, Box<dyn std::error::Error>> {
                Ok($kv::TreeBuilder::new().with_path("db".into()).with_max_memtable_size(16 << 10).build()?)
            }
            pub async fn write() -> End {
                let tree = open()?;
                for i in 1..=rounds() {
                    let mut tx = tree.begin()?;
                    tx.set_durability($kv::Durability::Immediate);
                    tx.set(key(i).as_bytes(), &value(i))?;
                    tx.commit().await?;
                    promise(i);
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await; // for the compaction in the background
                }
                tree.close().await?;
                Ok(())
            }
            pub async fn check() -> End {
                let tree = open()?;
                let tx = tree.begin()?;
                for i in 1..=promised() {
                    if tx.get(key(i).as_bytes())?.map(|v| v.to_vec()) == Some(value(i)) {
                        continue;
                    } else if std::env::args().nth(2).as_deref() == Some("ask") {
                        println!("lost: key {i}");
                    } else {
                        return Err(format!("lost: key {i} of {} promised", promised()).into());
                    }
                }
                Ok(())
            }
        }
    };
}
store!(new, surrealkv);
store!(old, surrealkv_old);

#[tokio::main(worker_threads = 2)]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let end = match (words[0].as_str(), words[1].as_str()) {
        ("new", "write") => new::write().await,
        ("new", "check" | "ask") => new::check().await,
        ("old", "write") => old::write().await,
        ("old", "check" | "ask") => old::check().await,
        _ => Err("usage: surreal new|old write|check".into()),
    };
    if let Err(why) = end {
        println!("{why}");
        std::process::exit(1);
    }
}

//! The library: an installed one that pkg-config finds (docs/library.md), else that of the tree around this crate, compiled by CMake.
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    for name in ["PKG_CONFIG_PATH", "FLASHLAB_FROM_TREE"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    if env::var_os("FLASHLAB_FROM_TREE").is_some() || !take_installed() {
        compile_tree();
    }
}

fn link(kind: &str, name: &str) {
    println!("cargo:rustc-link-lib={kind}={name}");
}

fn take_installed() -> bool {
    let version = env!("CARGO_PKG_VERSION").split('-').next().unwrap_or_default();
    let wanted = format!("flashlab = {version}");
    let words = match output(Command::new("pkg-config").args(["--libs", &wanted])) {
        Some(words) => words,
        None => return false,
    };
    for word in words.split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if word == "-lflashlab" {
            link("static", "flashlab");
        } else if let Some(name) = word.strip_prefix("-l") {
            link("dylib", name);
        }
    }
    true
}

/// What the program writes; nothing if it fails, or is not there.
fn output(command: &mut Command) -> Option<String> {
    let done = command.output().ok().filter(|done| done.status.success())?;
    String::from_utf8(done.stdout).ok()
}

fn compile_tree() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../..");
    let build = PathBuf::from(env::var_os("OUT_DIR").unwrap()).join("library");
    let parts = ["CMakeLists.txt", "VERSION", "base", "nand", "pram", "ftl", "crash", "fs", "tools"];
    for part in parts {
        let path = root.join(part);
        assert!(path.exists(), "this crate is built in FlashLab's tree, or with an installed library that pkg-config finds: no {}", path.display());
        if part != "tools" {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    for room in ["text", "host", "log", "drive", "library/flashlab.h", "library/flashlab_c.cpp", "library/lab_device.cpp", "library/lab_nand.cpp"] {
        println!("cargo:rerun-if-changed={}", root.join("tools").join(room).display());
    }
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&root).arg("-B").arg(&build).args([
        "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
        "-DFLASHLAB_LIBRARY_ALONE=ON",
        "-DFLASHLAB_UNITY=ON",
    ]);
    if !build.join("CMakeCache.txt").exists() && output(Command::new("ninja").arg("--version")).is_some() {
        configure.args(["-G", "Ninja"]);
    }
    run(&mut configure);
    let jobs = env::var("NUM_JOBS").unwrap_or_else(|_| "2".into());
    run(Command::new("cmake").arg("--build").arg(&build).args(["--target", "flashlab_archive", "flashlab_fmt", "--parallel", &jobs]));
    search(&build.join("made"));
    search(&build);
    link("static", "flashlab");
    link("static", "flashlab_fmt");
    for name in ["sqlite3", "stdc++", "m"] {
        link("dylib", name);
    }
}

fn search(folder: &Path) {
    println!("cargo:rustc-link-search=native={}", folder.display());
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}; docs/library.md says what has to be installed"));
    assert!(status.success(), "{command:?} failed: sh tools/install_dependencies.sh installs what it needs");
}

//! Folders: whose they are, which version wrote them, and whether anything is missing.

use std::fs;
use std::path::{Path, PathBuf};

use stonecrop_store::{Durability, ErrorKind, FjallStore, Options, Read, Store};

fn open(path: &Path) -> stonecrop_store::Result<FjallStore> {
    FjallStore::open(path, &Options::default())
}

fn refused(path: &Path) -> (ErrorKind, String) {
    let error = open(path).unwrap_err();
    (error.kind(), error.to_string())
}

#[test]
fn a_folder_with_other_files_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.doc"), "years of work").unwrap();
    let (kind, message) = refused(folder.path());
    assert_eq!(kind, ErrorKind::Invalid);
    assert!(message.contains("is not a Stonecrop database") && message.contains("thesis.doc"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was added");
}

#[test]
fn a_file_is_not_taken_for_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "text").unwrap();
    assert!(refused(&file).1.contains("file"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "text");
}

#[test]
fn a_store_whose_making_was_cut_short_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("STONECROP.new"), "stonecr").unwrap();
    open(folder.path()).unwrap();
    open(folder.path()).unwrap();
}

#[test]
fn a_newer_format_is_refused_and_a_damaged_marker_too() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).unwrap();
    let marker = folder.path().join("STONECROP");
    let good = fs::read_to_string(&marker).unwrap();

    fs::write(&marker, good.replace("stonecrop 2", "stonecrop 3")).unwrap();
    let (kind, message) = refused(folder.path());
    assert_eq!(kind, ErrorKind::Version);
    assert!(message.contains("format 3"), "{message}");

    for damaged in [
        "",
        "stonecrop one",
        &good.replace("fjall", "other"),
        &good.replace("shards 1", "shards 0"),
    ] {
        fs::write(&marker, damaged).unwrap();
        assert_eq!(refused(folder.path()).0, ErrorKind::Corrupt, "{damaged:?}");
    }
    fs::write(&marker, good).unwrap();
    open(folder.path()).unwrap();
}

/// The marker as version 1 wrote it.
const FIRST: &str = "stonecrop 1\nengine fjall\nshards 1\n";

#[test]
fn a_store_of_the_first_version_is_brought_up_to_this_one() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).unwrap().put(0, vec![1], vec![2], Durability::Sync).unwrap();
    let marker = folder.path().join("STONECROP");
    let newest = fs::read_to_string(&marker).unwrap();
    let first = format!("{FIRST}check {:08x}\n", crc32fast::hash(FIRST.as_bytes()));
    fs::write(&marker, &first).unwrap();

    let store = open(folder.path()).unwrap();
    assert_eq!(store.get(0, &[1]).unwrap().as_deref(), Some(&[2][..]));
    assert_eq!(fs::read_to_string(&marker).unwrap(), newest);
    assert!(newest.starts_with("stonecrop 2\n"), "{newest}");
}

#[test]
fn a_damaged_marker_of_the_first_version_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).unwrap();
    let marker = folder.path().join("STONECROP");
    let damaged = format!("{FIRST}check 00000000\n");
    fs::write(&marker, &damaged).unwrap();
    assert_eq!(refused(folder.path()).0, ErrorKind::Corrupt);
    assert_eq!(fs::read_to_string(&marker).unwrap(), damaged);
}

#[test]
fn the_count_of_shards_is_that_of_the_making() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.shards = Some(7);
    FjallStore::open(folder.path(), &options).unwrap();
    options.shards = Some(200);
    assert_eq!(FjallStore::open(folder.path(), &options).unwrap().shards(), 7);

    let other = tempfile::tempdir().unwrap();
    options.shards = Some(257);
    let error = FjallStore::open(other.path(), &options).unwrap_err();
    assert!(error.to_string().contains("1 to 256"));
}

#[test]
fn a_folder_is_open_once_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path()).unwrap();
    let (kind, message) = refused(folder.path());
    assert_eq!(kind, ErrorKind::Locked);
    assert!(message.contains("open in another process"), "{message}");
    first.close().unwrap();
    open(folder.path()).unwrap();
}

fn journals(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder.join("engine")).unwrap();
    let mut journals: Vec<_> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jnl"))
        .collect();
    journals.sort();
    journals
}

/// A copy of the folder while the store is open, as a sudden end would leave it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

#[test]
fn acknowledged_commits_that_a_damaged_journal_lost_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    for number in 0..100_u8 {
        store.put(0, vec![number], vec![number; 50], Durability::Sync).unwrap();
    }
    let crashed = tempfile::tempdir().unwrap();
    copy(folder.path(), crashed.path());

    let whole = open(crashed.path()).unwrap();
    assert!((0..100).all(|number| whole.get(0, &[number]).unwrap().is_some()));
    drop(whole);

    let (mut lost, mut opened) = (0, 0);
    for at in (50..4_000).step_by(97) {
        let damaged = tempfile::tempdir().unwrap();
        copy(folder.path(), damaged.path());
        let journal = journals(damaged.path()).pop().expect("there is a journal");
        let mut bytes = fs::read(&journal).unwrap();
        bytes[at] ^= 0x10;
        fs::write(&journal, bytes).unwrap();
        match open(damaged.path()) {
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
                lost += 1;
            }
            Ok(store) => {
                let there = |number: u8| {
                    store.get(0, &[number]).unwrap().as_deref() == Some(&[number; 50][..])
                };
                assert!((0..100).all(there), "byte {at}: opened, and something is missing");
                opened += 1;
            }
        }
    }
    assert!(lost > 30, "{lost} noticed, {opened} harmless");
}

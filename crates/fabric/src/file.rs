//! Reads and replaces the files that Motet keeps for a user: costs of the machine, wisdom.
//!
//! Names come from people and from the environment, and may be those of anything: a device, a pipe,
//! a link. Reading ends, whatever it is; what is replaced is a file and nothing else.

use std::fs::{self, File, FileType, Permissions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of the longest file that is read.
pub const FILE_MAX_BYTES: u64 = 16 << 20;
/// How long a process waits for others that replace the same file.
const REPLACE_TIMEOUT: Duration = Duration::from_secs(5);

/// Reads a file of text, or a device: `/dev/null` is an empty one.
///
/// # Errors
/// What the system says; pipes, which may never end, and what is longer than [`FILE_MAX_BYTES`] or
/// no text in UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    // To open a pipe would otherwise wait for somebody who writes into it.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let kind = file.metadata()?.file_type();
    if !kind.is_file() && !kind.is_char_device() {
        return Err(refusal(format!("it is {}, not a file", name_of(kind))));
    }
    let mut bytes = Vec::new();
    file.take(FILE_MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_MAX_BYTES {
        return Err(refusal(format!(
            "it is longer than {} MiB, which is read at most",
            FILE_MAX_BYTES >> 20
        )));
    }
    String::from_utf8(bytes).map_err(|_| refusal("it is no text in UTF-8".to_owned()))
}

/// Replaces a file in one step, so that whoever reads it sees all of it, old or new. It keeps its
/// permissions.
///
/// # Errors
/// What the system says; then the file is as it was. Anything but a file, which stays what it is.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let permissions = of_replaceable(path)?;
    let draft = draft_of(path);
    let write = || {
        // This follows no link that somebody has put there.
        let mut file = File::options().write(true).create_new(true).open(&draft)?;
        file.write_all(text.as_bytes())?;
        permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))?;
        fs::rename(&draft, path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&draft)))
}

/// Whether a file can be replaced, before there is anything to be written.
///
/// # Errors
/// As [`replace`].
pub fn try_replace(path: &Path) -> io::Result<()> {
    of_replaceable(path)?;
    let draft = draft_of(path);
    File::options().write(true).create_new(true).open(&draft)?;
    fs::remove_file(&draft)
}

/// Keeps others out that replace this file, until what is returned is dropped.
///
/// # Errors
/// What the system says; anything but a file, as in [`replace`]; another process that keeps the
/// lock.
pub fn lock(path: &Path) -> io::Result<File> {
    of_replaceable(path)?;
    let mut options = File::options();
    options.create(true).append(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let lock = options.open(beside(path, ".lock"))?;
    let begun = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) if begun.elapsed() < REPLACE_TIMEOUT => {
                thread::sleep(Duration::from_millis(1));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(refusal("another process has kept its lock for 5 s".to_owned()));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// The name of what is to replace a file, under which nothing lies.
fn draft_of(path: &Path) -> PathBuf {
    let draft = beside(path, &format!(".{}.new", std::process::id()));
    // One may have been left by a process that had the same number.
    let _ = fs::remove_file(&draft);
    draft
}

/// The permissions of what is there, if anything is; an error if that is no file.
fn of_replaceable(path: &Path) -> io::Result<Option<Permissions>> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    if found.is_file() {
        return Ok(Some(Permissions::from_mode(found.permissions().mode() & 0o777)));
    }
    let what = if found.is_symlink() { "that file itself" } else { "a file" };
    let kind = name_of(found.file_type());
    Err(refusal(format!("it is {kind}, and only a file is replaced: name {what}")))
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn name_of(kind: FileType) -> &'static str {
    if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

fn refusal(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType as Kind, Mode, mknodat};
    use std::os::unix::fs::{MetadataExt, symlink};

    fn pipe_in(folder: &Path) -> PathBuf {
        let path = folder.join("pipe");
        mknodat(CWD, &path, Kind::Fifo, Mode::RWXU, 0).unwrap();
        path
    }

    #[test]
    fn reading_ends_whatever_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let problem = |path: &Path| read_text(path).unwrap_err().to_string();
        assert_eq!(read_text(Path::new("/dev/null")).unwrap(), "");
        assert!(problem(Path::new("/dev/zero")).contains("longer than 16 MiB"));
        assert!(problem(folder.path()).contains("a directory, not a file"));
        assert!(problem(&pipe_in(folder.path())).contains("a pipe, not a file"));
        let path = folder.path().join("file");
        let file = File::create(&path).unwrap();
        file.set_len(FILE_MAX_BYTES + 1).unwrap();
        assert!(problem(&path).contains("longer than 16 MiB"));
        file.set_len(FILE_MAX_BYTES).unwrap();
        assert_eq!(read_text(&path).unwrap().len() as u64, FILE_MAX_BYTES);
        fs::write(&path, [0xff]).unwrap();
        assert!(problem(&path).contains("UTF-8"));
    }

    #[test]
    fn a_file_is_replaced_and_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        replace(&path, "one").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        // A link where the draft goes leads nowhere.
        let elsewhere = folder.path().join("elsewhere");
        symlink(&elsewhere, beside(&path, &format!(".{}.new", std::process::id()))).unwrap();
        replace(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o640);
        assert!(!elsewhere.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn what_is_no_file_stays_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (link, file) = (folder.path().join("link"), folder.path().join("file"));
        fs::write(&file, "as it was").unwrap();
        symlink(&file, &link).unwrap();
        let dangling = folder.path().join("dangling");
        symlink(folder.path().join("nothing"), &dangling).unwrap();
        let pipe = pipe_in(folder.path());
        for path in [&link, &dangling, &pipe, Path::new("/dev/null"), folder.path()] {
            let kind = fs::symlink_metadata(path).unwrap().file_type();
            let refused = [replace(path, "text"), try_replace(path), lock(path).map(drop)];
            for error in refused.map(Result::unwrap_err) {
                assert!(error.to_string().contains("only a file is replaced"), "{error}");
            }
            assert_eq!(fs::symlink_metadata(path).unwrap().file_type(), kind);
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "as it was");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "no draft and no lock is left");
    }

    #[test]
    fn a_lock_keeps_others_out_until_it_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let held = lock(&path).unwrap();
        thread::scope(|scope| {
            let other = scope.spawn(|| lock(&path).map(drop));
            thread::sleep(Duration::from_millis(20));
            assert!(!other.is_finished());
            drop(held);
            other.join().unwrap().unwrap();
        });
    }
}

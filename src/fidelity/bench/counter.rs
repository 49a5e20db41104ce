//! The program that a payload calls: it writes down its arguments and, with `-in`, its standard input.
//!
//! In: a copy of this program with a mark behind it, called by its path. Out: a file beside it for each call.
//! Never: prints anything, or ends with anything but 0.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const MARK: &[u8; 16] = b"agent-sh counter";

/// Makes a counter of the running program.
pub fn write(path: &Path) -> std::io::Result<()> {
    let mut source = File::open("/proc/self/exe")?;
    let mut copy = File::options().write(true).create_new(true).open(path)?;
    std::io::copy(&mut source, &mut copy)?;
    copy.write_all(MARK)?;
    copy.set_permissions(std::fs::Permissions::from_mode(0o755))
}

fn is_counter() -> bool {
    let Ok(mut file) = File::open("/proc/self/exe") else { return false };
    let mut tail = [0u8; 16];
    file.seek(SeekFrom::End(-16)).is_ok() && file.read_exact(&mut tail).is_ok() && tail == *MARK
}

/// Counts, if this program is a counter.
pub fn stand_in() -> Option<u8> {
    is_counter().then(|| u8::from(count(std::env::args_os().collect()).is_none()))
}

fn count(argv: Vec<OsString>) -> Option<()> {
    let mut words = argv.into_iter();
    let own = words.next()?;
    let folder = Path::new(&own).parent()?;
    let mut call = Vec::new();
    let mut reads = false;
    for (at, word) in words.enumerate() {
        reads |= at == 0 && word == "-in";
        call.extend_from_slice(word.as_bytes());
        call.push(0);
    }
    if reads {
        call.push(1);
        std::io::stdin().lock().take(16 << 20).read_to_end(&mut call).ok()?;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_nanos();
    let path = folder.join(format!("call-{now:020}-{}", std::process::id()));
    let draft = folder.join(format!("draft-{}", std::process::id()));
    std::fs::write(&draft, call).ok()?;
    std::fs::rename(draft, path).ok()
}

/// The calls that were counted in a folder, by time.
pub fn calls(folder: &Path) -> std::io::Result<Vec<Vec<u8>>> {
    let mut names: Vec<_> = std::fs::read_dir(folder)?
        .filter_map(Result::ok)
        .filter(|e| e.file_name().as_bytes().starts_with(b"call-"))
        .map(|e| e.path())
        .collect();
    names.sort();
    names.iter().map(std::fs::read).collect()
}

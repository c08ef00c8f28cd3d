//! Who signs requests as AWS's clients do: access keys, each with its secret.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::auth::{Scope, credential_lines};

/// The longest id, as the service has it.
const MOST_ID_BYTES: usize = 128;

/// The access keys that a server knows.
///
/// An access key file has a key a line: its scope, its id, its secret, and whatever helps to tell
/// whose it is. Lines that begin with `#` are comments. The secret is there in clear, because a
/// signature can only be checked by making it again; so nobody but the owner may read the file.
///
/// ```
/// use stonecrop_server::{AccessKeys, Scope};
/// let (id, secret, line) = AccessKeys::create(Scope::Write, "the importer");
/// assert!(line.starts_with("write ") && line.contains(&id) && line.contains(&secret));
/// let keys: AccessKeys = format!("# ours\n{line}\n").parse()?;
/// assert_eq!(format!("{keys:?}"), "1 access keys");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Default)]
pub struct AccessKeys(HashMap<String, AccessKey>);

/// What is known of an access key beside its id.
#[derive(Clone)]
pub(crate) struct AccessKey {
    pub(crate) scope: Scope,
    pub(crate) secret: String,
}

impl AccessKeys {
    /// Reads an access key file, which on Unix nobody but its owner may read or write.
    ///
    /// ```
    /// assert!(stonecrop_server::AccessKeys::read("no such file".as_ref()).is_err());
    /// ```
    pub fn read(path: &Path) -> Result<Self, String> {
        let wrong = |problem: String| format!("the access key file {}: {problem}", path.display());
        let mut file = File::open(path).map_err(|error| wrong(error.to_string()))?;
        check_private(path, &file)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| wrong(error.to_string()))?;
        let keys: Self = text.parse().map_err(wrong)?;
        match keys.0.is_empty() {
            true => Err(format!("the access key file {} has no keys", path.display())),
            false => Ok(keys),
        }
    }

    /// Adds a line to an access key file, which is made if need be, for its owner alone.
    ///
    /// ```
    /// # use stonecrop_server::{AccessKeys, Scope};
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("access-keys");
    /// let (_, _, line) = AccessKeys::create(Scope::Read, "the grid");
    /// AccessKeys::add(&path, &line)?;
    /// AccessKeys::read(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add(path: &Path, line: &str) -> Result<(), String> {
        use std::io::Write as _;
        let wrong =
            |error: std::io::Error| format!("the access key file {}: {error}", path.display());
        let mut options = File::options();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(wrong)?;
        check_private(path, &file)?;
        file.write_all(format!("{}\n", line.trim_end()).as_bytes()).map_err(wrong)
    }

    /// The id and the secret of a new key, and the line for the access key file.
    ///
    /// ```
    /// use stonecrop_server::{AccessKeys, Scope};
    /// let (id, secret, _) = AccessKeys::create(Scope::Read, "");
    /// assert!(id.starts_with("STONECROP") && secret.len() == 64);
    /// ```
    pub fn create(scope: Scope, name: &str) -> (String, String, String) {
        // 244 bits of the operating system's randomness.
        let [id, a, b] = [(); 3].map(|()| uuid::Uuid::new_v4().simple().to_string());
        let id = format!("STONECROP{}", id.to_ascii_uppercase());
        let secret = format!("{a}{b}");
        let line = format!("{scope} {id} {secret} {name}");
        (id, secret, line)
    }

    pub(crate) fn get(&self, id: &str) -> Option<&AccessKey> {
        self.0.get(id)
    }
}

/// Refuses a file that others than its owner may read or write.
#[cfg(unix)]
fn check_private(path: &Path, file: &File) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;
    let path = path.display();
    let metadata =
        file.metadata().map_err(|error| format!("the access key file {path}: {error}"))?;
    let mode = metadata.permissions().mode() & 0o777;
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(format!(
            "the access key file {path} has secrets in it, and others than its owner may use it \
             (its mode is {mode:o}): chmod 600 {path}"
        )),
    }
}

#[cfg(not(unix))]
fn check_private(_: &Path, _: &File) -> Result<(), String> {
    Ok(())
}

impl std::str::FromStr for AccessKeys {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut keys = HashMap::new();
        for line in credential_lines(text) {
            let (number, scope, mut words) = line?;
            let (Some(id), Some(secret)) = (words.next(), words.next()) else {
                let form = "a scope, the id of a key and its secret are expected";
                return Err(format!("line {number}: {form}"));
            };
            if !is_id(id) {
                return Err(format!(
                    "line {number}: {id:?} is no id of a key: up to {MOST_ID_BYTES} letters, digits \
                     and _ are"
                ));
            }
            let key = AccessKey { scope, secret: secret.to_owned() };
            if keys.insert(id.to_owned(), key).is_some() {
                return Err(format!("line {number}: the key {id} is there twice"));
            }
        }
        Ok(AccessKeys(keys))
    }
}

fn is_id(text: &str) -> bool {
    let is_short = (1..=MOST_ID_BYTES).contains(&text.len());
    is_short && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl fmt::Debug for AccessKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} access keys", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_line_is_named_and_its_secret_is_not_told() {
        for (file, told) in [
            ("root a hush", "line 1: \"root\""),
            ("\n# fine\nread a", "line 3: a scope"),
            ("read a/b hush", "line 1: \"a/b\""),
            ("read a hush\nwrite a hush", "line 2: the key a is there twice"),
        ] {
            let error = file.parse::<AccessKeys>().unwrap_err();
            assert!(error.starts_with(told) && !error.contains("hush"), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_may_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access-keys");
        let (_, _, line) = AccessKeys::create(Scope::Admin, "me");
        AccessKeys::add(&path, &line).unwrap();
        AccessKeys::add(&path, "read mine hush").unwrap();
        assert_eq!(AccessKeys::read(&path).unwrap().get("mine").unwrap().secret, "hush");
        for mode in [0o640, 0o604, 0o620] {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            let error = AccessKeys::read(&path).unwrap_err();
            assert!(error.contains(&format!("{mode:o}")) && error.contains("chmod 600"), "{error}");
            assert_eq!(AccessKeys::add(&path, &line).unwrap_err(), error);
        }
    }
}

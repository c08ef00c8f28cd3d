//! Who may do what: tokens, kept as hashes.

use std::fmt;
use std::path::Path;
use std::str::SplitWhitespace;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use utoipa::ToSchema;

/// What a token allows: each more than the one before.
///
/// ```
/// use stonecrop_server::Scope;
/// assert!(Scope::Admin > Scope::Write && Scope::Write > Scope::Read);
/// assert_eq!("read".parse(), Ok(Scope::Read));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Reads and queries.
    Read,
    /// Also changes of rows.
    Write,
    /// Also tables, indexes, and the care of the database.
    Admin,
}

impl std::str::FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "read" => Ok(Scope::Read),
            "write" => Ok(Scope::Write),
            "admin" => Ok(Scope::Admin),
            _ => Err(format!("{text:?} is no scope; there are read, write and admin")),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scope::Read => "read",
            Scope::Write => "write",
            Scope::Admin => "admin",
        })
    }
}

/// The tokens that a server knows, as hashes.
///
/// A token file has a token a line: its scope, the SHA-256 of the token in hex, and whatever helps
/// to tell whose it is. Lines that begin with `#` are comments.
///
/// ```
/// use stonecrop_server::{Scope, Tokens};
/// let (token, line) = Tokens::create(Scope::Write, "the importer");
/// let tokens: Tokens = format!("# ours\n{line}\n").parse()?;
/// assert_eq!(tokens.scope_of(&token), Some(Scope::Write));
/// assert_eq!(tokens.scope_of("guess"), None);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Default)]
pub struct Tokens(Vec<(Scope, [u8; 32])>);

impl Tokens {
    /// Reads a token file.
    ///
    /// ```
    /// assert!(stonecrop_server::Tokens::read("no such file".as_ref()).is_err());
    /// ```
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| format!("the token file {}: {error}", path.display()))?;
        let tokens: Self =
            text.parse().map_err(|error| format!("the token file {}: {error}", path.display()))?;
        match tokens.0.is_empty() {
            true => Err(format!("the token file {} has no tokens", path.display())),
            false => Ok(tokens),
        }
    }

    /// A new token, and the line for the token file. Nobody can tell the token from the line.
    ///
    /// ```
    /// use stonecrop_server::{Scope, Tokens};
    /// let (token, line) = Tokens::create(Scope::Read, "the grid");
    /// assert!(line.starts_with("read ") && line.ends_with(" the grid") && !line.contains(&token));
    /// ```
    pub fn create(scope: Scope, name: &str) -> (String, String) {
        // 244 bits of the operating system's randomness.
        let [a, b] = [uuid::Uuid::new_v4(), uuid::Uuid::new_v4()].map(|id| id.simple().to_string());
        let token = format!("stonecrop_{a}{b}");
        let hash = hash(&token).map(|byte| format!("{byte:02x}")).concat();
        (token, format!("{scope} {hash} {name}"))
    }

    /// What a token allows. The time that it takes tells nothing about how near a guess is.
    ///
    /// ```
    /// assert_eq!(stonecrop_server::Tokens::default().scope_of("token"), None);
    /// ```
    pub fn scope_of(&self, token: &str) -> Option<Scope> {
        let hash = hash(token);
        let mut found = 0_u8;
        for (scope, known) in &self.0 {
            let is_it: Choice = known.ct_eq(&hash);
            found.conditional_assign(&(*scope as u8 + 1), is_it);
        }
        [Scope::Read, Scope::Write, Scope::Admin].into_iter().find(|s| *s as u8 + 1 == found)
    }
}

/// The lines of a file of credentials that are no comments: each with its number, its scope, and the
/// words after that.
pub(crate) fn credential_lines(
    text: &str,
) -> impl Iterator<Item = Result<(usize, Scope, SplitWhitespace<'_>), String>> {
    let lines = (1..).zip(text.lines().map(str::trim));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(number, line)| {
        let mut words = line.split_whitespace();
        let scope = words.next().unwrap_or_default().parse();
        let scope = scope.map_err(|error| format!("line {number}: {error}"))?;
        Ok((number, scope, words))
    })
}

impl std::str::FromStr for Tokens {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut tokens = Vec::new();
        for line in credential_lines(text) {
            let (number, scope, mut words) = line?;
            let hash = from_hex(words.next().unwrap_or_default()).ok_or_else(|| {
                format!("line {number}: a scope and then a SHA-256 of 64 hex digits are expected")
            })?;
            tokens.push((scope, hash));
        }
        Ok(Tokens(tokens))
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens", self.0.len())
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut hash = [0; 32];
    for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_line_of_a_token_file_is_named() {
        let error = "read ab\n".parse::<Tokens>().unwrap_err();
        assert!(error.starts_with("line 1"), "{error}");
        let signed = format!("read {}", "+f".repeat(32));
        assert!(signed.parse::<Tokens>().unwrap_err().starts_with("line 1"));
        let error = "\n# fine\nroot 00".parse::<Tokens>().unwrap_err();
        assert!(error.starts_with("line 3") && error.contains("root"), "{error}");
    }

    #[test]
    fn each_token_has_its_own_scope() {
        let made = [Scope::Read, Scope::Write, Scope::Admin].map(|scope| Tokens::create(scope, ""));
        let file = made.each_ref().map(|(_, line)| line.as_str()).join("\n");
        let tokens: Tokens = file.parse().unwrap();
        let scopes = made.each_ref().map(|(token, _)| tokens.scope_of(token).unwrap());
        assert_eq!(scopes, [Scope::Read, Scope::Write, Scope::Admin]);
    }
}

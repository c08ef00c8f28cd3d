//! Which database a command is about, and what it shows to be let in.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::{Error, Result};

/// Without `--database`: a folder where the command is run.
const DEFAULT: &str = "./data";

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "The database")]
pub(crate) struct Target {
    /// A folder, "memory:", the URL of a server, or a place on object storage (s3://bucket/path,
    /// gs://, az://, file:///path?engine=slatedb) [default: ./data]
    #[arg(short, long, global = true, value_name = "LOCATION", env = "STONECROP_DATABASE")]
    #[arg(hide_env_values = true, display_order = 90)]
    database: Option<String>,

    /// The token that a server asks for
    #[arg(long, global = true, value_name = "TOKEN", env = "STONECROP_TOKEN")]
    #[arg(hide_env_values = true, display_order = 91)]
    token: Option<String>,

    /// A file with the token in it
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "token", display_order = 92)]
    token_file: Option<PathBuf>,
}

/// A place where a database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    Url(String),
    Folder(PathBuf),
    /// On object storage.
    Objects(String),
    Memory,
}

impl Target {
    pub(crate) fn text(&self) -> &str {
        self.database.as_deref().unwrap_or(DEFAULT)
    }

    pub(crate) fn location(&self) -> Result<Location> {
        location(self.text())
    }

    pub(crate) fn token(&self) -> Result<Option<String>> {
        let Some(path) = &self.token_file else {
            return Ok(self.token.clone().filter(|token| !token.is_empty()));
        };
        let text = fs::read_to_string(path);
        let text = text.map_err(|cause| Error::File { path: path.clone(), cause })?;
        Ok(Some(text.trim().to_owned()))
    }
}

/// The place that a text names.
pub(crate) fn location(text: &str) -> Result<Location> {
    if text.starts_with("http://") || text.starts_with("https://") {
        return Ok(Location::Url(text.trim_end_matches('/').to_owned()));
    }
    if text == "memory:" {
        return Ok(Location::Memory);
    }
    if let Some((scheme, _)) = text.split_once("://") {
        if matches!(scheme, "s3" | "gs" | "az" | "file") {
            return Ok(Location::Objects(text.to_owned()));
        }
        let problem = format!("{scheme}:// is no place for a database: name a folder, a URL");
        return Err(Error::Usage(format!(
            "{problem} that begins with http:// or https://, or one with s3://, gs://, az:// or \
                 file:// for object storage"
        )));
    }
    Ok(Location::Folder(PathBuf::from(text)))
}

/// That a folder holds a database.
pub(crate) fn must_exist(folder: &Path) -> Result<()> {
    if folder.join("STONECROP").is_file() {
        return Ok(());
    }
    let name = folder.display();
    let found = match folder.is_dir() {
        true => format!("{name} is not a Stonecrop database"),
        false => format!("there is no database at {name}"),
    };
    Err(Error::NoDatabase(format!(
        "{found}\n  name one with --database; stonecrop table create and stonecrop import make one"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_url_a_folder_object_storage_or_memory() {
        let url = |text: &str| Location::Url(text.to_owned());
        assert_eq!(location("http://localhost:8321/").unwrap(), url("http://localhost:8321"));
        assert_eq!(location("https://db.example/x").unwrap(), url("https://db.example/x"));
        assert_eq!(location("memory:").unwrap(), Location::Memory);
        assert_eq!(location("a/b").unwrap(), Location::Folder("a/b".into()));
        assert_eq!(location("s3://b/p").unwrap(), Location::Objects("s3://b/p".to_owned()));
        assert!(location("ftp://host").unwrap_err().to_string().contains("ftp://"));
    }
}

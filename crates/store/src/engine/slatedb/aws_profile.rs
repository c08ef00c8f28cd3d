//! The profile of AWS's tools: keys and a region from `~/.aws/credentials` and `~/.aws/config`.

use std::collections::HashMap;
use std::path::PathBuf;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Profile {
    /// The id and the secret.
    pub(super) keys: Option<(String, String)>,
    pub(super) token: Option<String>,
    pub(super) region: Option<String>,
}

/// The profile that `AWS_PROFILE` names, or the default one; empty where there are no such files.
pub(super) fn load() -> Profile {
    let name = std::env::var("AWS_PROFILE").unwrap_or_else(|_| "default".to_owned());
    let read = |variable: &str, file: &str| {
        let given = std::env::var_os(variable).map(PathBuf::from);
        let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".aws").join(file));
        given.or_else(home).and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default()
    };
    let credentials = read("AWS_SHARED_CREDENTIALS_FILE", "credentials");
    let config = read("AWS_CONFIG_FILE", "config");
    parse(&name, &credentials, &config)
}

fn parse(name: &str, credentials: &str, config: &str) -> Profile {
    // In the file of settings all but the default profile have a word before their name.
    let long = format!("profile {name}");
    let in_config = if name == "default" { "default" } else { &long };
    let mut settings = section(config, in_config);
    settings.extend(section(credentials, name));
    let mut take = |key: &str| settings.remove(key);
    let keys = take("aws_access_key_id").zip(take("aws_secret_access_key"));
    Profile { keys, token: take("aws_session_token"), region: take("region") }
}

/// The settings of a section.
fn section(text: &str, name: &str) -> HashMap<String, String> {
    let mut inside = false;
    let mut settings = HashMap::new();
    for line in text.lines().map(str::trim) {
        if let Some(title) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            inside = title.trim() == name;
        } else if let (true, Some((key, value))) = (inside, line.split_once('='))
            && !key.starts_with(['#', ';'])
        {
            settings.insert(key.trim().to_owned(), value.trim().to_owned());
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "[default]\naws_access_key_id = a\naws_secret_access_key = b=c\n\
        # a note = none\n[other]\naws_access_key_id=d\naws_secret_access_key=e\naws_session_token=f";
    const CONFIG: &str = "[default]\nregion = eu-west-1\n[profile other]\nregion = us-east-2\n";

    #[test]
    fn a_profile_has_its_keys_and_its_region() {
        let profile = parse("default", CREDENTIALS, CONFIG);
        assert_eq!(profile.keys, Some(("a".to_owned(), "b=c".to_owned())));
        assert_eq!((profile.token, profile.region.as_deref()), (None, Some("eu-west-1")));
        let profile = parse("other", CREDENTIALS, CONFIG);
        assert_eq!(profile.token.as_deref(), Some("f"));
        assert_eq!(profile.region.as_deref(), Some("us-east-2"));
    }

    #[test]
    fn a_profile_that_is_not_there_is_empty() {
        assert_eq!(parse("none", CREDENTIALS, CONFIG), Profile::default());
    }
}

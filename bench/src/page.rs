//! A page whose prose is written by people and whose figures are not.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Puts `content` between the two comments of that name, and leaves the rest of the page alone.
pub(crate) fn replace_section(file: &Path, name: &str, content: &str) -> Result<()> {
    let page = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let page = with_section(&page, name, content).with_context(|| {
        format!("{} has no comments {:?} and {:?}", file.display(), begin(name), end(name))
    })?;
    write(file, &page)
}

/// Writes a file, and the directory that it is in.
pub(crate) fn write(file: &Path, content: &str) -> Result<()> {
    if let Some(directory) = file.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::write(file, content).with_context(|| file.display().to_string())
}

fn with_section(page: &str, name: &str, content: &str) -> Option<String> {
    let (before, rest) = page.split_once(&begin(name))?;
    let (_, after) = rest.split_once(&end(name))?;
    Some([before, &begin(name), "\n\n", content.trim_end(), "\n\n", &end(name), after].concat())
}

fn begin(name: &str) -> String {
    format!("<!-- {name}: from here on written by make bench -->")
}

fn end(name: &str) -> String {
    format!("<!-- {name}: end -->")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_replaced_and_the_prose_around_it_is_kept() {
        let page = |content| format!("a\n\n{}\n\n{content}\n\n{}\n\nb\n", begin("x"), end("x"));
        assert_eq!(with_section(&page("old"), "x", "new\n"), Some(page("new")));
        assert_eq!(with_section(&page("old"), "y", "new"), None);
    }
}

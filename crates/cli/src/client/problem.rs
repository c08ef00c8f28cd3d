//! Problem documents: what a server says when it can't do what it was asked.

use std::fmt;

use serde::Deserialize;

use crate::output::visible;

/// An answer other than the one that was hoped for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Problem {
    pub(crate) title: String,
    pub(crate) status: u16,
    pub(crate) code: String,
    pub(crate) detail: String,
    pub(crate) path: Option<String>,
    hint: Option<String>,
}

impl Problem {
    /// From the body of an answer, which may come from something between us and the server.
    pub(super) fn new(status: u16, body: &[u8]) -> Self {
        let problem: Problem = serde_json::from_slice(body).unwrap_or_default();
        match problem.detail.is_empty() && problem.title.is_empty() {
            true => Problem { status, detail: format!("the server answered {status}"), ..problem },
            false => Problem { status, ..problem },
        }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self.status {
            404 | 410 => 3,
            409 | 412 => 4,
            401 | 403 | 408 | 429 | 500.. => 5,
            _ => 1,
        }
    }

    /// What is wrong, without what to do about it.
    pub(crate) fn text(&self) -> &str {
        match self.code.as_str() {
            // There is only one write, and its number says nothing.
            "condition-failed" => "the condition is not true of the row; nothing was written",
            _ if self.detail.is_empty() => &self.title,
            _ => &self.detail,
        }
    }

    /// With something more to say about it.
    pub(crate) fn with_note(&self, note: &str) -> Self {
        Problem { detail: format!("{}; {note}", self.text()), ..self.clone() }
    }

    /// Which write of a batch is at fault, counted from 0.
    pub(crate) fn write_index(&self) -> Option<usize> {
        let rest = self.path.as_deref()?.strip_prefix("/writes/")?;
        rest.split('/').next()?.parse().ok()
    }

    /// What to do about it on a command line, where the server's hint is about requests.
    fn advice(&self) -> Option<&str> {
        match self.code.as_str() {
            "no-table" => Some("stonecrop table list shows the tables"),
            "no-index" => Some("stonecrop index list TABLE shows the indexes"),
            "no-changes" => Some("stonecrop table alter TABLE --changes 24h switches them on"),
            "changes-lost" => Some("read the rows, and then the changes --after latest"),
            "no-row" | "condition-failed" => None,
            "unauthenticated" => Some("give a token with --token-file, or in STONECROP_TOKEN"),
            _ => {
                let methods = ["GET ", "POST ", "PUT ", "PATCH ", "DELETE "];
                let hint = self.hint.as_deref().filter(|hint| !hint.is_empty());
                hint.filter(|hint| !methods.iter().any(|method| hint.contains(method)))
            }
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(self.text()))?;
        match self.advice() {
            Some(advice) => write!(f, "\n  {}", visible(advice)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_says_which_write_is_at_fault() {
        let problem = |path: &str| Problem { path: Some(path.to_owned()), ..Problem::default() };
        assert_eq!(problem("/writes/17").write_index(), Some(17));
        assert_eq!(problem("/writes/3/set/name").write_index(), Some(3));
        assert_eq!(problem("/durability").write_index(), None);
    }

    #[test]
    fn an_answer_that_is_no_problem_document_is_told_by_its_status() {
        let problem = Problem::new(502, b"<html>bad gateway</html>");
        assert_eq!(
            (problem.to_string().as_str(), problem.exit_code()),
            ("the server answered 502", 5)
        );
    }

    #[test]
    fn hints_about_requests_are_not_for_people() {
        let body = br#"{"detail": "no", "code": "odd", "hint": "POST /v1/x does it"}"#;
        assert_eq!(Problem::new(400, body).to_string(), "no");
        let body = br#"{"detail": "no", "code": "odd", "hint": "use fewer"}"#;
        assert_eq!(Problem::new(400, body).to_string(), "no\n  use fewer");
    }
}

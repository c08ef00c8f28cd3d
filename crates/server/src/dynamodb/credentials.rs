//! Who sent a request, as far as its headers tell.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;

use super::refusal::{Refusal, Result};
use crate::app::App;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Refuses what no client of the service would send.
///
/// With tokens [`crate::guard`] has found one that allows the operation. Without them any signature
/// will do, and only its form is looked at.
pub(super) fn check(app: &App, parts: &Parts) -> Result<()> {
    if app.config.tokens.is_some() {
        return Ok(());
    }
    let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let authorization = text(AUTHORIZATION.as_str()).unwrap_or_default();
    let in_address = parts.uri.query().unwrap_or_default().contains("X-Amz-Algorithm");
    if in_address && !authorization.is_empty() {
        return Err(Refusal::new(
            "InvalidSignatureException",
            "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP \
             header.",
        ));
    }
    if in_address {
        return Ok(());
    }
    let Some(fields) = authorization.strip_prefix(ALGORITHM) else {
        return Err(Refusal::new(
            "MissingAuthenticationTokenException",
            "Request is missing Authentication Token",
        ));
    };
    check_fields(fields, authorization, &parts.headers)
}

fn check_fields(fields: &str, authorization: &str, headers: &HeaderMap) -> Result<()> {
    let has = |name: &str| {
        let mut fields = fields.split(',').map(str::trim);
        fields.any(|field| field.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')))
    };
    let missing = ["Credential", "Signature", "SignedHeaders"].into_iter().filter(|n| !has(n));
    let mut problems: Vec<String> =
        missing.map(|name| format!("Authorization header requires '{name}' parameter.")).collect();
    if !headers.contains_key("x-amz-date") && !headers.contains_key("date") {
        problems.push(
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header."
                .to_owned(),
        );
    }
    if problems.is_empty() {
        return Ok(());
    }
    let message = format!("{} Authorization={authorization}", problems.join(" "));
    Err(Refusal::new("IncompleteSignatureException", message))
}

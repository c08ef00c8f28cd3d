//! Who sent a request, and whether they may.

use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;

use super::refusal::{Refusal, Result};
use super::signature::{Claim, Fields};
use crate::access_keys::AccessKey;
use crate::app::App;
use crate::auth::Scope;
use crate::guard::bearer;

/// What the names of the service's ways to sign begin with.
const FAMILY: &str = "AWS4-";

/// Who a request says that it is from.
pub(super) enum Caller<'a> {
    /// Whoever reaches the server may do everything.
    Anyone,
    /// Whoever has a token.
    Token(Scope),
    /// Whoever has the secret of this key, if the signature is right.
    Signed(Claim, &'a AccessKey),
}

impl<'a> Caller<'a> {
    /// What the headers tell.
    pub(super) fn of(app: &'a App, parts: &Parts) -> Result<Self> {
        if !app.config.asks_who() {
            return Ok(Caller::Anyone);
        }
        if let Some(token) = bearer(&parts.headers) {
            let tokens = app.config.tokens.as_ref();
            let scope = tokens.and_then(|tokens| tokens.scope_of(token));
            return scope.map(Caller::Token).ok_or_else(unrecognized);
        }
        let signed = signed(parts)?;
        let Some(keys) = &app.config.access_keys else {
            return Err(Refusal::new(
                "UnrecognizedClientException",
                "This server has no access keys, so it can't check signatures: start it with \
                 --access-key-file (\"stonecrop access-key\" makes a key), or send the header \
                 \"authorization: Bearer TOKEN\".",
            ));
        };
        let Some(authorization) = signed else {
            return Err(Refusal::new(
                "InvalidSignatureException",
                "Signatures in the address are not accepted here: sign with the Authorization \
                 header.",
            ));
        };
        let claim = Claim::read(&Fields::read(authorization, &parts.headers)?)?;
        let key = keys.get(&claim.key_id).ok_or_else(unrecognized)?;
        claim.check(parts, app.database.now())?;
        Ok(Caller::Signed(claim, key))
    }

    /// What they may do, now that the body is here, as it was sent.
    pub(super) fn verify(self, parts: &Parts, body: &[u8]) -> Result<Scope> {
        match self {
            Caller::Anyone => Ok(Scope::Admin),
            Caller::Token(scope) => Ok(scope),
            Caller::Signed(claim, key) => {
                claim.verify(&key.secret, parts, body)?;
                Ok(key.scope)
            }
        }
    }
}

/// Refuses what is beyond a caller's scope; and, where anybody may do everything, what no client of
/// the service would send: any signature will do there, and only its form is looked at.
pub(super) fn check(app: &App, parts: &Parts, scope: Scope, needed: Scope) -> Result<()> {
    check_scope(scope, needed)?;
    if !app.config.asks_who()
        && let Some(authorization) = signed(parts)?
    {
        Fields::read(authorization, &parts.headers)?;
    }
    Ok(())
}

pub(super) fn check_scope(scope: Scope, needed: Scope) -> Result<()> {
    if scope >= needed {
        return Ok(());
    }
    let message = format!("these credentials allow to {scope}, and this needs {needed}");
    Err(Refusal::new("AccessDeniedException", message))
}

/// The header with a signature; none where the signature is in the address.
fn signed(parts: &Parts) -> Result<Option<&str>> {
    let authorization = parts.headers.get(AUTHORIZATION);
    let authorization = authorization.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let in_address = parts.uri.query().unwrap_or_default().contains("X-Amz-Algorithm");
    match (in_address, authorization) {
        (true, "") => Ok(None),
        (true, _) => Err(Refusal::new(
            "InvalidSignatureException",
            "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP \
             header.",
        )),
        (false, signed) if signed.starts_with(FAMILY) => Ok(Some(signed)),
        (false, _) => Err(Refusal::new(
            "MissingAuthenticationTokenException",
            "Request is missing Authentication Token",
        )),
    }
}

fn unrecognized() -> Refusal {
    Refusal::new(
        "UnrecognizedClientException",
        "The security token included in the request is invalid.",
    )
}

//! Signature Version 4: what a request claims of its signature, and whether it is the one that its
//! secret makes.

use std::collections::BTreeSet;

use axum::http::HeaderMap;
use axum::http::header::DATE;
use axum::http::request::Parts;
use hmac::{Hmac, KeyInit as _, Mac as _};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use sha2::{Digest as _, Sha256};
use stonecrop::Timestamp;
use subtle::ConstantTimeEq as _;

use super::refusal::{Refusal, Result};
use crate::guard::host;

pub(super) const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const AMZ_DATE: &str = "x-amz-date";
const SERVICE: &str = "dynamodb";
const TERMINATOR: &str = "aws4_request";
/// How far the time of a request may be from ours, as the service has it.
const SKEW_MINUTES: i64 = 15;
/// What stays as it is in an address.
const ESCAPED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The parts of an `Authorization` header, none of which was looked at yet.
pub(super) struct Fields<'a> {
    algorithm: &'a str,
    credential: &'a str,
    signed_headers: &'a str,
    signature: &'a str,
    /// As the header `x-amz-date` or `date` has it, and which.
    date: &'a str,
    date_header: &'static str,
}

/// What a request claims of its signature.
pub(super) struct Claim {
    pub(super) key_id: String,
    /// The day, the region and the service that the signing key is for.
    scope: [String; 3],
    /// As it was signed: `20150830T123600Z`.
    time: String,
    seconds: i64,
    date_header: &'static str,
    /// The headers that were signed, in order.
    signed: BTreeSet<String>,
    /// In hex.
    signature: String,
}

fn incomplete(message: String) -> Refusal {
    Refusal::new("IncompleteSignatureException", message)
}

fn invalid(message: impl Into<String>) -> Refusal {
    Refusal::new("InvalidSignatureException", message)
}

impl<'a> Fields<'a> {
    /// Of a header that begins with the name of an algorithm; [`Claim::read`] looks at which.
    pub(super) fn read(authorization: &'a str, headers: &'a HeaderMap) -> Result<Self> {
        let (algorithm, fields) = authorization.split_once(' ').unwrap_or((authorization, ""));
        let mut problems = Vec::new();
        let mut found = [("Credential", None), ("Signature", None), ("SignedHeaders", None)];
        let fields = fields.split(',').flat_map(|fields| fields.split(' '));
        for (name, value) in fields.filter_map(|field| field.split_once('=')) {
            if let Some((_, first)) = found.iter_mut().find(|(of, _)| *of == name) {
                first.get_or_insert(value);
            }
        }
        let [credential, signature, signed_headers] = found.map(|(name, value)| {
            value.unwrap_or_else(|| {
                problems.push(format!("Authorization header requires '{name}' parameter."));
                ""
            })
        });
        let text = |name: &'static str| Some((headers.get(name)?.to_str().ok()?, name));
        let date = text(AMZ_DATE).or_else(|| text(DATE.as_str()));
        if date.is_none() {
            problems.push(
                "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' \
                 header."
                    .to_owned(),
            );
        }
        if let (true, Some((date, date_header))) = (problems.is_empty(), date) {
            return Ok(Fields {
                algorithm,
                credential,
                signed_headers,
                signature,
                date,
                date_header,
            });
        }
        let problems = problems.join(" ");
        Err(incomplete(format!("{problems} Authorization={authorization}")))
    }
}

impl Claim {
    pub(super) fn read(fields: &Fields<'_>) -> Result<Self> {
        if fields.algorithm != ALGORITHM {
            return Err(incomplete(format!(
                "The way to sign is {ALGORITHM}, and not {}.",
                fields.algorithm
            )));
        }
        let parts: Vec<&str> = fields.credential.split('/').collect();
        let &[key_id, day, region, service, terminator] = parts.as_slice() else {
            return Err(incomplete(format!(
                "Credential must have exactly 5 slash-delimited elements, e.g. \
                 keyid/date/region/service/term, got '{}'",
                fields.credential
            )));
        };
        if terminator != TERMINATOR {
            return Err(invalid(format!(
                "Credential should be scoped with a valid terminator: '{TERMINATOR}', not \
                 '{terminator}'."
            )));
        }
        let at = time_of(fields.date).ok_or_else(|| {
            incomplete(format!(
                "Date must be in ISO-8601 'basic format'. Got '{}'. It is like 20150830T123600Z.",
                fields.date
            ))
        })?;
        let time = basic(at);
        if !time.starts_with(day) || day.len() != 8 {
            let of_time = time.get(..8).unwrap_or_default();
            return Err(invalid(format!(
                "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date \
                 from HTTP: '{day}' != '{of_time}', from '{time}'."
            )));
        }
        Ok(Claim {
            key_id: key_id.to_owned(),
            scope: [day, region, service].map(str::to_owned),
            time,
            seconds: at.as_second(),
            date_header: fields.date_header,
            signed: fields.signed_headers.split(';').map(str::to_ascii_lowercase).collect(),
            signature: fields.signature.to_owned(),
        })
    }

    /// What can be known to be wrong before the body is there.
    pub(super) fn check(&self, parts: &Parts, now: Timestamp) -> Result<()> {
        let [_, _, service] = &self.scope;
        if service != SERVICE {
            return Err(invalid(format!(
                "Credential should be scoped to correct service: '{SERVICE}', not '{service}'."
            )));
        }
        self.check_time(now)?;
        for name in ["authorization", "host", AMZ_DATE, "date", super::TARGET] {
            if parts.headers.get_all(name).iter().count() > 1 {
                return Err(invalid(format!("There must be one '{name}' header, not several.")));
            }
        }
        if !self.signed.contains("host") {
            let message =
                "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.";
            return Err(invalid(message));
        }
        // What decides about the request must be what was signed.
        for name in [self.date_header, super::TARGET] {
            if parts.headers.contains_key(name) && !self.signed.contains(name) {
                let message =
                    format!("'{name}' must be a 'SignedHeader' in the AWS Authorization.");
                return Err(invalid(message));
            }
        }
        let missing =
            |name: &&String| *name != "host" && !parts.headers.contains_key(name.as_str());
        if let Some(name) = self.signed.iter().find(missing) {
            return Err(invalid(format!(
                "The signed header '{name}' is not in the request; it may have been removed on its \
                 way."
            )));
        }
        let hash =
            parts.headers.get("x-amz-content-sha256").map_or(&b""[..], |hash| hash.as_bytes());
        if hash.starts_with(b"UNSIGNED-") || hash.starts_with(b"STREAMING-") {
            let message = "The body must be signed: 'x-amz-content-sha256' must be its SHA-256, or \
                           not be there.";
            return Err(invalid(message));
        }
        Ok(())
    }

    fn check_time(&self, now: Timestamp) -> Result<()> {
        let now = now.as_micros().div_euclid(1_000_000);
        let far = SKEW_MINUTES * 60;
        let (time, text) = (&self.time, |seconds| {
            jiff::Timestamp::from_second(seconds).map_or_else(|_| String::new(), basic)
        });
        if self.seconds < now - far {
            return Err(invalid(format!(
                "Signature expired: {time} is now earlier than {} ({} - {SKEW_MINUTES} min.)",
                text(now - far),
                text(now)
            )));
        }
        if self.seconds > now + far {
            return Err(invalid(format!(
                "Signature not yet current: {time} is still later than {} ({} + {SKEW_MINUTES} \
                 min.)",
                text(now + far),
                text(now)
            )));
        }
        Ok(())
    }

    /// Refuses a request that was not signed with this secret, or was changed since.
    pub(super) fn verify(&self, secret: &str, parts: &Parts, body: &[u8]) -> Result<()> {
        let expected = self.signature(secret, parts, body);
        let is_it =
            expected.is_some_and(|it| it.as_bytes().ct_eq(self.signature.as_bytes()).into());
        match is_it {
            true => Ok(()),
            false => Err(invalid(
                "The request signature we calculated does not match the signature you provided. \
                 Check your AWS Secret Access Key and signing method. Consult the service \
                 documentation for details.",
            )),
        }
    }

    fn signature(&self, secret: &str, parts: &Parts, body: &[u8]) -> Option<String> {
        let [day, region, service] = &self.scope;
        let canonical = hex(&Sha256::digest(self.canonical_request(parts, body)));
        let time = &self.time;
        let signed =
            format!("{ALGORITHM}\n{time}\n{day}/{region}/{service}/{TERMINATOR}\n{canonical}");
        let mut key = format!("AWS4{secret}").into_bytes();
        for part in [day, region, service, TERMINATOR, &signed] {
            key = mac(&key, part.as_bytes())?;
        }
        Some(hex(&key))
    }

    /// The request in the form that is signed. Values of headers need not be text.
    fn canonical_request(&self, parts: &Parts, body: &[u8]) -> Vec<u8> {
        // The door is at "/" alone, which is in its normal form.
        let mut request = format!("{}\n{}\n", parts.method, parts.uri.path()).into_bytes();
        request.extend(canonical_query(parts.uri.query().unwrap_or_default()).into_bytes());
        request.push(b'\n');
        for name in &self.signed {
            request.extend(format!("{name}:").into_bytes());
            if name == "host" {
                request.extend(host(&parts.headers, &parts.uri).bytes());
            } else {
                let values = parts.headers.get_all(name).iter();
                let values: Vec<_> = values.map(|value| one_space(value.as_bytes())).collect();
                request.extend(values.join(&b','));
            }
            request.push(b'\n');
        }
        let names = self.signed.iter().map(String::as_str).collect::<Vec<_>>().join(";");
        request.extend(format!("\n{names}\n{}", hex(&Sha256::digest(body))).into_bytes());
        request
    }
}

/// In ISO 8601's basic form, or as HTTP has it.
fn time_of(text: &str) -> Option<jiff::Timestamp> {
    let is_basic = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let basic = || jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", text).ok();
    match is_basic.then(basic).flatten() {
        Some(time) => time.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|time| time.timestamp()),
        None => jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok(),
    }
}

fn basic(time: jiff::Timestamp) -> String {
    time.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// Names and values, escaped anew and in order.
fn canonical_query(query: &str) -> String {
    let escape = |text: &str| {
        let bytes: Vec<u8> = percent_decode_str(text).collect();
        percent_encode(&bytes, &ESCAPED).to_string()
    };
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let mut pairs: Vec<(String, String)> = pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (escape(name), escape(value)))
        .collect();
    pairs.sort();
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}

/// Without the spaces around it, and with one where there are several.
fn one_space(value: &[u8]) -> Vec<u8> {
    let mut all = Vec::with_capacity(value.len());
    for &byte in value.trim_ascii() {
        if byte != b' ' || all.last() != Some(&b' ') {
            all.push(byte);
        }
    }
    all
}

fn mac(key: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(message);
    Some(mac.finalize().into_bytes().to_vec())
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

#[cfg(test)]
mod tests;

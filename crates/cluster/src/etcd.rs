//! The little of etcd that is needed: leases, keys bound to them, and lists of keys, by its JSON
//! gateway, which asks for no compiler of its protocol.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::Request;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{Client, client};

/// How long one member is waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// The most that an answer may have.
const MOST_BYTES: usize = 16 << 20;

/// Why etcd did not do it.
pub(crate) type Problem = String;

pub(crate) struct Etcd {
    endpoints: Vec<String>,
    /// The one that answered last.
    current: AtomicUsize,
    http: Client,
}

/// A key as it is now.
pub(crate) struct Held {
    pub(crate) value: Bytes,
    /// When it was made; it grows with everything that happens in etcd.
    pub(crate) created: u64,
}

/// Keys as they were at one moment.
#[derive(Default)]
pub(crate) struct Listed {
    /// The moment.
    pub(crate) revision: u64,
    pub(crate) keys: BTreeMap<String, Held>,
}

impl Etcd {
    /// `etcd://host:port,host:port`
    pub(crate) fn at(address: &str) -> Result<Self, Problem> {
        let hosts = address.strip_prefix("etcd://").unwrap_or_default();
        let hosts = hosts.trim_end_matches('/');
        let endpoints: Vec<_> = hosts
            .split(',')
            .filter(|host| host.contains(':') && !host.contains(['/', '@', ' ']))
            .map(|host| format!("http://{host}"))
            .collect();
        match endpoints.len() == hosts.split(',').count() {
            true => Ok(Etcd { endpoints, current: AtomicUsize::new(0), http: client() }),
            false => Err(format!("{address:?} is not like etcd://host:port,host:port")),
        }
    }

    /// Asks one member after the other, the last that answered first.
    async fn ask(&self, path: &str, body: &Value) -> Result<Value, Problem> {
        let first = self.current.load(Ordering::Relaxed);
        let mut problem = String::new();
        for turn in 0..self.endpoints.len() {
            let at = (first + turn) % self.endpoints.len();
            let Some(endpoint) = self.endpoints.get(at) else { continue };
            match tokio::time::timeout(PATIENCE, self.ask_one(endpoint, path, body)).await {
                Ok(Ok(answer)) => {
                    self.current.store(at, Ordering::Relaxed);
                    return Ok(answer);
                }
                Ok(Err(error)) => problem = format!("etcd at {endpoint}: {error}"),
                Err(_) => problem = format!("etcd at {endpoint} did not answer in {PATIENCE:?}"),
            }
        }
        Err(problem)
    }

    async fn ask_one(&self, endpoint: &str, path: &str, body: &Value) -> Result<Value, Problem> {
        let request = Request::post(format!("{endpoint}/v3/{path}"))
            .header("content-type", "application/json")
            .body(Full::from(body.to_string()))
            .map_err(|error| error.to_string())?;
        let answer = self.http.request(request).await.map_err(|error| error.to_string())?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), MOST_BYTES).collect().await;
        let body = body.map_err(|error| error.to_string())?.to_bytes();
        if !status.is_success() {
            return Err(format!("{status}: {}", String::from_utf8_lossy(&body)));
        }
        serde_json::from_slice(&body).map_err(|error| error.to_string())
    }

    /// A lease that ends after a time, unless it is kept.
    pub(crate) async fn grant(&self, time: Duration) -> Result<i64, Problem> {
        let answer = self.ask("lease/grant", &json!({"TTL": time.as_secs().max(1)})).await?;
        number(answer.pointer("/ID")).ok_or_else(|| format!("no lease: {answer}"))
    }

    /// Keeps a lease; false if it has ended.
    pub(crate) async fn keep(&self, lease: i64) -> Result<bool, Problem> {
        let answer = self.ask("lease/keepalive", &json!({"ID": lease.to_string()})).await?;
        Ok(number(answer.pointer("/result/TTL")).is_some_and(|time| time > 0))
    }

    /// Ends a lease, and with it all keys that are bound to it.
    pub(crate) async fn revoke(&self, lease: i64) -> Result<(), Problem> {
        self.ask("lease/revoke", &json!({"ID": lease.to_string()})).await.map(drop)
    }

    /// Makes a key that is not there; its revision, or none if it is there.
    pub(crate) async fn create(
        &self,
        key: &str,
        value: &[u8],
        lease: i64,
    ) -> Result<Option<u64>, Problem> {
        let key = STANDARD.encode(key);
        let (value, lease) = (STANDARD.encode(value), lease.to_string());
        let body = json!({
            "compare": [{"key": key, "target": "CREATE", "result": "EQUAL", "create_revision": "0"}],
            "success": [{"request_put": {"key": key, "value": value, "lease": lease}}],
        });
        let answer = self.ask("kv/txn", &body).await?;
        let made = answer.pointer("/succeeded").and_then(Value::as_bool).unwrap_or(false);
        Ok(made.then(|| number(answer.pointer("/header/revision"))).flatten().map(|at| at as u64))
    }

    /// Removes a key, if it is still the one that was made then.
    pub(crate) async fn remove(&self, key: &str, created: u64) -> Result<(), Problem> {
        let key = STANDARD.encode(key);
        let created = created.to_string();
        let body = json!({
            "compare": [{"key": key, "target": "CREATE", "result": "EQUAL",
                "create_revision": created}],
            "success": [{"request_delete_range": {"key": key}}],
        });
        self.ask("kv/txn", &body).await.map(drop)
    }

    /// All keys that begin with something, at one moment.
    pub(crate) async fn list(&self, prefix: &str) -> Result<Listed, Problem> {
        #[derive(Deserialize)]
        struct Answer {
            #[serde(default)]
            kvs: Vec<Listing>,
        }
        #[derive(Deserialize)]
        struct Listing {
            key: String,
            #[serde(default)]
            value: String,
            create_revision: String,
        }
        let mut end = prefix.as_bytes().to_vec();
        if let Some(last) = end.last_mut() {
            *last += 1;
        }
        let body = json!({"key": STANDARD.encode(prefix), "range_end": STANDARD.encode(end)});
        let answer = self.ask("kv/range", &body).await?;
        let revision = number(answer.pointer("/header/revision")).unwrap_or(0) as u64;
        let listed: Answer = serde_json::from_value(answer).map_err(|error| error.to_string())?;
        let text = |text: &str| STANDARD.decode(text).map_err(|error| error.to_string());
        let each = listed.kvs.into_iter().map(|listing| {
            let key = String::from_utf8_lossy(&text(&listing.key)?).into_owned();
            let created = listing.create_revision.parse().map_err(|_| "no revision".to_owned())?;
            Ok((key, Held { value: text(&listing.value)?.into(), created }))
        });
        Ok(Listed { revision, keys: each.collect::<Result<_, Problem>>()? })
    }
}

/// The gateway writes long numbers as text.
fn number(value: Option<&Value>) -> Option<i64> {
    let value = value?;
    value.as_str().and_then(|text| text.parse().ok()).or_else(|| value.as_i64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_hosts_with_ports() {
        assert_eq!(Etcd::at("etcd://a:1,b:2").map(|etcd| etcd.endpoints.len()), Ok(2));
        for wrong in
            ["", "a:1", "etcd://", "etcd://a", "etcd://a:1,", "etcd://u:p@a:1", "etcd://a:1/b"]
        {
            assert!(Etcd::at(wrong).is_err(), "{wrong}");
        }
    }
}

//! A client of the `/v1` API. A database in a folder is talked to in the same way: its server is
//! within this process, and there is no socket between.

mod lines;
mod problem;
mod table;
mod target;
mod transport;

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use stonecrop::Options;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use crate::error::{Error, Result};
use transport::{Body, Transport};

pub(crate) use lines::BodyLines;
pub(crate) use problem::Problem;
pub(crate) use table::{declared, key_text};
pub(crate) use target::{Location, Target, location, must_exist};

/// What is to be done with a database, and so whether it has to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It is there, and only looked at: on object storage, whoever has it open goes on.
    Read,
    /// It is there.
    Write,
    /// It may be there.
    Create,
}

/// A server that is too busy is asked again so often.
const TRIES: u32 = 5;

pub(crate) struct Client {
    runtime: Runtime,
    asker: Asker,
}

/// What it takes to ask, apart from a thread to wait in.
#[derive(Clone)]
struct Asker {
    transport: Transport,
    token: Option<String>,
}

/// An answer that is on its way.
pub(crate) struct Pending(JoinHandle<Result<Bytes>>);

impl Client {
    pub(crate) fn open(target: &Target, access: Access) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| Error::Unreachable(format!("no threads to work with: {error}")))?;
        let (transport, token) = match target.location()? {
            Location::Url(base) => (Transport::network(base)?, target.token()?),
            Location::Folder(folder) => {
                if access != Access::Create {
                    target::must_exist(&folder)?;
                }
                (Transport::within(&folder, Options::default(), &runtime)?, None)
            }
            Location::Objects(location) => {
                // One command pays for few requests, and somebody waits for it.
                let options = Options::default()
                    .flush_interval(Duration::from_millis(10))
                    .poll_interval(Duration::from_millis(100))
                    .read_only(access == Access::Read)
                    .create(access == Access::Create);
                (Transport::within(location.as_ref(), options, &runtime)?, None)
            }
            Location::Memory => {
                (Transport::within("memory:".as_ref(), Options::default(), &runtime)?, None)
            }
        };
        Ok(Client { runtime, asker: Asker { transport, token } })
    }

    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        read(&self.call(Method::GET, path, None)?)
    }

    pub(crate) fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T> {
        self.request(Method::POST, path, body)
    }

    pub(crate) fn request<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T> {
        read(&self.call(method, path, Some(json(body)?))?)
    }

    /// The body of the answer to a request, if that is a good one.
    pub(crate) fn call(&self, method: Method, path: &str, body: Option<Bytes>) -> Result<Bytes> {
        self.runtime.block_on(self.asker.call(method, path, body))
    }

    /// Sends a request, and does not wait for the answer.
    pub(crate) fn start(&self, method: Method, path: &str, body: Bytes) -> Pending {
        let (asker, path) = (self.asker.clone(), path.to_owned());
        let answer = async move { asker.call(method, &path, Some(body)).await };
        Pending(self.runtime.spawn(answer))
    }

    /// Waits for an answer.
    pub(crate) fn wait(&self, pending: Pending) -> Result<Bytes> {
        let answer = self.runtime.block_on(pending.0);
        answer.unwrap_or_else(|error| Err(Error::Unreachable(error.to_string())))
    }

    /// The lines of a long answer, as they come.
    pub(crate) fn lines(&self, path: &str) -> Result<BodyLines<'_>> {
        let answer = self.runtime.block_on(async {
            let answer = self.asker.send(Method::GET, path, None).await?;
            good(answer).await
        })?;
        Ok(BodyLines::new(self.runtime.handle(), answer.into_body()))
    }

    /// Waits for so long.
    pub(crate) fn pause(&self, duration: Duration) {
        self.runtime.block_on(async { tokio::time::sleep(duration).await });
    }

    /// Leaves the database in good order. A server does not notice.
    pub(crate) fn close(self) -> Result<()> {
        self.asker.transport.close()
    }
}

impl Asker {
    async fn call(&self, method: Method, path: &str, body: Option<Bytes>) -> Result<Bytes> {
        let mut tries = 1;
        loop {
            let answer = self.send(method.clone(), path, body.clone()).await?;
            // Nothing was done, so the same can be asked again.
            if answer.status() == StatusCode::SERVICE_UNAVAILABLE && tries < TRIES {
                let seconds = answer.headers().get(RETRY_AFTER);
                let seconds = seconds.and_then(|text| text.to_str().ok()?.parse().ok());
                tokio::time::sleep(Duration::from_secs(seconds.unwrap_or(1).min(30))).await;
                tries += 1;
                continue;
            }
            return whole(good(answer).await?).await;
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
    ) -> Result<Response<Body>> {
        let mut request = Request::builder().method(method).uri(path);
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let bad = |error| Error::Usage(format!("this can't be asked of a server: {error}"));
        self.transport.send(request.body(body.unwrap_or_default()).map_err(bad)?).await
    }
}

/// The answer, if it is not a problem.
async fn good(answer: Response<Body>) -> Result<Response<Body>> {
    if answer.status().is_success() {
        return Ok(answer);
    }
    let status = answer.status().as_u16();
    Err(Problem::new(status, &whole(answer).await?).into())
}

async fn whole(answer: Response<Body>) -> Result<Bytes> {
    let body = answer.into_body().collect().await;
    let body =
        body.map_err(|error| Error::Unreachable(format!("the answer broke off: {error}")))?;
    Ok(body.to_bytes())
}

pub(crate) fn json(body: &impl Serialize) -> Result<Bytes> {
    let bytes = serde_json::to_vec(body).map_err(|error| Error::Data(error.to_string()))?;
    Ok(bytes.into())
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    serde_json::from_slice(body)
        .map_err(|error| Error::Unreachable(format!("an answer makes no sense: {error}")))
}

/// What need not be escaped in a part of a path.
const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b',');

/// Text as a part of an address.
pub(crate) fn escape(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// The address of a table, or of something of it.
pub(crate) fn table_path(table: &str, rest: &str) -> String {
    format!("/v1/tables/{}{rest}", escape(table))
}

//! How requests get to a server: over the network, or to the one within.

use std::error::Error as StdError;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::error::{Error, Result};

/// The body of an answer, as it comes.
pub(super) type Body = UnsyncBoxBody<Bytes, Box<dyn StdError + Send + Sync>>;

pub(super) enum Transport {
    Network { base: String, client: HttpClient<HttpsConnector<HttpConnector>, Full<Bytes>> },
}

impl Transport {
    pub(super) fn network(base: String) -> Result<Self> {
        let connector = HttpsConnectorBuilder::new().with_native_roots();
        let connector = connector
            .map_err(|error| Error::Unreachable(format!("no certificates to trust: {error}")))?
            .https_or_http()
            .enable_http1()
            .build();
        let client = HttpClient::builder(TokioExecutor::new()).build(connector);
        Ok(Transport::Network { base, client })
    }

    pub(super) fn within(folder: &std::path::Path) -> Result<Self> {
        Err(Error::Unreachable(format!("{}: not yet", folder.display())))
    }

    pub(super) fn close(self) -> Result<()> {
        Ok(())
    }

    /// Sends a request for a path, and gives the answer as soon as its head is there.
    pub(super) async fn send(&self, request: Request<Bytes>) -> Result<Response<Body>> {
        match self {
            Transport::Network { base, client } => {
                let (mut head, body) = request.into_parts();
                let uri = format!("{base}{}", head.uri);
                let bad = |_| Error::Usage(format!("{base} is no address of a server"));
                head.uri = uri.parse().map_err(bad)?;
                let answer = client.request(Request::from_parts(head, Full::new(body))).await;
                let answer = answer.map_err(|error| Error::Unreachable(no_answer(base, &error)))?;
                Ok(answer.map(|body| body.map_err(Into::into).boxed_unsync()))
            }
        }
    }
}

/// The last cause says most: "connection refused" rather than "client error".
pub(super) fn no_answer(base: &str, error: &dyn StdError) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    format!("no answer from {base}: {cause}")
}

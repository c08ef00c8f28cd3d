//! HTTP as nodes use it among themselves and with etcd.

use bytes::Bytes;
use http_body_util::Full;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

/// How long a connection that nobody uses is kept.
const KEPT_FOR: std::time::Duration = std::time::Duration::from_secs(20);

pub(crate) type Client<B = Full<Bytes>> = hyper_util::client::legacy::Client<HttpConnector, B>;

pub(crate) fn client<B: hyper::body::Body + Send>() -> Client<B>
where
    B::Data: Send,
{
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(std::time::Duration::from_secs(2)));
    hyper_util::client::legacy::Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(KEPT_FOR)
        .build(connector)
}

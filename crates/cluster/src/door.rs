//! Where other nodes come in: with calls of their own, and with requests of their clients.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use subtle::ConstantTimeEq as _;
use tokio::net::TcpListener;

use crate::client::{Client, client};
use crate::node::{FIRST, Node};
use crate::peer::{
    ANOTHER_SECRET, ANOTHER_VERSION, CALL_VERSION, CALLS, Failure, another_secret, unavailable,
};
use crate::wire::{Call, MOST_BYTES, VERSION};

/// What a request has that came through another node: the secret.
pub const FORWARDED: HeaderName = HeaderName::from_static("x-stonecrop-forwarded");

/// The body of a request or an answer.
pub type Bodies = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;
type Answering = Pin<Box<dyn Future<Output = Response<Bodies>> + Send>>;
type Service = Box<dyn Fn(Request<Bodies>) -> Answering + Send + Sync>;

/// The way in for other nodes, and the way to them.
pub struct Door {
    node: Arc<Node>,
    secret: String,
    service: OnceLock<Service>,
    http: Client<Bodies>,
}

impl Door {
    pub(crate) fn new(node: Arc<Node>, secret: String) -> Self {
        Door { node, secret, service: OnceLock::new(), http: client() }
    }

    /// Answers what clients ask through other nodes.
    pub fn serve(&self, service: impl Fn(Request<Bodies>) -> Answering + Send + Sync + 'static) {
        let _ = self.service.set(Box::new(service));
    }

    /// Whether this node decides what is written, and so answers what is asked.
    pub fn leads(&self) -> bool {
        self.node.term().is_some()
    }

    /// Whether this node may answer anything at all: one whose lease has ended must not.
    pub fn is_alive(&self) -> bool {
        self.node.is_alive()
    }

    /// Waits until it is known who leads; whether it is this node. None if nobody does in time.
    pub async fn leader(&self) -> Option<Leader> {
        let began = tokio::time::Instant::now();
        loop {
            if self.leads() {
                return Some(Leader::Here);
            }
            let map = self.node.map();
            match map.owner(FIRST) {
                Some((name, member)) if name != self.node.name => {
                    return Some(Leader::There(member.door.clone()));
                }
                _ if began.elapsed() > self.node.patience => return None,
                _ => self.node.changed().await,
            }
        }
    }

    /// Has another node answer a request.
    ///
    /// # Errors
    ///
    /// The node can't be reached, or ended before its answer.
    pub async fn forward(
        &self,
        door: &str,
        mut request: Request<Bodies>,
    ) -> Result<Response<Incoming>, Unreached> {
        let wrong = |problem: String| Unreached { problem, may_be_done: false };
        // HTTP/2 has the host in the address, and signatures are of it.
        if let Some(host) = request.uri().authority().map(|host| host.as_str().to_owned())
            && !request.headers().contains_key(HOST)
            && let Ok(host) = HeaderValue::from_str(&host)
        {
            request.headers_mut().insert(HOST, host);
        }
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let uri = format!("http://{door}{path}").parse::<Uri>();
        let uri = uri.map_err(|error| wrong(error.to_string()))?;
        *request.uri_mut() = uri;
        *request.version_mut() = hyper::Version::HTTP_11;
        let secret =
            HeaderValue::from_str(&self.secret).map_err(|error| wrong(error.to_string()))?;
        request.headers_mut().insert(FORWARDED, secret);
        remove_hops(request.headers_mut());
        let asked = async {
            let answer = self.http.request(request).await;
            answer.map_err(|error| match error.is_connect() {
                true => Failure::NotDone(format!("node {door}: {error}")),
                false => Failure::Unknown(unavailable(format!("node {door}: {error}"))),
            })
        };
        let answer = self.node.while_there(FIRST, asked).await;
        let mut response = answer.map_err(|failure| Unreached {
            may_be_done: matches!(failure, Failure::Unknown(_)),
            problem: failure.into_error().to_string(),
        })?;
        if response.status() == ANOTHER_SECRET {
            return Err(wrong(another_secret(door).to_string()));
        }
        remove_hops(response.headers_mut());
        Ok(response)
    }

    fn knows(&self, secret: Option<&HeaderValue>) -> bool {
        let given = secret.map(HeaderValue::as_bytes).unwrap_or_default();
        let given = given.strip_prefix(b"Bearer").unwrap_or(given).trim_ascii();
        given.ct_eq(self.secret.as_bytes()).into()
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Bodies> {
        if request.uri().path() == CALLS {
            return match self.knows(request.headers().get(AUTHORIZATION)) {
                true => self.answer_call(request).await,
                false => stranger(),
            };
        }
        let is_of_node =
            request.headers().get(FORWARDED).is_some_and(|secret| self.knows(Some(secret)));
        match self.service.get() {
            _ if !is_of_node => stranger(),
            None => text(StatusCode::MISDIRECTED_REQUEST, "the node has just started; ask again"),
            Some(service) => {
                service(request.map(|body| body.map_err(Into::into).boxed_unsync())).await
            }
        }
    }

    async fn answer_call(&self, request: Request<Incoming>) -> Response<Bodies> {
        if request.headers().get(CALL_VERSION).is_none_or(|version| version != VERSION) {
            return text(ANOTHER_VERSION, "this node is of another version");
        }
        let body = match Limited::new(request.into_body(), MOST_BYTES).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) => return text(StatusCode::BAD_REQUEST, &error.to_string()),
        };
        let Ok(call) = postcard::from_bytes::<Call>(&body) else {
            return text(StatusCode::BAD_REQUEST, "a call that is none");
        };
        match postcard::to_stdvec(&self.node.answer(call).await) {
            Ok(bytes) => {
                let mut answer = Response::new(whole(bytes));
                answer.headers_mut().insert(CALL_VERSION, HeaderValue::from_static(VERSION));
                answer
            }
            Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        }
    }
}

impl std::fmt::Debug for Door {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Door")
    }
}

/// Why a node did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// In words.
    pub problem: String,
    /// Whether what was asked may have been done all the same.
    pub may_be_done: bool,
}

/// Which node leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leader {
    /// This one.
    Here,
    /// The one with this door.
    There(String),
}

/// Removes what is of one connection alone.
fn remove_hops(headers: &mut HeaderMap) {
    for hop in ["connection", "keep-alive", "transfer-encoding", "upgrade", "te"] {
        headers.remove(hop);
    }
}

fn whole(bytes: impl Into<Bytes>) -> Bodies {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

fn text(status: StatusCode, text: &str) -> Response<Bodies> {
    let mut response = Response::new(whole(format!("{text}\n").into_bytes()));
    *response.status_mut() = status;
    response
}

/// What is said to those who do not have the secret.
fn stranger() -> Response<Bodies> {
    text(ANOTHER_SECRET, "this is for the nodes of the cluster, which have a secret")
}

/// Answers whoever comes, until the node ends.
pub(crate) async fn listen(listener: TcpListener, door: Arc<Door>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let door = door.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let door = door.clone();
                async move { Ok::<_, Infallible>(door.answer(request).await) }
            });
            let mut served = hyper::server::conn::http1::Builder::new();
            // Who sends no head in 30 s is cut off.
            served.timer(TokioTimer::new());
            // Who breaks off is no news.
            let _ = served.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// The bytes of a body are known, or come by and by.
pub fn bodies<B>(body: B) -> Bodies
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    body.map_err(Into::into).boxed_unsync()
}

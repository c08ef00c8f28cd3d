//! A server on a port of its own, and a client.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use stonecrop::{Database, ManualClock, Options, Timestamp};
use stonecrop_server::{Config, Server};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) client: Client<HttpConnector, Body>,
    pub(crate) headers: Vec<(&'static str, String)>,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.bytes)))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes.clone()).unwrap()
    }

    /// The body of an answer that must have this status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        if self.bytes.is_empty() { Value::Null } else { self.json() }
    }

    /// The code of a problem that must have this status.
    #[track_caller]
    pub(crate) fn problem(self, status: u16) -> (String, Value) {
        let kind = self.headers.get("content-type").cloned();
        assert_eq!(kind.unwrap(), "application/problem+json");
        let problem = self.expect(status);
        assert_eq!(problem["status"], status);
        assert!(problem["request_id"].is_string() && problem["detail"].is_string());
        (problem["code"].as_str().unwrap().to_owned(), problem)
    }
}

pub(crate) async fn start() -> Running {
    start_with(Config::default()).await
}

pub(crate) async fn start_with(config: Config) -> Running {
    let clock = Arc::new(ManualClock::new(Timestamp::from_micros(1_800_000_000_000_000)));
    let options = Options::default().clock(clock.clone());
    let database = Database::open_with("memory:", options).unwrap();
    start_on(database, clock, config).await
}

pub(crate) async fn start_on(
    database: Database,
    clock: Arc<ManualClock>,
    config: Config,
) -> Running {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let server = Server::new(database, config);
    let serving = tokio::spawn(async move {
        let stop = async move {
            let _ = stopped.await;
        };
        server.serve(listener, None, stop).await.unwrap();
    });
    let client = Client::builder(TokioExecutor::new()).build_http();
    let (stop, serving) = (Some(stop), Some(serving));
    Running { address, clock, client, headers: Vec::new(), stop, serving }
}

impl Running {
    pub(crate) async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let mut request =
            Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let request = match body {
            Some(body) => request
                .header("content-type", "application/json")
                .body(Body::from(body.to_string())),
            None => request.body(Body::empty()),
        };
        self.request(request.unwrap()).await
    }

    pub(crate) async fn request(&self, request: Request<Body>) -> Answer {
        let response = self.client.request(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.into_body().collect().await.unwrap().to_bytes().to_vec();
        Answer { status, headers, bytes }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", path, Some(body)).await
    }

    /// Two families, one of them fresh for a minute and with a history, and an index.
    pub(crate) async fn make_accounts(&self) {
        let schema = json!({
            "name": "accounts",
            "partition_key": "id string",
            "families": [
                {"name": "crm", "columns": [{"name": "name", "type": "string"}, {"name": "owner"}]},
                {"name": "scoring", "ttl": "1m", "keep": "1h", "history": {"versions": 3},
                    "columns": [{"name": "score", "type": "int"}]},
            ],
            "indexes": [{"name": "by_owner", "columns": "owner string"}],
        });
        self.post("/v1/tables", schema).await.expect(201);
    }

    pub(crate) async fn put_account(&self, key: &str, owner: &str, score: i64) {
        let set = json!({"name": {"String": format!("Account {key}")},
            "owner": {"String": owner}, "score": {"Int": score}});
        self.send("PATCH", &format!("/v1/tables/accounts/rows/{key}"), Some(json!({"set": set})))
            .await
            .expect(200);
    }

    pub(crate) async fn stop(mut self) {
        let _ = self.stop.take().unwrap().send(());
        self.serving.take().unwrap().await.unwrap();
    }
}

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Version};
use http_body_util::BodyExt;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use stonecrop::Database;
use stonecrop_server::{Config, Server, Tls};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::harness::start;

#[tokio::test]
async fn http_2_is_spoken_to_those_who_begin_with_it() {
    let server = start().await;
    let client: Client<_, Body> =
        Client::builder(TokioExecutor::new()).http2_only(true).build_http();
    let request = Request::get(format!("http://{}/v1/tables", server.address));
    let answer = client.request(request.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.version()), (200, Version::HTTP_2));
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(&body[..], b"{\"tables\":[]}");
}

#[tokio::test]
async fn a_connection_is_kept_for_the_next_request() {
    let server = start().await;
    let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    for _ in 0..3 {
        stream.write_all(b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        let mut answer = vec![0; 15];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer, b"HTTP/1.1 200 OK");
        let mut rest = Vec::new();
        while !rest.ends_with(b"alive\n") {
            stream.read_buf(&mut rest).await.unwrap();
        }
    }
}

#[tokio::test]
async fn with_a_certificate_nobody_can_listen_in() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let tls = Tls::read(&certificate, &key).unwrap();
    let wrong = Tls::read(&key, &key).unwrap_err().to_string();
    assert!(wrong.contains("key.pem"), "{wrong}");

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = Server::new(Database::memory(), Config::default());
    tokio::spawn(server.serve(listener, Some(tls), std::future::pending()));

    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    let mut stream = connector.connect("localhost".try_into().unwrap(), stream).await.unwrap();
    stream
        .write_all(b"GET /v1/whoami HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    // Without TLS there is nothing to be had.
    let mut plain = tokio::net::TcpStream::connect(address).await.unwrap();
    plain.write_all(b"GET /v1/whoami HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP/"));
}

use std::time::{Duration, SystemTime};

use aws_smithy_async::time::StaticTimeSource;
use stonecrop_dynamodb_sdk_tests::Server;

use crate::intercept::AfterSigning;
use crate::support::{TABLE, get, key, songs, told};

#[tokio::test]
async fn the_right_secret_passes() {
    let server = Server::start();
    for (id, secret) in
        [("owner", "his-secret"), ("writer", "her-secret"), ("reader", "its-secret")]
    {
        server.client_of(id, secret).list_tables().send().await.unwrap();
    }
}

#[tokio::test]
async fn a_wrong_secret_is_refused() {
    let server = Server::start();
    let (code, message) = told(server.client_of("owner", "her-secret").list_tables().send().await);
    assert_eq!(code, "InvalidSignatureException");
    assert!(message.starts_with("The request signature we calculated does not match"), "{message}");
}

#[tokio::test]
async fn a_key_that_nobody_knows_is_refused() {
    let server = Server::start();
    let (code, message) = told(server.client_of("nobody", "his-secret").list_tables().send().await);
    assert_eq!(code, "UnrecognizedClientException");
    assert_eq!(message, "The security token included in the request is invalid.");
}

#[tokio::test]
async fn who_may_read_may_not_write() {
    let (server, owner) = songs().await;
    let reader = server.client_of("reader", "its-secret");
    assert_eq!(get(&reader, key("ann", 1)).await, None);
    let put = reader.put_item().table_name(TABLE).set_item(Some(key("ann", 1))).send().await;
    assert_eq!(told(put).0, "AccessDeniedException");
    assert_eq!(get(&owner, key("ann", 1)).await, None);
}

#[tokio::test]
async fn who_may_write_may_not_drop_tables() {
    let (server, _owner) = songs().await;
    let writer = server.client_of("writer", "her-secret");
    writer.put_item().table_name(TABLE).set_item(Some(key("ann", 1))).send().await.unwrap();
    let (code, _) = told(writer.delete_table().table_name(TABLE).send().await);
    assert_eq!(code, "AccessDeniedException");
    assert!(get(&writer, key("ann", 1)).await.is_some());
}

#[tokio::test]
async fn a_body_that_was_changed_after_it_was_signed_is_refused() {
    let (_server, client) = songs().await;
    let put = client.put_item().table_name(TABLE).set_item(Some(key("ann", 1)));
    let changed = put.customize().interceptor(AfterSigning(|request| {
        let body = String::from_utf8(request.body().bytes().unwrap().to_vec()).unwrap();
        *request.body_mut() = body.replace("ann", "bob").into_bytes().into();
    }));
    assert_eq!(told(changed.send().await).0, "InvalidSignatureException");
    assert_eq!(get(&client, key("bob", 1)).await, None);
}

#[tokio::test]
async fn another_operation_than_the_signed_one_is_refused() {
    let (_server, client) = songs().await;
    let describe = client.describe_table().table_name(TABLE);
    let changed = describe.customize().interceptor(AfterSigning(|request| {
        request.headers_mut().insert("x-amz-target", "DynamoDB_20120810.DeleteTable");
    }));
    assert_eq!(told(changed.send().await).0, "InvalidSignatureException");
    client.describe_table().table_name(TABLE).send().await.unwrap();
}

#[tokio::test]
async fn a_request_without_a_signature_is_refused() {
    let server = Server::start();
    let list = server.client().list_tables().customize().interceptor(AfterSigning(|request| {
        request.headers_mut().remove("authorization");
    }));
    assert_eq!(told(list.send().await).0, "MissingAuthenticationTokenException");
}

#[tokio::test]
async fn keys_whose_clock_is_wrong_are_told_so() {
    let server = Server::start();
    let hour = Duration::from_secs(3600);
    for (time, told_so) in [
        (SystemTime::now() - hour, "Signature expired: "),
        (SystemTime::now() + hour, "Signature not yet current: "),
    ] {
        let list = server.client().list_tables().customize();
        let config = aws_sdk_dynamodb::Config::builder();
        let list = list.config_override(config.time_source(StaticTimeSource::new(time)));
        let (code, message) = told(list.send().await);
        assert_eq!(code, "InvalidSignatureException");
        assert!(message.starts_with(told_so), "{message}");
    }
}

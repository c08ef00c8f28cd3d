use crate::intercept::Answers;
use crate::support::{TABLE, get, key, n, put, s, songs, told};

/// The checksum that gzip and the service use.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

/// As gzip has it that packs nothing; for less than 64 KiB.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len() as u16;
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    packed.extend(length.to_le_bytes());
    packed.extend((!length).to_le_bytes());
    packed.extend(bytes);
    packed.extend(crc32(bytes).to_le_bytes());
    packed.extend(u32::from(length).to_le_bytes());
    packed
}

#[tokio::test]
async fn every_answer_has_the_checksum_of_its_bytes_and_an_id() {
    let (_server, client) = songs().await;
    let answers = Answers::default();
    client.list_tables().customize().interceptor(answers.clone()).send().await.unwrap();
    assert_eq!(answers.header("x-amz-crc32"), Some(crc32(&answers.body()).to_string()));
    let first = answers.header("x-amzn-requestid").unwrap();
    let refused = client.describe_table().table_name("no-such-table").customize();
    told(refused.interceptor(answers.clone()).send().await);
    assert_eq!(answers.header("x-amz-crc32"), Some(crc32(&answers.body()).to_string()));
    assert_ne!(answers.header("x-amzn-requestid").unwrap(), first);
}

#[tokio::test]
async fn a_large_answer_is_packed_for_who_takes_it_and_the_checksum_is_of_the_packed_bytes() {
    let (_server, client) = songs().await;
    put(&client, [("artist", s("ann")), ("number", n(1)), ("load", s(&"abc ".repeat(10_000)))])
        .await;
    let answers = Answers::default();
    let read = client.get_item().table_name(TABLE).set_key(Some(key("ann", 1))).customize();
    let read = read.interceptor(answers.clone()).mutate_request(|request| {
        request.headers_mut().insert("accept-encoding", "gzip");
    });
    // The SDK does not unpack; what came is looked at all the same.
    let _ = read.send().await;
    assert_eq!(answers.header("content-encoding").as_deref(), Some("gzip"));
    let body = answers.body();
    assert!(body.starts_with(&[0x1f, 0x8b]) && body.len() < 5_000, "{} bytes", body.len());
    assert_eq!(answers.header("x-amz-crc32"), Some(crc32(&body).to_string()));
}

#[tokio::test]
async fn a_packed_request_is_signed_as_it_is_sent_and_understood() {
    let (_server, client) = songs().await;
    let write = client.put_item().table_name(TABLE).set_item(Some(key("ann", 1))).customize();
    let write = write.mutate_request(|request| {
        let packed = gzip(request.body().bytes().unwrap());
        request.headers_mut().insert("content-length", packed.len().to_string());
        request.headers_mut().insert("content-encoding", "gzip");
        *request.body_mut() = packed.into();
    });
    write.send().await.unwrap();
    assert_eq!(get(&client, key("ann", 1)).await, Some(key("ann", 1)));
}

use axum::http::Request;
use proptest::prelude::*;

use super::*;

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const TIME: &str = "20150830T123600Z";
/// The seconds of [`TIME`].
const SECONDS: i64 = 1_440_938_160;

/// A request as its parts.
fn parts(method: &str, uri: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

fn claim(service: &str, signed: &str, signature: &str, parts: &Parts) -> Result<Claim> {
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/{service}/aws4_request, \
         SignedHeaders={signed}, Signature={signature}"
    );
    Claim::read(&Fields::read(&authorization, &parts.headers)?)
}

/// AWS's own examples: of its test suite (service "service"), and of its guide (iam).
#[test]
fn the_signatures_of_the_published_examples_are_made() {
    const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
    type Headers = &'static [(&'static str, &'static str)];
    let cases: [(&str, &str, Headers, &str, &str); 9] = [
        ("GET", "/", &[], "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("POST", "/", &[], "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        (
            "GET",
            "/?Param2=value2&Param1=value1",
            &[],
            "",
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ),
        (
            "POST",
            "/?Param1=value1",
            &[],
            "",
            "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
        ),
        (
            "POST",
            "/",
            &[("my-header1", "value1")],
            "",
            "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
        ),
        (
            "POST",
            "/",
            &[("my-header1", "VALUE1")],
            "",
            "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
        ),
        (
            "GET",
            "/",
            &[("my-header1", " value1"), ("my-header2", " \"a   b   c\"")],
            "",
            "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
        ),
        (
            "GET",
            "/",
            &[("my-header1", "value2"), ("my-header1", "value2"), ("my-header1", "value1")],
            "",
            "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
        ),
        (
            "POST",
            "/",
            &[FORM],
            "Param1=value1",
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
        ),
    ];
    let mut wrong = Vec::new();
    for (method, uri, more, body, signature) in cases {
        let mut headers = vec![("host", "example.amazonaws.com"), ("x-amz-date", TIME)];
        headers.extend(more);
        let parts = parts(method, uri, &headers);
        let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
        let claim = claim("service", &names.join(";"), signature, &parts).unwrap();
        let made = claim.signature(SECRET, &parts, body.as_bytes()).unwrap();
        if made != signature {
            wrong.push(format!("{method} {uri} {more:?}: {made}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let headers = [FORM, ("host", "iam.amazonaws.com"), ("x-amz-date", TIME)]
        .map(|(name, value)| (name, value.replace("urlencoded", "urlencoded; charset=utf-8")));
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    let parts = parts("GET", "/?Action=ListUsers&Version=2010-05-08", &headers);
    let signature = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7";
    let claim = claim("iam", "content-type;host;x-amz-date", signature, &parts).unwrap();
    claim.verify(SECRET, &parts, b"").unwrap();
}

const SIGNED: &str = "content-type;host;x-amz-date;x-amz-target";
const BODY: &[u8] = br#"{"TableName":"people","Key":{"pk":{"S":"ann"}}}"#;

fn get_item() -> Vec<(&'static str, String)> {
    [
        ("content-type", "application/x-amz-json-1.0"),
        ("host", "localhost:8321"),
        ("x-amz-date", TIME),
        ("x-amz-target", "DynamoDB_20120810.GetItem"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .to_vec()
}

fn parts_of(method: &str, uri: &str, headers: &[(&'static str, String)]) -> Parts {
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, text)| (*name, &**text)).collect();
    parts(method, uri, &headers)
}

fn now(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

/// Everything that is asked of a request.
fn judge(authorization: &str, parts: &Parts, body: &[u8], at: i64) -> Result<()> {
    let claim = Claim::read(&Fields::read(authorization, &parts.headers)?)?;
    claim.check(parts, now(at))?;
    // Another key has another secret.
    let secret = if claim.key_id == "AKIDEXAMPLE" { SECRET } else { "another" };
    claim.verify(secret, parts, body)
}

/// The header of [`get_item`], signed for these headers.
fn authorization(signed: &str, parts: &Parts, body: &[u8]) -> String {
    let made = claim("dynamodb", signed, "", parts).unwrap();
    let signature = made.signature(SECRET, parts, body).unwrap();
    format!(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/dynamodb/aws4_request, \
         SignedHeaders={signed}, Signature={signature}"
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// One byte of what was signed is another.
    #[test]
    fn whatever_is_changed_the_request_is_refused(
        part in 0..9_usize,
        at in any::<prop::sample::Index>(),
        byte in b'!'..b'~',
    ) {
        let headers = get_item();
        let given = parts_of("POST", "/", &headers);
        let authorization = authorization(SIGNED, &given, BODY);
        prop_assert!(judge(&authorization, &given, BODY, SECONDS).is_ok());

        let change = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            let at = at.index(bytes.len());
            let is_other = std::mem::replace(&mut bytes[at], byte) != byte;
            (String::from_utf8(bytes).unwrap(), is_other)
        };
        let (mut headers, mut body) = (headers, String::from_utf8(BODY.to_vec()).unwrap());
        let (mut method, mut uri, mut claimed) = ("POST", "/".to_owned(), authorization.clone());
        let is_other = match part {
            0..=3 => {
                let (text, is_other) = change(&headers[part].1);
                headers[part].1 = text;
                is_other
            }
            4 => { let (text, is_other) = change(&body); body = text; is_other }
            5 => { method = "PUT"; true }
            6 => { uri = format!("/?{}", char::from(byte)); !matches!(byte, b'#' | b'&') }
            // The names of the fields, and what is between them, are not signed.
            _ => {
                let name = if part == 7 { "Signature=" } else { "Credential=" };
                let start = claimed.find(name).unwrap() + name.len();
                let end = claimed[start..].find(',').map_or(claimed.len(), |end| start + end);
                let (text, is_other) = change(&claimed[start..end]);
                claimed.replace_range(start..end, &text);
                is_other
            }
        };
        prop_assume!(is_other);
        let Ok(uri) = uri.parse::<axum::http::Uri>() else { return Ok(()) };
        let changed = parts_of(method, &uri.to_string(), &headers);
        prop_assert!(judge(&claimed, &changed, body.as_bytes(), SECONDS).is_err());
    }

    #[test]
    fn no_header_makes_it_stumble(text in "\\PC{0,200}", date in "\\PC{0,30}") {
        let Ok(value) = axum::http::HeaderValue::from_str(&date) else { return Ok(()) };
        let mut given = parts("POST", "/", &[]);
        given.headers.insert(AMZ_DATE, value);
        let _ = judge(&format!("{ALGORITHM} {text}"), &given, b"", SECONDS);
        let fields = format!("{ALGORITHM} Credential={text}, SignedHeaders={text}, Signature={text}");
        let _ = judge(&fields, &given, b"", SECONDS);
    }
}

fn message(refused: Result<()>) -> String {
    let refusal = refused.unwrap_err();
    format!("{}: {}", refusal.kind, refusal.message)
}

#[test]
fn a_request_is_good_for_a_quarter_of_an_hour_before_and_after() {
    let given = parts_of("POST", "/", &get_item());
    let authorization = authorization(SIGNED, &given, BODY);
    let judge = |at: i64| judge(&authorization, &given, BODY, SECONDS + at);
    assert!(judge(900).is_ok() && judge(-900).is_ok());
    assert_eq!(
        message(judge(901)),
        "InvalidSignatureException: Signature expired: 20150830T123600Z is now earlier than \
         20150830T123601Z (20150830T125101Z - 15 min.)"
    );
    assert_eq!(
        message(judge(-901)),
        "InvalidSignatureException: Signature not yet current: 20150830T123600Z is still later \
         than 20150830T123559Z (20150830T122059Z + 15 min.)"
    );
}

#[test]
fn what_decides_about_a_request_must_be_signed() {
    let given = parts_of("POST", "/", &get_item());
    for (signed, missing) in [
        ("content-type;x-amz-date;x-amz-target", "'Host' or ':authority'"),
        ("content-type;host;x-amz-target", "'x-amz-date'"),
        ("content-type;host;x-amz-date", "'x-amz-target'"),
    ] {
        let refused = message(judge(&authorization(signed, &given, BODY), &given, BODY, SECONDS));
        let told = format!("InvalidSignatureException: {missing} must be a 'SignedHeader'");
        assert!(refused.starts_with(&told), "{refused}");
    }
    let signed = format!("accept;{SIGNED}");
    let refused = message(judge(&authorization(&signed, &given, BODY), &given, BODY, SECONDS));
    assert!(refused.contains("'accept' is not in the request"), "{refused}");
}

#[test]
fn headers_that_are_there_twice_and_bodies_that_are_not_signed_are_refused() {
    for (name, value, told) in [
        ("x-amz-target", "DynamoDB_20120810.DeleteItem", "There must be one 'x-amz-target'"),
        ("x-amz-date", TIME, "There must be one 'x-amz-date'"),
        ("host", "example.com", "There must be one 'host'"),
        ("x-amz-content-sha256", "UNSIGNED-PAYLOAD", "The body must be signed"),
    ] {
        let mut headers = get_item();
        headers.push((name, value.to_owned()));
        let given = parts_of("POST", "/", &headers);
        let refused = message(judge(&authorization(SIGNED, &given, BODY), &given, BODY, SECONDS));
        assert!(refused.contains(told), "{refused}");
    }
}

#[test]
fn a_credential_that_is_none_for_us_is_refused() {
    let given = parts_of("POST", "/", &get_item());
    let good = authorization(SIGNED, &given, BODY);
    for (part, other, told) in [
        ("/dynamodb/", "/s3/", "correct service: 'dynamodb', not 's3'"),
        ("aws4_request", "aws4", "valid terminator: 'aws4_request', not 'aws4'"),
        ("/20150830/", "/20150831/", "'20150831' != '20150830', from '20150830T123600Z'"),
        ("/us-east-1/", "/", "exactly 5 slash-delimited elements"),
        ("Credential", "Kredential", "requires 'Credential' parameter"),
    ] {
        let refused = message(judge(&good.replace(part, other), &given, BODY, SECONDS));
        assert!(refused.contains(told), "{refused}");
    }
    let mut headers = get_item();
    headers[2].1 = "yesterday".to_owned();
    let refused = message(judge(&good, &parts_of("POST", "/", &headers), BODY, SECONDS));
    assert!(refused.starts_with("IncompleteSignatureException: Date must be in"), "{refused}");
}

#[test]
fn the_date_can_be_as_http_has_it() {
    let mut headers = get_item();
    headers[2] = ("date", "Sun, 30 Aug 2015 12:36:00 GMT".to_owned());
    let given = parts_of("POST", "/", &headers);
    let signed = "content-type;date;host;x-amz-target";
    judge(&authorization(signed, &given, BODY), &given, BODY, SECONDS).unwrap();
}

#[test]
fn the_name_of_the_server_can_be_in_the_address_as_http_2_has_it() {
    let headers = get_item();
    let signed = authorization(SIGNED, &parts_of("POST", "/", &headers), BODY);
    let without = [headers[0].clone(), headers[2].clone(), headers[3].clone()];
    let http_2 = parts_of("POST", "http://localhost:8321/", &without);
    judge(&signed, &http_2, BODY, SECONDS).unwrap();
    let elsewhere = parts_of("POST", "http://example.com/", &without);
    assert!(judge(&signed, &elsewhere, BODY, SECONDS).is_err());
}

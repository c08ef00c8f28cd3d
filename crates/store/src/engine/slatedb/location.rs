//! Locations on object storage.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use url::Url;

use super::aws_profile;
use crate::error::{Error, Result};

/// How long a request takes at most, and for how long it is tried again; SlateDB goes on after that.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const RETRY_FOR: Duration = Duration::from_secs(10);
const RETRIES: usize = 5;

/// What a location is called in messages: what follows the path may name secrets.
pub(super) fn name(location: &str) -> &str {
    location.split('?').next().unwrap_or_default()
}

/// The object store of a location, and the path in it.
pub(super) fn resolve(location: &str) -> Result<(Arc<dyn ObjectStore>, Path)> {
    let wrong = |problem: String| Error::invalid(format!("{}: {problem}", name(location)));
    let url = Url::parse(location).map_err(|error| wrong(error.to_string()))?;
    let parameters = Parameters::parse(&url).map_err(wrong)?;
    let path = Path::from_url_path(url.path()).map_err(|error| wrong(error.to_string()))?;
    let bucket = url.host_str().unwrap_or_default();
    if bucket.is_empty() && url.scheme() != "file" {
        return Err(wrong(format!("name a bucket, as in {}://bucket/path", url.scheme())));
    }
    // Without it, whoever uses TLS first decides, and there may be nobody.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let built = match url.scheme() {
        "file" => local(&url).map_err(wrong)?,
        "s3" => s3(bucket, &parameters),
        "gs" => erase(
            GoogleCloudStorageBuilder::from_env()
                .with_bucket_name(bucket)
                .with_client_options(client(&parameters))
                .with_retry(retry())
                .build(),
        ),
        "az" => erase(
            MicrosoftAzureBuilder::from_env()
                .with_container_name(bucket)
                .with_client_options(client(&parameters))
                .with_retry(retry())
                .build(),
        ),
        other => {
            return Err(wrong(format!("nothing is known of {other}; name s3, gs, az or file")));
        }
    };
    let objects = built.map_err(|error| wrong(error.to_string()))?;
    Ok((objects, if url.scheme() == "file" { Path::default() } else { path }))
}

fn erase(
    built: object_store::Result<impl ObjectStore>,
) -> object_store::Result<Arc<dyn ObjectStore>> {
    built.map(|store| Arc::new(store) as _)
}

/// A folder; it is made, and what is written is synced.
fn local(url: &Url) -> Result<object_store::Result<Arc<dyn ObjectStore>>, String> {
    let folder = url.to_file_path().map_err(|()| "name a folder, as in file:///path".to_owned())?;
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    Ok(erase(LocalFileSystem::new_with_prefix(folder).map(|store| store.with_fsync(true))))
}

fn s3(bucket: &str, parameters: &Parameters) -> object_store::Result<Arc<dyn ObjectStore>> {
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
    let profile = aws_profile::load();
    let has_keys = std::env::var_os("AWS_ACCESS_KEY_ID").is_some();
    if let (Some((key, secret)), false) = (profile.keys, has_keys) {
        builder = builder.with_access_key_id(key).with_secret_access_key(secret);
        if let Some(token) = profile.token {
            builder = builder.with_token(token);
        }
    }
    let given = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let region = parameters.region.clone().or_else(|| given("AWS_REGION"));
    let region = region.or_else(|| given("AWS_DEFAULT_REGION")).or(profile.region);
    builder = builder.with_region(region.unwrap_or_else(|| "us-east-1".to_owned()));
    let endpoint = parameters.endpoint.clone().or_else(|| given("AWS_ENDPOINT_URL_S3"));
    let endpoint = endpoint.or_else(|| given("AWS_ENDPOINT_URL")).or_else(|| given("AWS_ENDPOINT"));
    if let Some(endpoint) = endpoint {
        builder = builder.with_allow_http(endpoint.starts_with("http://")).with_endpoint(endpoint);
    }
    if let Some(path_style) = parameters.path_style {
        builder = builder.with_virtual_hosted_style_request(!path_style);
    }
    erase(builder.with_client_options(client(parameters)).with_retry(retry()).build())
}

fn client(parameters: &Parameters) -> ClientOptions {
    let plain = parameters.endpoint.as_ref().is_some_and(|url| url.starts_with("http://"));
    ClientOptions::new()
        .with_allow_http(plain || std::env::var_os("AWS_ENDPOINT_URL").is_some())
        .with_timeout(REQUEST_TIMEOUT)
        .with_connect_timeout(CONNECT_TIMEOUT)
}

fn retry() -> RetryConfig {
    RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_FOR, ..RetryConfig::default() }
}

/// What a location says after its `?`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Parameters {
    endpoint: Option<String>,
    region: Option<String>,
    path_style: Option<bool>,
}

impl Parameters {
    fn parse(url: &Url) -> Result<Self, String> {
        let mut parameters = Parameters::default();
        for (name, value) in url.query_pairs() {
            match &*name {
                "engine" if value == "slatedb" => {}
                "engine" => return Err(format!("engine={value}, and only slatedb can be named")),
                "endpoint" => parameters.endpoint = Some(value.into_owned()),
                "region" => parameters.region = Some(value.into_owned()),
                "path_style" => match &*value {
                    "true" => parameters.path_style = Some(true),
                    "false" => parameters.path_style = Some(false),
                    _ => return Err(format!("path_style={value}; say true or false")),
                },
                name => {
                    return Err(format!(
                        "nothing is known of {name}; there are endpoint, region, path_style and \
                         engine"
                    ));
                }
            }
        }
        Ok(parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(location: &str) -> String {
        resolve(location).unwrap_err().to_string()
    }

    #[test]
    #[allow(clippy::unwrap_used, reason = "a test")]
    fn a_location_says_where_to_go() {
        let url = Url::parse("s3://b/p?endpoint=http://h:1&region=eu&path_style=true").unwrap();
        let parameters = Parameters::parse(&url).unwrap();
        assert_eq!(parameters.endpoint.as_deref(), Some("http://h:1"));
        assert_eq!(parameters.region.as_deref(), Some("eu"));
        assert_eq!(parameters.path_style, Some(true));
    }

    #[test]
    fn what_is_wrong_with_a_location_is_said() {
        assert!(problem("s3:///path").contains("name a bucket, as in s3://bucket/path"));
        assert!(problem("ftp://host/path").contains("nothing is known of ftp"));
        assert!(problem("s3://b/p?colour=red").contains("nothing is known of colour"));
        assert!(problem("s3://b/p?path_style=maybe").contains("say true or false"));
        assert!(problem("file:///tmp/x?engine=rocksdb").contains("only slatedb can be named"));
    }
}

//! Locations on object storage.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ClientConfigKey, ObjectStore, RetryConfig};
use url::{Host, Url};

use super::aws_profile::{self, Profile};
use crate::error::{Error, Result};

/// How long a request takes at most, and for how long it is tried again; SlateDB goes on after that.
const CLIENT: [(ClientConfigKey, &str); 2] =
    [(ClientConfigKey::Timeout, "15s"), (ClientConfigKey::ConnectTimeout, "5s")];
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
    if url.scheme() != "s3" && parameters != Parameters::default() {
        return Err(wrong("endpoint, region and path_style are for s3 alone".to_owned()));
    }
    // Without it, whoever uses TLS first decides, and there may be nobody.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let built = match url.scheme() {
        "file" => local(&url).map_err(wrong)?,
        "s3" => {
            let environment = |name: &str| std::env::var(name).ok();
            let s3 = s3(bucket, &parameters, environment, aws_profile::load()).map_err(wrong)?;
            erase(s3.build())
        }
        "gs" => {
            let gs = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket);
            let times = CLIENT.map(|(key, time)| (GoogleConfigKey::Client(key), time));
            let gs = times.into_iter().fold(gs, |gs, (key, time)| gs.with_config(key, time));
            erase(gs.with_retry(retry()).build())
        }
        "az" => {
            let az = MicrosoftAzureBuilder::from_env().with_container_name(bucket);
            let times = CLIENT.map(|(key, time)| (AzureConfigKey::Client(key), time));
            let az = times.into_iter().fold(az, |az, (key, time)| az.with_config(key, time));
            erase(az.with_retry(retry()).build())
        }
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

/// S3, or what speaks as it does: as the location says, or the environment, or the profile.
fn s3(
    bucket: &str,
    parameters: &Parameters,
    environment: impl Fn(&str) -> Option<String>,
    profile: Profile,
) -> Result<AmazonS3Builder, String> {
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry());
    let given = |name: &str| environment(name).filter(|value| !value.is_empty());
    if let (Some((key, secret)), None) = (profile.keys, given("AWS_ACCESS_KEY_ID")) {
        builder = builder.with_access_key_id(key).with_secret_access_key(secret);
        if let Some(token) = profile.token {
            builder = builder.with_token(token);
        }
    }
    let region = parameters.region.clone().or_else(|| given("AWS_REGION"));
    let region = region.or_else(|| given("AWS_DEFAULT_REGION")).or(profile.region);
    builder = builder.with_region(region.unwrap_or_else(|| "us-east-1".to_owned()));
    let variables = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
    let endpoint = parameters.endpoint.clone();
    if let Some(endpoint) = endpoint.or_else(|| variables.iter().find_map(|name| given(name))) {
        let is_plain = endpoint.starts_with("http://");
        let endpoint = match parameters.path_style {
            Some(false) => with_host_of(bucket, &endpoint)?,
            Some(true) | None => endpoint,
        };
        // The one that counts if there are several.
        builder = builder.with_config(AmazonS3ConfigKey::S3Endpoint, endpoint);
        if is_plain {
            builder = builder.with_allow_http(true);
        }
    }
    if let Some(path_style) = parameters.path_style {
        builder = builder.with_virtual_hosted_style_request(!path_style);
    }
    let times = CLIENT.map(|(key, time)| (AmazonS3ConfigKey::Client(key), time));
    Ok(times.into_iter().fold(builder, |builder, (key, time)| builder.with_config(key, time)))
}

/// An endpoint with the bucket before its host.
fn with_host_of(bucket: &str, endpoint: &str) -> Result<String, String> {
    let mut url = Url::parse(endpoint).map_err(|error| format!("endpoint={endpoint}: {error}"))?;
    let Some(Host::Domain(host)) = url.host() else {
        return Err(format!(
            "endpoint={endpoint} has no name to put {bucket} before; leave \
                            path_style=false out"
        ));
    };
    if host.starts_with(&format!("{bucket}.")) {
        return Ok(endpoint.to_owned());
    }
    let host = format!("{bucket}.{host}");
    url.set_host(Some(&host)).map_err(|error| format!("{host}: {error}"))?;
    Ok(url.as_str().trim_end_matches('/').to_owned())
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
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn problem(location: &str) -> String {
        resolve(location).unwrap_err().to_string()
    }

    #[test]
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
        assert!(problem("gs://b/p?region=eu").contains("are for s3 alone"));
        let numbers = problem("s3://b/p?endpoint=http://127.0.0.1:1&path_style=false");
        assert!(numbers.contains("has no name to put b before"), "{numbers}");
    }

    /// Where the requests of `s3://bucket/path` and some parameters go: the endpoint, whether it may
    /// be plain HTTP, and the region.
    fn aim(parameters: &str, environment: &[(&str, &str)]) -> [Option<String>; 3] {
        let url = Url::parse(&format!("s3://bucket/path?{parameters}")).unwrap();
        let parameters = Parameters::parse(&url).unwrap();
        let given = |name: &str| {
            let variable = environment.iter().find(|(variable, _)| *variable == name);
            variable.map(|(_, value)| (*value).to_owned())
        };
        let s3 = s3("bucket", &parameters, given, Profile::default()).unwrap();
        let plain = AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp);
        [AmazonS3ConfigKey::S3Endpoint, plain, AmazonS3ConfigKey::Region]
            .map(|key| s3.get_config_value(&key))
    }

    #[test]
    fn an_endpoint_is_that_of_the_location_or_else_of_the_environment() {
        let said = |endpoint: &str, plain: &str, region: &str| {
            [endpoint, plain, region].map(|text| Some(text.to_owned()))
        };
        let both = [("AWS_ENDPOINT_URL_S3", "http://h:1"), ("AWS_ENDPOINT_URL", "https://h:2")];
        assert_eq!(aim("", &both), said("http://h:1", "true", "us-east-1"));
        assert_eq!(aim("", &both[1..]), said("https://h:2", "false", "us-east-1"));
        let old = [("AWS_ENDPOINT", "http://h:3"), ("AWS_REGION", "eu-west-1")];
        assert_eq!(aim("", &old), said("http://h:3", "true", "eu-west-1"));
        assert_eq!(
            aim("endpoint=https://h:4&region=eu-central-1", &both),
            said("https://h:4", "false", "eu-central-1")
        );
        assert_eq!(aim("", &[("AWS_ENDPOINT_URL", "")])[0], None);
    }

    #[test]
    fn a_bucket_is_put_before_the_host_where_that_is_asked_for() {
        let [endpoint, ..] = aim("endpoint=http://store.example:8333/&path_style=false", &[]);
        assert_eq!(endpoint.as_deref(), Some("http://bucket.store.example:8333"));
        let [endpoint, ..] = aim("endpoint=http://bucket.store.example&path_style=false", &[]);
        assert_eq!(endpoint.as_deref(), Some("http://bucket.store.example"), "it was there");
        let [endpoint, ..] = aim("endpoint=http://store.example:8333&path_style=true", &[]);
        assert_eq!(endpoint.as_deref(), Some("http://store.example:8333"));
    }
}

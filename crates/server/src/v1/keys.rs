//! Typed keys as ordered bytes, for those who design them.

use axum::Json as Answer;
use stonecrop::StoredKey;
use stonecrop::keys::Schema;

use crate::api::{EncodedKey, EncodedKeys, Keys};
use crate::app::App;
use crate::body::Json;
use crate::problem::{BAD_SCHEMA, Problem, ProblemDocument, Result, TOO_MANY};

const MOST_ROWS: usize = 1_000;

/// Encodes keys of a schema, and tells how they sort.
#[utoipa::path(post, path = "/v1/keys", tag = "keys", request_body = Keys,
    responses((status = 200, body = EncodedKeys), (status = "4XX", body = ProblemDocument, content_type = "application/problem+json")))]
pub(super) async fn encode(
    axum::extract::State(app): axum::extract::State<App>,
    Json(keys): Json<Keys>,
) -> Result<Answer<EncodedKeys>> {
    if keys.rows.len() > MOST_ROWS {
        let problem = format!("there are {} rows, and the most is {MOST_ROWS}", keys.rows.len());
        return Err(Problem::new(TOO_MANY, problem).at("/rows"));
    }
    let schema: Schema = keys
        .schema
        .parse()
        .map_err(|error| Problem::new(BAD_SCHEMA, format!("{error}")).at("/schema"))?;
    app.in_time(move |_| {
        let mut encoded = Vec::with_capacity(keys.rows.len());
        for values in &keys.rows {
            let key = schema.values_from_json(values.get());
            encoded.push(key.and_then(|values| schema.encode(&values)));
        }
        let mut order: Vec<&[u8]> = encoded.iter().flatten().map(Vec::as_slice).collect();
        order.sort_unstable();
        order.dedup();
        let rows = keys.rows.into_iter().zip(&encoded).map(|(values, key)| match key {
            Ok(key) => EncodedKey {
                values,
                key: Some(StoredKey::of(&schema, key)),
                rank: order.binary_search(&key.as_slice()).ok(),
                error: None,
            },
            Err(error) => {
                EncodedKey { values, key: None, rank: None, error: Some(error.to_string()) }
            }
        });
        Ok(Answer(EncodedKeys { rows: rows.collect() }))
    })
    .await
}

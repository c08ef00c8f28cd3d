//! Calls to the node that has a shard, whichever that is.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{AUTHORIZATION, HeaderName};
use hyper::{Request, StatusCode};
use stonecrop_store::{
    Direction, Durability, Error, ErrorKind, KeyRange, Read, Result, Store as _,
};

use crate::client::{Client, client};
use crate::node::Node;
use crate::owned::View;
use crate::wire::{Answer, At, Call, Care, MOST_BYTES, Told, VERSION, refused};

/// Where calls are answered.
pub(crate) const CALLS: &str = "/cluster/call";
/// The version of a call, and what a node answers to one of another version.
pub(crate) const CALL_VERSION: HeaderName = HeaderName::from_static("x-stonecrop-call-version");
pub(crate) const ANOTHER_VERSION: StatusCode = StatusCode::UPGRADE_REQUIRED;
/// What a node answers to one that has another secret, and never to a client.
pub(crate) const ANOTHER_SECRET: StatusCode = StatusCode::PROXY_AUTHENTICATION_REQUIRED;
/// The bytes of the first entries of a scan that are sent at once, and of those after them.
const FIRST_PAGE_BYTES: usize = 32 << 10;
const PAGE_BYTES: usize = 1 << 20;

/// The other nodes.
pub(crate) struct Peers {
    http: Client,
    secret: String,
}

/// Why a call has no answer.
pub(crate) enum Failure {
    /// It was not done: it can be asked again, of another.
    NotDone(String),
    /// It may have been done.
    Unknown(Error),
}

impl Failure {
    pub(crate) fn into_error(self) -> Error {
        match self {
            Failure::NotDone(problem) => unavailable(problem),
            Failure::Unknown(error) => error,
        }
    }
}

pub(crate) fn unavailable(problem: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unavailable, problem.into())
}

pub(crate) fn another_secret(door: &str) -> Error {
    let problem = format!(
        "node {door} has another secret than this one: start all nodes with the same \
         --cluster-secret-file"
    );
    Error::new(ErrorKind::Denied, problem)
}

fn another_version(door: &str) -> Error {
    let problem = format!(
        "node {door} is of a version that this one can't talk to: stop all nodes, then start those \
         of the new version"
    );
    Error::new(ErrorKind::Version, problem)
}

/// Whether the other node is none of this cluster.
pub(crate) fn is_stranger(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Denied | ErrorKind::Version)
}

pub(crate) fn elsewhere() -> Error {
    unavailable("another node decides what is written, or none does at the moment; ask again")
}

impl Peers {
    pub(crate) fn new(secret: String) -> Self {
        Peers { http: client(), secret }
    }

    pub(crate) async fn call(
        &self,
        door: &str,
        call: &Call,
        time: Duration,
    ) -> Result<Answer, Failure> {
        let unknown =
            |problem: String| Failure::Unknown(unavailable(format!("node {door}: {problem}")));
        let bytes = postcard::to_stdvec(call).map_err(|error| unknown(error.to_string()))?;
        let request = Request::post(format!("http://{door}{CALLS}"))
            .header(AUTHORIZATION, format!("Bearer {}", self.secret))
            .header(CALL_VERSION, VERSION)
            .body(Full::from(bytes))
            .map_err(|error| unknown(error.to_string()))?;
        let asked = async {
            let answer =
                self.http.request(request).await.map_err(|error| match error.is_connect() {
                    true => Failure::NotDone(format!("node {door} can't be reached: {error}")),
                    false => unknown(error.to_string()),
                })?;
            let status = answer.status();
            let is_of_version = answer.headers().get(CALL_VERSION).is_some_and(|it| it == VERSION);
            let body = Limited::new(answer.into_body(), MOST_BYTES).collect().await;
            let body = body.map_err(|error| unknown(error.to_string()))?.to_bytes();
            match status {
                // Those from before there were versions answer as if there was one.
                StatusCode::OK if !is_of_version => Err(Failure::Unknown(another_version(door))),
                StatusCode::OK => {
                    postcard::from_bytes(&body).map_err(|error| unknown(error.to_string()))
                }
                ANOTHER_SECRET => Err(Failure::Unknown(another_secret(door))),
                ANOTHER_VERSION => Err(Failure::Unknown(another_version(door))),
                _ => Err(unknown(format!("{status}: {}", String::from_utf8_lossy(&body)))),
            }
        };
        let answer = tokio::time::timeout(time, asked).await;
        answer.unwrap_or_else(|_| Err(unknown(format!("no answer in {time:?}"))))
    }
}

impl Node {
    /// Asks the node that has a shard, once.
    pub(crate) async fn call_owner(
        self: &Arc<Self>,
        shard: u8,
        call: &Call,
    ) -> Result<(Answer, String), Failure> {
        let map = self.map();
        let Some((name, member)) = map.owner(shard) else {
            return Err(Failure::NotDone(self.nobody_has(shard)));
        };
        let answer = match name == self.name {
            true => self.answer(call.clone()).await,
            false => {
                let asked = self.peers.call(&member.door, call, self.patience);
                let again = matches!(
                    call,
                    Call::Get { .. }
                        | Call::Scan { .. }
                        | Call::Size { .. }
                        | Call::Settle { .. }
                        | Call::Mark { .. }
                );
                self.while_there(shard, asked).await.map_err(|failure| match failure {
                    // What is done twice is as if it was done once; another secret or version
                    // stays another.
                    Failure::Unknown(error) if again && !is_stranger(&error) => {
                        Failure::NotDone(error.to_string())
                    }
                    failure => failure,
                })?
            }
        };
        match answer {
            Answer::NotHere => Err(Failure::NotDone(format!("shard {shard} is moving"))),
            Answer::Refused { kind, message } => Err(Failure::Unknown(refused(kind, message))),
            answer => Ok((answer, member.door.clone())),
        }
    }

    /// Asks the node that has a shard until it is done, or it is not known whether it was, or it
    /// takes too long.
    pub(crate) async fn ask_owner(self: &Arc<Self>, shard: u8, call: &Call) -> Result<Answer> {
        self.ask_owner_at(shard, call).await.map(|(answer, _)| answer)
    }

    /// The same, with the door of the node that answered.
    pub(crate) async fn ask_owner_at(
        self: &Arc<Self>,
        shard: u8,
        call: &Call,
    ) -> Result<(Answer, String)> {
        let began = tokio::time::Instant::now();
        loop {
            // Who does not lead any more has nothing to say to those who come later.
            if let Call::Write { term, .. } | Call::Settle { term, .. } = call
                && self.term() != Some(*term)
            {
                return Err(elsewhere());
            }
            match self.call_owner(shard, call).await {
                Err(Failure::NotDone(_)) if began.elapsed() < self.patience => self.changed().await,
                answer => return answer.map_err(Failure::into_error),
            }
        }
    }

    /// The answer to what another node asks.
    pub(crate) async fn answer(self: &Arc<Self>, call: Call) -> Answer {
        let node = self.clone();
        let answered = tokio::task::spawn_blocking(move || node.answer_here(call)).await;
        answered.unwrap_or_else(|error| Answer::refusal(&unavailable(error.to_string())))
    }

    fn answer_here(&self, call: Call) -> Answer {
        let answered = match call {
            Call::Get { shard, keys, at } => self.get(shard, &keys, at),
            Call::Keep { shard } => self.keep_view(shard),
            Call::Scan { shard, start, end, backward, first, at } => {
                self.scan(shard, KeyRange { start, end }, backward, first, at)
            }
            Call::Release(ids) => {
                self.views.release(&ids);
                Ok(Answer::Done)
            }
            Call::Write { shard, term, number, sync, operations } => {
                let durability = if sync { Durability::Sync } else { Durability::Buffered };
                match self.owned(shard) {
                    Some(owned) => {
                        owned.write(term, number, operations, durability).map(|()| Answer::Done)
                    }
                    None => Ok(Answer::NotHere),
                }
            }
            Call::Settle { shard, term, number } => match self.owned(shard) {
                Some(owned) => owned.settle(term, number).map(|()| Answer::Done),
                None => Ok(Answer::NotHere),
            },
            Call::Size { shard } => match self.owned(shard) {
                Some(owned) => owned.store.approximate_size(0).map(Answer::Size),
                None => Ok(Answer::NotHere),
            },
            Call::Mark { shard, term, number } => match self.owned(shard) {
                Some(owned) => {
                    owned.settle(term, number).and_then(|()| owned.store.mark()).map(Answer::Marked)
                }
                None => Ok(Answer::NotHere),
            },
            Call::Care { shard, care } => match self.owned(shard) {
                Some(owned) => match care {
                    Care::Sync => owned.store.sync(),
                    Care::Flush => owned.store.flush(),
                    Care::Compact => owned.store.compact(),
                }
                .map(|()| Answer::Done),
                None => Ok(Answer::NotHere),
            },
            Call::Reread => {
                let is_read = self.reread.get().is_some_and(|reread| reread());
                Ok(if is_read { Answer::Done } else { Answer::NotHere })
            }
            Call::Tell => {
                let told = self.all_owned().into_iter().map(|(shard, owned)| Told {
                    shard,
                    epoch: owned.store.epoch(),
                    bytes: owned.store.approximate_size(0).unwrap_or(0),
                    lag: owned.store.log_lag(),
                });
                Ok(Answer::Told(told.collect()))
            }
        };
        match answered {
            Ok(answer) => answer,
            // It was closed before anything was done: it goes elsewhere.
            Err(error) if error.kind() == ErrorKind::Closed => Answer::NotHere,
            Err(error) => Answer::refusal(&error),
        }
    }

    /// What is read from, and under which id it is kept.
    fn source(&self, at: At) -> Result<(View, Option<u64>)> {
        Ok(match at {
            At::Now => (self.view()?, None),
            At::View(id) => (self.views.get(id)?, Some(id)),
        })
    }

    fn keep_view(&self, shard: u8) -> Result<Answer> {
        let view = self.view()?;
        if !view.contains_key(&shard) {
            return Ok(Answer::NotHere);
        }
        let shards = view.keys().copied().collect();
        Ok(Answer::Kept { view: self.views.keep(view)?, shards })
    }

    fn get(&self, shard: u8, keys: &[Bytes], at: At) -> Result<Answer> {
        let of: Vec<(u8, &[u8])> = keys.iter().map(|key| (0, &**key)).collect();
        if at == At::Now {
            return match self.owned(shard) {
                Some(owned) => Ok(Answer::Values(owned.store.multi_get(&of)?)),
                None => Ok(Answer::NotHere),
            };
        }
        match self.source(at)?.0.get(&shard) {
            Some(source) => Ok(Answer::Values(source.multi_get(&of)?)),
            None => Ok(Answer::NotHere),
        }
    }

    fn scan(
        &self,
        shard: u8,
        range: KeyRange,
        backward: bool,
        first: bool,
        at: At,
    ) -> Result<Answer> {
        let (source, view) = self.source(at)?;
        let Some(of_shard) = source.get(&shard) else { return Ok(Answer::NotHere) };
        let direction = if backward { Direction::Backward } else { Direction::Forward };
        let most = if first { FIRST_PAGE_BYTES } else { PAGE_BYTES };
        let mut entries = Vec::new();
        let (mut bytes, mut more) = (0, false);
        for entry in of_shard.scan(0, range, direction)? {
            let (key, value) = entry?;
            bytes += key.len() + value.len();
            entries.push((key, value));
            if bytes >= most {
                more = true;
                break;
            }
        }
        // The rest has to be of the same moment.
        let view = match (view, more) {
            (None, true) => Some(self.views.keep(source)?),
            (view, _) => view,
        };
        Ok(Answer::Entries { view, entries, more })
    }
}

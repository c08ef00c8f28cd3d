//! Clients that ask one thing after the other, each over a connection of its own.

use std::cell::Cell;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures_util::TryStreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::timer::now;

/// How long answers may take that were asked for in time.
const PATIENCE: Duration = Duration::from_secs(30);

/// How much is asked: whatever ends first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) time: Duration,
    pub(crate) requests: u64,
}

impl Limit {
    pub(crate) fn time(time: Duration) -> Self {
        Limit { time, requests: u64::MAX }
    }

    pub(crate) fn requests(requests: u64) -> Self {
        Limit { time: Duration::from_secs(120), requests }
    }
}

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// How many answers came. They are those to the requests of the numbers below.
    pub(crate) answers: u64,
    /// Answers a second.
    pub(crate) rate: f64,
    /// How long half of the answers took at most, in microseconds.
    pub(crate) p50: f64,
    /// How long 99 of 100 answers took at most.
    pub(crate) p99: f64,
}

/// Asks with so many clients. `request` gives the bytes of each request, by its number, and `check`
/// looks at the body of the answer to it.
pub(crate) fn run(
    address: SocketAddr,
    clients: u64,
    limit: Limit,
    request: &impl Fn(u64) -> Vec<u8>,
    check: &impl Fn(u64, &[u8]) -> Result<()>,
) -> Result<Outcome> {
    // One thread, so that one core is left for the server.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let next = Cell::new(0);
    let began = now();
    let times = runtime.block_on(async {
        let all = (0..clients).map(|_| {
            let numbers = std::iter::from_fn(|| {
                let number = next.replace(next.get() + 1);
                (number < limit.requests).then_some(number)
            });
            ask(address, began + limit.time, numbers, request, check)
        });
        // Each is polled when its answer comes, not whenever any comes.
        let all = all.collect::<FuturesUnordered<_>>().try_collect::<Vec<_>>();
        let all = tokio::time::timeout(limit.time + PATIENCE, all).await;
        all.with_context(|| format!("an answer took longer than {PATIENCE:?}"))?
    })?;
    let took = began.elapsed().as_secs_f64();
    let mut times: Vec<Duration> = times.into_iter().flatten().collect();
    ensure!(!times.is_empty(), "no answer in {:?}", limit.time);
    times.sort_unstable();
    let at = |part: f64| {
        let place = (times.len() as f64 * part) as usize;
        times.get(place.min(times.len() - 1)).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    };
    let answers = times.len() as u64;
    Ok(Outcome { answers, rate: answers as f64 / took, p50: at(0.5), p99: at(0.99) })
}

/// What one request is answered with.
pub(crate) fn once(address: SocketAddr, request: &[u8]) -> Result<Vec<u8>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut connection = Connection::open(address).await?;
        let answer = tokio::time::timeout(PATIENCE, connection.ask(request)).await;
        let body = answer.with_context(|| format!("no answer in {PATIENCE:?}"))??;
        Ok(body.to_owned())
    })
}

async fn ask(
    address: SocketAddr,
    end: Instant,
    mut numbers: impl Iterator<Item = u64>,
    request: &impl Fn(u64) -> Vec<u8>,
    check: &impl Fn(u64, &[u8]) -> Result<()>,
) -> Result<Vec<Duration>> {
    let mut connection = Connection::open(address).await?;
    let mut times = Vec::new();
    let mut ended = now();
    while ended < end {
        let Some(number) = numbers.next() else { break };
        let request = request(number);
        let began = now();
        let body = connection.ask(&request).await?;
        ended = now();
        times.push(ended - began);
        check(number, body)?;
    }
    Ok(times)
}

struct Connection {
    address: SocketAddr,
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Some servers end the connection after each answer.
    ended: bool,
}

impl Connection {
    async fn open(address: SocketAddr) -> Result<Self> {
        let buffer = Vec::with_capacity(64 << 10);
        Ok(Connection { address, stream: connected(address).await?, buffer, ended: false })
    }

    /// The body of the answer, read to its end; any status but 200 and 201 is an error.
    async fn ask(&mut self, request: &[u8]) -> Result<&[u8]> {
        if self.ended {
            self.stream = connected(self.address).await?;
        }
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let head = loop {
            self.read().await?;
            if let Some(end) = memchr::memmem::find(&self.buffer, b"\r\n\r\n") {
                break end;
            }
        };
        let text = std::str::from_utf8(self.buffer.get(..head).unwrap_or_default())?;
        let status = text.lines().next().and_then(|line| line.split_once(' '));
        let status = status.context("an answer without a status")?.1;
        let is_good = status.starts_with("200") || status.starts_with("201");
        let refused = (!is_good).then(|| status.to_owned());
        self.ended = header(text, "connection").is_some_and(|value| value == "close");
        let length = header(text, "content-length").context("an answer without a length")?;
        let end = head + 4 + length.parse::<usize>()?;
        while self.buffer.len() < end {
            self.read().await?;
        }
        let body = self.buffer.get(head + 4..end).unwrap_or_default();
        if let Some(status) = refused {
            bail!("{status}: {}", String::from_utf8_lossy(body));
        }
        Ok(body)
    }

    async fn read(&mut self) -> Result<()> {
        let read = self.stream.read_buf(&mut self.buffer).await?;
        ensure!(read > 0, "the server ended the connection");
        Ok(())
    }
}

async fn connected(address: SocketAddr) -> Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (this, value) = line.split_once(':')?;
        this.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

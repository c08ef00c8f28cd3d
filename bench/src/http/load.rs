//! Clients that ask one thing after the other, each over a connection of its own.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::timer::now;

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Answers a second.
    pub(crate) rate: f64,
    /// How long half of the answers took at most, in microseconds.
    pub(crate) p50: f64,
    /// How long 99 of 100 answers took at most.
    pub(crate) p99: f64,
}

/// Asks with so many clients for so long. `request` gives the bytes of each request, by its number.
pub(crate) fn run(
    address: SocketAddr,
    clients: u64,
    time: Duration,
    request: &(impl Fn(u64) -> Vec<u8> + Sync),
) -> Result<Outcome> {
    // One thread, so that one core is left for the server.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let began = now();
    let mut times = runtime.block_on(async {
        let all = (0..clients).map(|client| async move {
            let end = began + time;
            ask(address, end, (0..).map(|n| request(n * clients + client))).await
        });
        let mut times = Vec::new();
        for of_client in futures_util::future::join_all(all).await {
            times.extend(of_client?);
        }
        anyhow::Ok(times)
    })?;
    let took = began.elapsed().as_secs_f64();
    ensure!(!times.is_empty(), "no answer in {time:?}");
    times.sort_unstable();
    let at = |part: f64| {
        let place = (times.len() as f64 * part) as usize;
        times.get(place.min(times.len() - 1)).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    };
    Ok(Outcome { rate: times.len() as f64 / took, p50: at(0.5), p99: at(0.99) })
}

async fn ask(
    address: SocketAddr,
    end: Instant,
    requests: impl Iterator<Item = Vec<u8>>,
) -> Result<Vec<Duration>> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(64 << 10);
    let mut times = Vec::new();
    for request in requests {
        let began = now();
        if began >= end {
            break;
        }
        stream.write_all(&request).await?;
        answer(&mut stream, &mut buffer).await?;
        times.push(began.elapsed());
    }
    Ok(times)
}

/// Reads one answer to its end; any status but 200 is an error.
async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<()> {
    buffer.clear();
    let head = loop {
        let read = stream.read_buf(buffer).await?;
        ensure!(read > 0, "the server ended the connection");
        if let Some(end) = memchr::memmem::find(buffer, b"\r\n\r\n") {
            break end;
        }
    };
    let text = std::str::from_utf8(buffer.get(..head).unwrap_or_default())?;
    if !text.starts_with("HTTP/1.1 200") {
        bail!("{}", String::from_utf8_lossy(buffer));
    }
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.context("an answer without a length")?.parse()?;
    while buffer.len() < head + 4 + length {
        ensure!(stream.read_buf(buffer).await? > 0, "the server ended the connection");
    }
    Ok(())
}

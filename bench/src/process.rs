//! Servers in processes of their own.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(60);
/// Linux counts processor time in these, whatever its own clock does.
const TICKS_A_SECOND: f64 = 100.0;

/// A server in a process of its own, which ends with this.
pub(crate) struct Running {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Running {
    /// One that tells its address in the first line of its output.
    pub(crate) fn told(command: &mut Command) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let out = child.stdout.take().context("its output is a pipe")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let address = line.trim().parse().context("the server did not start")?;
        Ok(Running { child, address })
    }

    /// One that was told its address; what it says goes to a file.
    pub(crate) fn at(address: SocketAddr, command: &mut Command, log: &Path) -> Result<Self> {
        let out = File::create(log)?;
        let child = command.stderr(out.try_clone()?).stdout(out).stdin(Stdio::null()).spawn();
        let child = child.with_context(|| format!("{command:?}"))?;
        let mut running = Running { child, address };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let listening = tokio::time::timeout(PATIENCE, running.listening()).await;
            let why = || format!("it said: {}", std::fs::read_to_string(log).unwrap_or_default());
            match listening {
                Ok(listening) => listening.with_context(why),
                Err(_) => bail!("it did not listen within {PATIENCE:?}; {}", why()),
            }
        })?;
        Ok(running)
    }

    async fn listening(&mut self) -> Result<()> {
        while tokio::net::TcpStream::connect(self.address).await.is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!("it ended before it listened: {status}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// How much memory it takes, in MiB.
    pub(crate) fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: f64 = line
            .and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
            .unwrap_or_default();
        kib / 1024.0
    }

    /// How many seconds of processor time it has used, its own and the kernel's for it.
    pub(crate) fn processor_seconds(&self) -> Result<f64> {
        let file = format!("/proc/{}/stat", self.child.id());
        let stat = std::fs::read_to_string(&file).with_context(|| file.clone())?;
        // The name of the program, in brackets, is the only field that can have a space.
        let (_, fields) = stat.rsplit_once(')').context(file)?;
        let ticks: Vec<f64> =
            fields.split_whitespace().skip(11).take(2).flat_map(str::parse).collect();
        Ok(ticks.iter().sum::<f64>() / TICKS_A_SECOND)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An address that nobody listens at.
pub(crate) fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

//! Measures the databases. Rivals do the same thing right after each other, so that a busy moment
//! of the machine hits them alike.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};

use crate::db::contender::{Contender, RowWriter, Wanted};
use crate::db::data::{Data, TENANT_ROWS};
use crate::db::measure::Measure;
use crate::db::ours::Ours;
use crate::db::raw_fjall::RawFjall;
use crate::db::sqlite::{Sqlite, Writers};
use crate::figures::{Figures, Name};
use crate::folders::folders;
use crate::timer::{now, timed};

/// How much is done.
#[derive(Clone, Copy, Debug)]
struct Size {
    tenants: usize,
    /// How often each read is measured in a pass.
    rounds: u64,
    /// Random reads in a round.
    reads: usize,
    /// Partitions that are read in a round, and ten times as many beginnings of one.
    partitions: usize,
    /// How long the threads write.
    writing: Duration,
}

/// Measures everything so many times, each time in new files.
pub(crate) fn passes(directory: &Path, passes: u32) -> Result<Figures<Measure>> {
    let size = Size {
        tenants: 300,
        rounds: 5,
        reads: 50_000,
        partitions: 50,
        writing: Duration::from_millis(300),
    };
    let data = Data::new(size.tenants);
    let mut figures = Figures::default();
    for number in 1..=passes {
        eprintln!("databases, pass {number} of {passes}");
        pass(directory, &data, size, &mut figures)?;
    }
    Ok(figures)
}

/// Measures everything once, with too few rows to mean anything.
pub(crate) fn quick(directory: &Path) -> Result<Figures<Measure>> {
    let writing = Duration::from_millis(50);
    let size = Size { tenants: 5, rounds: 1, reads: 1_000, partitions: 5, writing };
    let mut figures = Figures::default();
    pass(directory, &Data::new(size.tenants), size, &mut figures)?;
    Ok(figures)
}

fn pass(directory: &Path, data: &Data, size: Size, figures: &mut Figures<Measure>) -> Result<()> {
    let (_folder, [ours, sqlite, fjall]) = folders(directory, ["stonecrop", "sqlite", "fjall"])?;
    let ours = Ours::open(&ours, data)?;
    let sqlite = Sqlite::open(&sqlite, data)?;
    let fjall = RawFjall::open(&fjall, data)?;
    let contenders: [(Name, &dyn Contender); 3] =
        [(Name::Stonecrop, &ours), (Name::Sqlite, &sqlite), (Name::Fjall, &fjall)];
    let mut pass = Pass { data, size, figures };
    pass.fill(&contenders)?;
    for round in 0..size.rounds {
        pass.read(&contenders, round)?;
        pass.scan(&contenders)?;
    }
    // Many short turns: how long the disk takes to sync can change tenfold within seconds.
    for _ in 0..size.rounds {
        sqlite.set_writers(Writers::Share);
        pass.write(&contenders)?;
        sqlite.set_writers(Writers::Own);
        pass.write(&[(Name::Sqlite, &sqlite)])?;
    }
    Ok(())
}

struct Pass<'p> {
    data: &'p Data,
    size: Size,
    figures: &'p mut Figures<Measure>,
}

impl Pass<'_> {
    fn fill(&mut self, contenders: &[(Name, &dyn Contender)]) -> Result<()> {
        let rows = self.data.len() as f64;
        for (name, contender) in contenders {
            let (seconds, ()) = timed(|| contender.load())?;
            self.figures.add(Measure::Load, *name, rows / seconds);
            // What a database does behind its caller's back shall not slow down the next one.
            contender.compact()?;
        }
        for (name, contender) in contenders {
            let (seconds, ()) = timed(|| contender.refresh())?;
            self.figures.add(Measure::Refresh, *name, rows / seconds);
            let bytes = contender.compact()?;
            self.figures.add(Measure::DiskBytes, *name, bytes as f64);
        }
        Ok(())
    }

    fn read(&mut self, contenders: &[(Name, &dyn Contender)], round: u64) -> Result<()> {
        let rows = self.data.sample(self.size.reads, round);
        let measures = [
            (Measure::ReadOneSource, Wanted::OneSource),
            (Measure::ReadBothSources, Wanted::BothSources),
        ];
        for (measure, wanted) in measures {
            for (name, contender) in contenders {
                let (seconds, found) = timed(|| contender.read(&rows, wanted))?;
                ensure!(found == rows.len(), "{name:?} found {found} of {} rows", rows.len());
                self.figures.add(measure, *name, found as f64 / seconds);
            }
        }
        let partitions = self.size.partitions;
        let measures = [
            (Measure::ReadTenant, TENANT_ROWS, partitions, TENANT_ROWS),
            (Measure::ReadTenRows, 10, 10 * partitions, 1),
        ];
        for (measure, limit, times, counted) in measures {
            let tenants = self.data.sample(times, round);
            for (name, contender) in contenders {
                let (seconds, found) = timed(|| contender.read_tenants(&tenants, limit))?;
                ensure!(found == times * limit, "{name:?} found {found} rows of {times} tenants");
                self.figures.add(measure, *name, (times * counted) as f64 / seconds);
            }
        }
        Ok(())
    }

    fn scan(&mut self, contenders: &[(Name, &dyn Contender)]) -> Result<()> {
        for (measure, score) in [(Measure::ScanForFew, 1), (Measure::ScanForMany, 100)] {
            let expected = self.data.count_below(score);
            for (name, contender) in contenders {
                let columns = match name {
                    Name::Sqlite => &[(Name::Sqlite, 1), (Name::SqliteTwoThreads, 2)][..],
                    other => &[(*other, 2)],
                };
                for (name, threads) in columns {
                    let (seconds, found) = timed(|| contender.scan(score, *threads))?;
                    ensure!(found == expected, "{name:?} found {found} rows, not {expected}");
                    self.figures.add(measure, *name, self.data.len() as f64 / seconds);
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, contenders: &[(Name, &dyn Contender)]) -> Result<()> {
        let measures = [
            (Measure::WriteOneThread, 1),
            (Measure::WriteEightThreads, 8),
            (Measure::WriteThirtyTwoThreads, 32),
        ];
        for (measure, threads) in measures {
            for (name, contender) in contenders {
                let rate = self.write_rows(contender.writers(threads)?)?;
                self.figures.add(measure, *name, rate);
            }
        }
        Ok(())
    }

    /// All at once, each as often as it can.
    fn write_rows(&self, writers: Vec<RowWriter<'_>>) -> Result<f64> {
        let writing = self.size.writing;
        let (seconds, written) = timed(|| {
            std::thread::scope(|scope| {
                let threads = writers.into_iter().enumerate().map(|(index, mut write)| {
                    scope.spawn(move || {
                        let rows = self.data.sample(5_000, 1_000 + index as u64);
                        let mut written = 0;
                        let start = now();
                        for (tenant, row) in rows.into_iter().cycle() {
                            if start.elapsed() >= writing {
                                break;
                            }
                            write(tenant, row)?;
                            written += 1;
                        }
                        Ok(written)
                    })
                });
                let threads: Vec<_> = threads.collect();
                let written = threads.into_iter().map(|thread| thread.join());
                written
                    .map(|written| written.map_err(|_| anyhow!("a writer panicked"))?)
                    .sum::<Result<usize>>()
            })
        })?;
        Ok(written as f64 / seconds)
    }
}

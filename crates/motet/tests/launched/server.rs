//! A server of PMI-1, one thread for each rank.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

/// What all ranks share.
#[derive(Default)]
struct Job {
    ranks: usize,
    /// Requests of one rank after which the server hangs up.
    requests: usize,
    kept: HashMap<String, String>,
    /// Ranks that wait in the barrier, and how many barriers there have been.
    waiting: usize,
    barriers: usize,
    asked: Vec<String>,
}

/// The server.
#[derive(Clone)]
pub(crate) struct Server(Arc<(Mutex<Job>, Condvar)>);

impl Server {
    pub(crate) fn new(ranks: usize, requests: usize) -> Server {
        Server(Arc::new((Mutex::new(Job { ranks, requests, ..Job::default() }), Condvar::new())))
    }

    /// Serves a rank over the socket whose other end is returned.
    pub(crate) fn serve(&self, rank: usize) -> std::io::Result<UnixStream> {
        let (ours, theirs) = UnixStream::pair()?;
        let server = self.clone();
        thread::Builder::new().name(format!("server {rank}")).spawn(move || server.talk(ours))?;
        Ok(theirs)
    }

    /// All that was asked for until now.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.job().asked.clone()
    }

    fn job(&self) -> MutexGuard<'_, Job> {
        self.0.0.lock().expect("no server panics")
    }

    /// Answers until the rank has gone.
    fn talk(&self, mut socket: UnixStream) {
        let most = self.job().requests;
        let lines = BufReader::new(socket.try_clone().expect("there are descriptors")).lines();
        for line in lines.take(most) {
            let Ok(line) = line else { return };
            self.job().asked.push(line.clone());
            let Some(answer) = self.answer(&line) else { continue };
            if socket.write_all(format!("cmd={answer}\n").as_bytes()).is_err() {
                return;
            }
        }
    }

    fn answer(&self, line: &str) -> Option<String> {
        let field = |name: &str| {
            let mut pairs = line.split(' ').filter_map(|field| field.split_once('='));
            pairs.find(|(found, _)| *found == name).map(|(_, value)| value.to_owned())
        };
        Some(match field("cmd")?.as_str() {
            "init" => "response_to_init rc=0 pmi_version=1 pmi_subversion=1".into(),
            "get_maxes" => "maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=256".into(),
            "get_my_kvsname" => "my_kvsname rc=0 kvsname=job_0".into(),
            "put" => {
                self.job().kept.insert(field("key")?, field("value")?);
                "put_result rc=0".into()
            }
            "get" => match self.job().kept.get(&field("key")?) {
                Some(value) => format!("get_result rc=0 value={value}"),
                None => "get_result rc=-1 msg=no_such_key".into(),
            },
            "barrier_in" => {
                self.barrier();
                "barrier_out rc=0".into()
            }
            "finalize" => "finalize_ack rc=0".into(),
            _ => return None,
        })
    }

    fn barrier(&self) {
        let mut job = self.job();
        job.waiting += 1;
        if job.waiting == job.ranks {
            (job.waiting, job.barriers) = (0, job.barriers + 1);
            self.0.1.notify_all();
            return;
        }
        let before = job.barriers;
        drop(self.0.1.wait_while(job, |job| job.barriers == before));
    }
}

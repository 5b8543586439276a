//! Tests of both PMI clients against correct servers and against servers that send arbitrary bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use super::fields::Fields;
use super::socket::MESSAGE_MAX_BYTES;
use super::{PmiSocket, PmiV1, PmiV2};
use crate::Error;
use crate::bootstrap::Timeouts;
use crate::kvs::KeyValueSpace;

/// Longer than any server here takes, and shorter than a watchdog.
const LONG: Timeouts = Timeouts { fence: Duration::from_secs(20), answer: Duration::from_secs(20) };
/// The limits for a server that sends nothing.
const SHORT: Timeouts =
    Timeouts { fence: Duration::from_millis(50), answer: Duration::from_millis(50) };

fn pair() -> (PmiSocket, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    (PmiSocket::new(ours.into()), theirs)
}

/// A server of PMI-1 for one rank, which keeps what is put.
fn serve_first(server: UnixStream) -> Vec<String> {
    let mut lines = BufReader::new(server.try_clone().unwrap());
    let (mut server, mut kept, mut asked) = (server, Vec::new(), Vec::new());
    let mut line = String::new();
    while lines.read_line(&mut line).unwrap_or(0) > 0 {
        let fields = Fields::parse(line.as_bytes(), ' ').unwrap();
        let text = |name: &str| fields.get(name).unwrap_or_default().to_owned();
        let answer = match fields.command() {
            "initack" => "initack rc=0 rank=1 size=2\ncmd=set size=2\ncmd=set debug=0".into(),
            "init" => "response_to_init rc=0 pmi_version=1 pmi_subversion=2".into(),
            "get_maxes" => "maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=80".into(),
            "get_my_kvsname" => "my_kvsname rc=0 kvsname=space_0".into(),
            "put" => {
                kept.push((text("key"), text("value")));
                "put_result rc=0".into()
            }
            "get" => match kept.iter().find(|(key, _)| *key == text("key")) {
                Some((_, value)) => format!("get_result rc=0 value={value}"),
                None => "get_result rc=-1 msg=unknown_key".into(),
            },
            "barrier_in" => "barrier_out tag=0".into(),
            "finalize" => "finalize_ack rc=0".into(),
            "abort" => String::new(),
            other => panic!("asked for {other}"),
        };
        asked.push(line.trim().to_owned());
        line.clear();
        if !answer.is_empty() {
            server.write_all(format!("cmd={answer}\n").as_bytes()).unwrap();
        }
    }
    asked
}

/// What every key-value space must do, on a server that keeps what this one rank puts.
fn use_kvs(kvs: &mut dyn KeyValueSpace) {
    let value: Vec<u8> = (0..=255).collect();
    let rank = kvs.rank();
    kvs.put("address", &value).unwrap();
    kvs.put("nothing", &[]).unwrap();
    kvs.fence().unwrap();
    assert_eq!(kvs.get(rank, "address").unwrap(), value);
    assert_eq!(kvs.get(rank, "nothing").unwrap(), []);
    assert!(kvs.get(rank, "absent").is_err());
    assert!(kvs.get(rank + 1, "address").is_err());
    assert!(kvs.put("two words", &[1]).is_err());
    kvs.finalize().unwrap();
    kvs.abort(7, "a;b=c\nd");
}

#[test]
fn a_rank_and_a_server_of_pmi_1_understand_each_other() {
    let (socket, server) = pair();
    let served = thread::spawn(|| serve_first(server));
    let mut first = PmiV1::new(socket, (0, 1), LONG).unwrap();
    assert_eq!((first.rank(), first.ranks()), (0, 1));
    use_kvs(&mut first);
    drop(first);
    let asked = served.join().unwrap();
    assert_eq!(asked.first().unwrap(), "cmd=init pmi_version=1 pmi_subversion=1");
    assert_eq!(asked.last().unwrap(), "cmd=abort exitcode=7");
    assert!(asked.iter().all(|line| line.len() < 200), "no value is longer than the server takes");
}

#[test]
fn at_a_port_the_server_tells_the_rank() {
    let (socket, server) = pair();
    let served = thread::spawn(|| serve_first(server));
    let mut first = PmiV1::at_port(socket, "5", LONG).unwrap();
    assert_eq!((first.rank(), first.ranks()), (1, 2));
    use_kvs(&mut first);
    drop(first);
    assert_eq!(served.join().unwrap()[0], "cmd=initack pmiid=5");
}

/// A server of PMI-2 for one rank.
fn serve_second(mut server: UnixStream) -> Vec<String> {
    let mut lines = BufReader::new(server.try_clone().unwrap());
    let (mut kept, mut asked, mut line) = (Vec::new(), Vec::new(), String::new());
    lines.read_line(&mut line).unwrap();
    assert_eq!(line, "cmd=init pmi_version=2 pmi_subversion=0\n");
    server.write_all(b"cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n").unwrap();
    let mut length = [0; 6];
    while lines.read_exact(&mut length).is_ok() {
        let length = str::from_utf8(&length).unwrap().trim().parse().unwrap();
        let mut message = vec![0; length];
        lines.read_exact(&mut message).unwrap();
        let fields = Fields::parse(&message, ';').unwrap();
        let text = |name: &str| fields.get(name).unwrap_or_default().to_owned();
        let command = fields.command().to_owned();
        let more = match command.as_str() {
            "fullinit" => "rank=0;size=1;appnum=0;".into(),
            "job-getid" => "jobid=3.0;".into(),
            "kvs-put" => {
                kept.push((text("key"), text("value")));
                String::new()
            }
            "kvs-get" => match kept.iter().find(|(key, _)| *key == text("key")) {
                Some((_, value)) => format!("found=TRUE;value={value};"),
                None => "found=FALSE;".into(),
            },
            "kvs-fence" | "finalize" => String::new(),
            "abort" => String::new(),
            other => panic!("asked for {other}"),
        };
        asked.push(String::from_utf8(message).unwrap());
        if command == "abort" {
            break;
        }
        let answer = format!("cmd={command}-response;rc=0;{more}");
        server.write_all(format!("{:6}{answer}", answer.len()).as_bytes()).unwrap();
    }
    asked
}

#[test]
fn a_rank_and_a_server_of_pmi_2_understand_each_other() {
    let (socket, server) = pair();
    let served = thread::spawn(|| serve_second(server));
    let mut second = PmiV2::new(socket, 0, Some("3.0"), LONG).unwrap();
    assert_eq!((second.rank(), second.ranks()), (0, 1));
    use_kvs(&mut second);
    drop(second);
    let asked = served.join().unwrap();
    assert_eq!(asked[0], "cmd=fullinit;pmijobid=3.0;pmirank=0;threaded=FALSE;");
    assert_eq!(asked.last().unwrap(), "cmd=abort;isworld=TRUE;msg=abcd;");
}

#[test]
fn a_server_without_pmi_2_is_named() {
    let (socket, mut server) = pair();
    server.write_all(b"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n").unwrap();
    let error = PmiV2::new(socket, 0, None, LONG).unwrap_err().to_string();
    assert!(error.contains("does not speak PMI-2, only version 1"), "{error}");
}

#[test]
fn a_server_that_hangs_up_or_refuses_is_an_error() {
    let (socket, server) = pair();
    drop(server);
    let error = PmiV1::new(socket, (0, 2), LONG).unwrap_err().to_string();
    assert!(error.contains("lost") || error.contains("hung up"), "{error}");
    let (socket, mut server) = pair();
    server.write_all(b"cmd=response_to_init rc=-1 msg=too_old\n").unwrap();
    let error = PmiV1::new(socket, (0, 2), LONG).unwrap_err().to_string();
    assert!(error.contains("refuses `init`: too_old"), "{error}");
}

#[test]
fn a_rank_that_does_not_come_ends_the_fence() {
    let (socket, mut server) = pair();
    let answers =
        "cmd=response_to_init rc=0\ncmd=maxes vallen_max=1024\ncmd=my_kvsname kvsname=a\n";
    server.write_all(answers.as_bytes()).unwrap();
    let mut first = PmiV1::new(socket, (0, 2), Timeouts { answer: LONG.answer, ..SHORT }).unwrap();
    let begun = Instant::now();
    let error = first.fence().unwrap_err().to_string();
    assert!(error.contains("a rank does not come"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

/// At each point at which a server may fall silent, but for those at a port before the connection.
#[test]
fn a_server_that_says_nothing_is_an_error_in_time() {
    let answers = [
        "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n",
        "cmd=maxes vallen_max=1024\n",
        "cmd=my_kvsname kvsname=a\n",
    ];
    let begun = Instant::now();
    let in_time = |error: Error| {
        let error = error.to_string();
        assert!(error.contains("does not answer in time"), "{error}");
        assert!(error.contains("MOTET_LAUNCH_SECONDS"), "{error}");
    };
    for given in 0..=answers.len() {
        let (socket, mut server) = pair();
        server.write_all(answers[..given].concat().as_bytes()).unwrap();
        match PmiV1::new(socket, (0, 2), SHORT) {
            Ok(mut first) if given == answers.len() => {
                in_time(first.put("name", b"value").unwrap_err());
                in_time(first.get(1, "name").unwrap_err());
                in_time(first.finalize().unwrap_err());
            }
            outcome => in_time(outcome.unwrap_err()),
        }
    }
    let (socket, _server) = pair();
    in_time(PmiV1::at_port(socket, "0", SHORT).unwrap_err());
    let answers = [
        "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n".to_owned(),
        of_second("fullinit-response;rc=0;rank=0;size=2;"),
        of_second("job-getid-response;rc=0;jobid=a;"),
    ];
    for given in 0..=answers.len() {
        let (socket, mut server) = pair();
        server.write_all(answers[..given].concat().as_bytes()).unwrap();
        match PmiV2::new(socket, 0, None, SHORT) {
            Ok(mut second) if given == answers.len() => {
                in_time(second.put("name", b"value").unwrap_err());
                in_time(second.fence().unwrap_err());
                in_time(second.get(1, "name").unwrap_err());
                in_time(second.finalize().unwrap_err());
            }
            outcome => in_time(outcome.unwrap_err()),
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(10));
}

fn of_second(text: &str) -> String {
    format!("{:>6}cmd={text}", text.len() + 4)
}

#[test]
fn a_message_without_end_is_refused() {
    for flood in [vec![b'a'; 99 * MESSAGE_MAX_BYTES], b"=".repeat(99 * MESSAGE_MAX_BYTES)] {
        let (socket, mut server) = pair();
        let flooding = thread::spawn(move || server.write_all(&flood));
        let error = PmiV1::new(socket, (0, 2), LONG).unwrap_err().to_string();
        assert!(error.contains("a message of more than"), "{error}");
        // The client has hung up, so the rest could not be sent.
        assert!(flooding.join().unwrap().is_err());
    }
    let (socket, mut server) = pair();
    server.write_all(b"cmd=response_to_init pmi_version=2 rc=0\n999999cmd=").unwrap();
    let error = PmiV2::new(socket, 0, None, LONG).unwrap_err().to_string();
    assert!(error.contains("a message of more than"), "{error}");
}

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    /// Bytes of which some are what a server may say, and some are anything.
    fn babble(&mut self) -> Vec<u8> {
        const WORDS: [&[u8]; 24] = [
            b"cmd=",
            b"response_to_init",
            b"rc=0",
            b"rc=-1",
            b" ",
            b" ",
            b";",
            b"\n",
            b"\n",
            b"=",
            b"cmd=maxes vallen_max=99999999999999999999\n",
            b"cmd=my_kvsname kvsname=x\n",
            b"cmd=response_to_init rc=0 pmi_version=2\n",
            b"cmd=set a=b\n",
            b"value=2.ff",
            b"cmd=put_result rc=0\n",
            b"cmd=barrier_out\n",
            b"cmd=get_result rc=0 value=3.\n",
            b"    40cmd=fullinit-response;rc=0;rank=0;size=1;",
            b"    -1",
            b"000000",
            b"\0\0",
            b"    32cmd=job-getid-response;jobid=a;x",
            b"cmd=finalize_ack rc=0\n",
        ];
        let mut bytes = Vec::new();
        for _ in 0..self.roll(40) {
            match self.roll(3) {
                0 => bytes.push(self.roll(256) as u8),
                _ => bytes.extend_from_slice(WORDS[self.roll(WORDS.len())]),
            }
        }
        bytes
    }
}

fn try_all(kvs: crate::Result<Box<dyn KeyValueSpace>>) {
    let Ok(mut kvs) = kvs else { return };
    let _ = kvs.put("name", &[1; 100]);
    let _ = kvs.fence();
    let _ = kvs.get(0, "name");
    let _ = kvs.finalize();
}

/// Whatever a server sends, there is no panic and no hang. What it has not answered when it hangs
/// up is an error at once, so this test takes no time by the clock.
#[test]
fn any_bytes_at_all_are_an_answer_or_an_error() {
    let seed = std::env::var("MOTET_TEST_SEED").ok().and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or(0x5eed_0000_0000_0001_u64);
    println!("MOTET_TEST_SEED={seed}");
    let (mut dice, begun) = (Dice(seed), Instant::now());
    for _ in 0..4000 {
        let bytes = dice.babble();
        let _ = Fields::parse(&bytes, if dice.roll(2) == 0 { ' ' } else { ';' });
        let told = || {
            let (socket, mut server) = pair();
            // Less than a socket buffers, so the client need not read meanwhile.
            server.write_all(&bytes).unwrap();
            server.shutdown(std::net::Shutdown::Write).unwrap();
            (socket, server)
        };
        let (socket, _server) = told();
        try_all(PmiV1::new(socket, (0, 1), LONG).map(|kvs| Box::new(kvs) as _));
        let (socket, _server) = told();
        try_all(PmiV1::at_port(socket, "0", LONG).map(|kvs| Box::new(kvs) as _));
        let (socket, _server) = told();
        try_all(PmiV2::new(socket, 0, None, LONG).map(|kvs| Box::new(kvs) as _));
        assert!(begun.elapsed() < Duration::from_secs(60), "a client waits for nothing");
    }
}

//! Ranks that write into memory of each other.

use motet_fabric::net::{self, Library};

use super::{EAGER, SOME_CELLS_BYTES, from, label, pattern};
use crate::support::{Kind, run};

/// A message of every length that goes in cells is written where that can be, and only there.
pub(crate) fn cells_are_written_where_the_network_can(kind: Kind) {
    let library = Library::open().unwrap();
    let choice = net::choose(&library, None).and_then(|choice| choice.with_writes(&library));
    let writes = choice.unwrap().writes && kind != Kind::ApartByMessages;
    run(kind, 2, |rank| {
        let other = 1 - rank.me();
        let sizes = [0, 8, 200, EAGER, SOME_CELLS_BYTES];
        for (tag, bytes) in (0..).zip(sizes) {
            rank.send(other, label(tag), pattern(tag, bytes));
            let receive = rank.recv(from(other, tag), bytes);
            assert_eq!(rank.wait(receive).data(), pattern(tag, bytes));
        }
        let written = rank.endpoint().network().unwrap().written();
        let expected = if writes { sizes.len() as u64..=u64::MAX } else { 0..=0 };
        assert!(expected.contains(&written), "{written} cells have been written");
    });
}

//! Transfers that are taken back.

use motet_fabric::{Peer, TransferError};

use super::{EAGER, LARGE, from, label, pattern, step};
use crate::support::{Kind, ranks};

/// A sender takes its message back before, while, or after its receiver asks for it: the receive
/// ends with that error, and the next message is as good as ever.
pub(crate) fn a_large_send_in_every_state(kind: Kind) {
    let mut world = ranks(kind, 2);
    for packets in 0..6 {
        let lost = world[0].send(1, label(1), pattern(1, 100 * EAGER));
        if packets == 0 {
            // Announced, then taken back, then asked for.
            assert!(world[0].cancel(lost).is_some());
        }
        let receive = world[1].recv(from(0, 1), 100 * EAGER);
        for rank in [1, 0, 1, 0, 1].into_iter().take(packets) {
            world[rank].progress();
        }
        let was_pending = packets == 0 || world[0].cancel(lost).is_some();
        step(&mut world);
        let ended = world[1].take(receive).expect("a receive ends");
        match ended.outcome {
            Ok(_) => assert_eq!(ended.memory, pattern(1, 100 * EAGER)),
            Err(error) => {
                assert!(was_pending);
                assert_eq!(error, TransferError::Revoked(Peer(0)));
            }
        }
        assert!(world[0].endpoint().all_sent());

        let next = world[1].recv(from(0, 1), LARGE);
        world[0].send(1, label(1), pattern(2, LARGE));
        step(&mut world);
        assert_eq!(world[1].take(next).expect("as good as ever").data(), pattern(2, LARGE));
    }
}

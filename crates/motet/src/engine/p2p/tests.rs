//! What a send does that finds no room.

use std::sync::Barrier;

use crate::worlds::on_ranks_with;
use crate::{Request, Result, Settings, Tag};

/// More messages than have room in a ring.
const MANY: usize = 1000;
const TAG: Tag = Tag(1);

/// Rank 0 sends while the ring to it is full, and rank 1 only sends, too.
#[test]
fn a_send_that_waits_for_room_receives_meanwhile() {
    for persistent in [false, true] {
        let turn = Barrier::new(2);
        let seen = on_ranks_with(2, &Settings::new(), |world| {
            let other = 1 - world.rank();
            let receive = |bytes: usize| world.irecv(vec![0_u8; bytes], other, TAG);
            if world.rank() == 0 {
                turn.wait();
                world.isend(vec![1_u8; 5], 1, TAG)?.wait()?;
                turn.wait();
                turn.wait();
                (0..=MANY).try_for_each(|_| receive(3)?.wait().map(drop))?;
                return Ok((false, [0; 2]));
            }
            let expected = receive(5)?;
            let send = || world.isend(vec![2_u8; 3], 0, TAG);
            let mut sends: Vec<Request<_>> = (0..MANY).map(|_| send()).collect::<Result<_>>()?;
            let is_full = world.core().engine().endpoint.has_waiting();
            let receives = || world.core().engine().endpoint.posted_receives();
            turn.wait();
            turn.wait();
            let before = receives();
            let last = world.send_init(vec![2_u8; 3], 0, TAG)?;
            let running = if persistent {
                Some(last.start()?)
            } else {
                sends.push(send()?);
                None
            };
            let after = receives();
            turn.wait();
            running.map(|running| running.wait()).transpose()?;
            sends.into_iter().try_for_each(|send| send.wait().map(drop))?;
            expected.wait()?;
            Ok((is_full, [before, after]))
        });
        assert_eq!(seen[1], (true, [1, 0]), "persistent: {persistent}");
    }
}

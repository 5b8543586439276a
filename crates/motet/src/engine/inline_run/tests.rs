//! The operations that the engine polls.

use super::POLLED_OPS_MAX;
use crate::Settings;
use crate::worlds::on_ranks_with;

/// Each operation ends before the next one starts.
#[test]
fn operations_that_are_over_take_no_place_among_the_few() {
    let settings = Settings::new(); // nothing is written down, so all may run inline
    let longest = on_ranks_with(2, &settings, |world| {
        let mut longest = 0;
        for _ in 0..10 * POLLED_OPS_MAX {
            world.ibarrier()?.wait()?;
            longest = longest.max(world.core().engine().polled.len());
        }
        Ok(longest)
    });
    for longest in longest {
        assert!(longest < POLLED_OPS_MAX, "one that began found no place");
    }
}

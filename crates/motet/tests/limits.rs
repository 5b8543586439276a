//! A rank that begins more operations than it may is refused, and goes on with those it has.

mod worlds;

use motet::{ErrorClass, ErrorKind, Info, Settings, Sum};
use worlds::on_ranks_with;

/// spec: 9
#[test]
fn operations_beyond_the_limit_are_refused() {
    let settings = Settings::new().max_pending(100);
    on_ranks_with(2, &settings, |world| {
        let mut kept = world.allreduce_init(vec![1], Sum, &Info::new())?;
        let pending: Vec<_> = (0..99).map(|_| world.ibarrier()).collect::<Result<_, _>>()?;
        let refused = world.ibarrier().expect_err("one more than a hundred");
        assert!(matches!(refused.kind(), ErrorKind::TooManyOperations { limit: 100 }), "{refused}");
        assert_eq!(refused.class(), ErrorClass::NoMem);
        assert!(world.barrier().is_err() && world.barrier_init(&Info::new()).is_err());
        let text = refused.to_string();
        assert!(text.contains("ibarrier on rank"), "{text}");
        // Those that have begun are whole, and there is room again when they are over.
        kept.run()?;
        assert_eq!(kept.output(), [2]);
        pending.into_iter().try_for_each(|each| each.wait())?;
        assert_eq!(world.allreduce_one(1, Sum)?, 2);
        Ok(())
    });
}

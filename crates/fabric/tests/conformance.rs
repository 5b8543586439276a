//! One suite for every kind of world: what the fabric promises, whoever carries it.

mod cases;
mod support;

/// Makes a test of each case in each kind of world.
macro_rules! in_every_world {
    ($($subject:ident: $($case:ident)+;)+) => {
        in_every_world!(@kind threads Threads $($subject: $($case)+;)+);
        in_every_world!(@kind threads_in_pieces ThreadsInPieces $($subject: $($case)+;)+);
        in_every_world!(@kind mapped Mapped $($subject: $($case)+;)+);
        in_every_world!(@kind mapped_in_pieces MappedInPieces $($subject: $($case)+;)+);
    };
    (@kind $module:ident $kind:ident $($subject:ident: $($case:ident)+;)+) => {
        mod $module {
            $(mod $subject {
                $(#[test]
                fn $case() {
                    crate::cases::$subject::$case(crate::support::Kind::$kind);
                })+
            })+
        }
    };
}

in_every_world! {
    cancelling: a_large_send_in_every_state;
    large: more_than_claims_hold_up_nobody;
    leaving: news_of_channels_for_one_that_left_hold_up_nobody pieces_of_one_that_left_end
        messages_outlive_their_sender sends_to_one_that_left_end those_that_stay_go_on
        one_left_alone_hears_itself;
    waking: pieces_wake_a_receiver_that_sleeps;
}

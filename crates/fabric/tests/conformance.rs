//! One suite for every kind of world: what the fabric promises, whoever carries it.

#![allow(clippy::unwrap_used)] // tests, and what they are made of

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
                    let _watchdog = crate::support::Watchdog::start();
                    crate::cases::$subject::$case(crate::support::Kind::$kind);
                })+
            })+
        }
    };
}

in_every_world! {
    cancelling: a_large_send_in_every_state receives_in_every_state sends_that_wait_for_room
        sends_while_the_receiver_copies;
    channels: order_and_contents rounds_ahead_and_no_further a_full_ring_wakes_its_sender
        disagreement_is_an_error refusal_is_told a_hundred_thousand_lives
        freed_before_it_was_opened beside_messages;
    large: more_than_claims_hold_up_nobody both_directions_at_once small_ones_do_not_overtake
        both_ends_copy a_few_cells_each;
    leaving: news_of_channels_for_one_that_left_hold_up_nobody pieces_of_one_that_left_end
        messages_outlive_their_sender sends_to_one_that_left_end those_that_stay_go_on
        one_left_alone_hears_itself;
    matching: order_per_pair_and_label context_tag_and_ordinal_keep_apart any_source_and_any_tag
        probe_finds_what_a_receive_would_get truncation_is_the_receivers_error_alone
        types_are_compared sizes_around_every_limit messages_to_oneself;
    pressure: many_sends_before_the_first_receive many_receives_before_the_first_send
        random_traffic_between_all everyone_to_one;
    waking: pieces_wake_a_receiver_that_sleeps a_token_goes_round_sleepers every_kind_of_news_wakes
        a_death_wakes_all sleepers_need_no_core;
}

//! One suite for every kind of world: what the fabric promises, whoever carries it.

#![allow(clippy::unwrap_used)] // tests, and what they are made of

mod cases;
mod support;

/// Makes a test of each case in each kind of world.
macro_rules! in_every_world {
    ($($subject:ident: $($case:ident)+;)+) => {
        in_world!(threads Threads $($subject: $($case)+;)+);
        in_world!(threads_in_pieces ThreadsInPieces $($subject: $($case)+;)+);
        in_world!(mapped Mapped $($subject: $($case)+;)+);
        in_world!(mapped_in_pieces MappedInPieces $($subject: $($case)+;)+);
        in_world!(mapped_by_cores MappedByCores $($subject: $($case)+;)+);
    };
}

/// The same in those that use no blocks.
macro_rules! where_it_is_exposed {
    ($($subject:ident: $($case:ident)+;)+) => {
        in_world!(exposed_threads Threads $($subject: $($case)+;)+);
        in_world!(exposed_threads_in_pieces ThreadsInPieces $($subject: $($case)+;)+);
        in_world!(exposed_mapped Mapped $($subject: $($case)+;)+);
        in_world!(exposed_mapped_in_pieces MappedInPieces $($subject: $($case)+;)+);
    };
}

/// Makes a test of each case in one kind of world.
macro_rules! in_world {
    ($module:ident $kind:ident $($subject:ident: $($case:ident)+;)+) => {
        mod $module {
            $(mod $subject {
                $(#[test]
                fn $case() {
                    if !crate::support::Kind::$kind.is_there() {
                        return;
                    }
                    let _watchdog = crate::support::Watchdog::start();
                    crate::cases::$subject::$case(crate::support::Kind::$kind);
                })+
            })+
        }
    };
}

/// Those that move each rank a certain number of times expect messages to be there at once, which a
/// network does not promise; and there are no channels over one.
macro_rules! over_the_network {
    ($($subject:ident: $($case:ident)+;)+) => {
        in_world!(apart Apart $($subject: $($case)+;)+);
        in_world!(apart_by_messages ApartByMessages $($subject: $($case)+;)+);
        in_world!(apart_in_pairs ApartInPairs $($subject: $($case)+;)+);
    };
}

in_every_world! {
    cancelling: a_large_send_in_every_state receives_in_every_state
        sends_while_the_receiver_copies;
    channels: order_and_contents rounds_ahead_and_no_further a_full_ring_wakes_its_sender
        disagreement_is_an_error refusal_is_told a_hundred_thousand_lives
        freed_before_it_was_opened beside_messages;
    large: more_than_claims_hold_up_nobody both_directions_at_once small_ones_do_not_overtake
        both_ends_copy a_few_cells_each;
    leaving: channels_for_one_that_left_hold_up_nobody pieces_of_one_that_left_end
        messages_outlive_their_sender those_that_stay_go_on
        who_leaves_after_a_death_has_not_left_in_good_order
        one_left_alone_hears_itself;
    matching: order_per_pair_and_label context_tag_and_ordinal_keep_apart any_source_and_any_tag
        probe_finds_what_a_receive_would_get truncation_is_the_receivers_error_alone
        types_are_compared sizes_around_every_limit messages_to_oneself;
    pressure: many_sends_before_the_first_receive many_receives_before_the_first_send
        random_traffic_between_all everyone_to_one;
    remote_bounce: to_and_fro received_in_any_order not_wanted outlive_their_sender
        need_no_answer;
    zero_copy: whoever_comes_first too_long_for_their_receives receives_that_are_taken_back
        a_death_in_the_middle;
    waking: pieces_wake_a_receiver_that_sleeps a_token_goes_round_sleepers each_message_wakes
        a_death_wakes_all sleepers_need_no_core;
}

// They move ranks by hand, and expect a message to wait that goes in a block where those are used.
where_it_is_exposed! {
    cancelling: sends_that_wait_for_room;
    leaving: sends_to_one_that_left_end;
}

over_the_network! {
    cancelling: sends_while_the_receiver_copies;
    large: both_directions_at_once small_ones_do_not_overtake both_ends_copy a_few_cells_each;
    leaving: messages_outlive_their_sender those_that_stay_go_on one_left_alone_hears_itself
        all_leave_at_once;
    matching: order_per_pair_and_label context_tag_and_ordinal_keep_apart any_source_and_any_tag
        truncation_is_the_receivers_error_alone types_are_compared sizes_around_every_limit
        messages_to_oneself;
    pressure: many_sends_before_the_first_receive many_receives_before_the_first_send
        random_traffic_between_all everyone_to_one;
    remote_bounce: to_and_fro received_in_any_order not_wanted outlive_their_sender
        need_no_answer;
    zero_copy: whoever_comes_first too_long_for_their_receives receives_that_are_taken_back
        a_death_in_the_middle;
    waking: pieces_wake_a_receiver_that_sleeps a_token_goes_round_sleepers each_message_wakes
        a_death_wakes_all sleepers_need_no_core;
}

// Two ranks that must be on two hosts.
in_world!(between_two Apart leaving: who_says_that_it_leaves_has_said_all
    what_is_sent_to_one_that_is_gone_holds_up_nobody;);
in_world!(written_into Apart writes: cells_are_written_where_the_network_can;);
in_world!(sent_to ApartByMessages writes: cells_are_written_where_the_network_can;);
in_world!(coalesced_apart Apart coalesced: in_order_and_whole somebody_else_sends_them
    nothing_is_held_back_without_a_flush_thread;);
in_world!(coalesced_by_messages ApartByMessages coalesced: in_order_and_whole
    somebody_else_sends_them;);
in_world!(coalesced_in_pairs ApartInPairs coalesced: in_order_and_whole somebody_else_sends_them;);

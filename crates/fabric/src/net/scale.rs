//! Test that computes the memory of ranks on several hosts from the real layout: the table of
//! `docs/cluster.md`.

use super::network::BUFFERS;
use crate::layout::{Layout, MAX_RANKS};

const PAGE: &str = include_str!("../../../../docs/cluster.md");

/// Formats bytes, in the largest unit that leaves at least ten.
fn bytes(bytes: usize) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let (shift, unit) =
        units.into_iter().find(|(shift, _)| bytes >= 10 << shift).unwrap_or((0, "B"));
    format!("{} {unit}", (bytes as f64 / (1_usize << shift) as f64).round())
}

/// The row of the table for `hosts` hosts with `each` ranks each.
fn row(hosts: usize, each: usize) -> String {
    let ranks = hosts * each;
    let (Ok(host), Ok(own)) = (Layout::of_host(ranks, each), Layout::elsewhere(ranks, BUFFERS))
    else {
        return format!("| {ranks} | {hosts} × {each} | refused, as are all above {MAX_RANKS} |");
    };
    let columns = [
        bytes(host.total()),
        bytes(own.total()),
        bytes(BUFFERS * own.cell_bytes()),
        bytes(own.lane_from(0) - own.lane_to(0) + own.lane_to(1) - own.lane_from(0)),
    ];
    let connections = ranks - each;
    format!("| {ranks} | {hosts} × {each} | {} | {connections} |", columns.join(" | "))
}

#[test]
fn the_table_of_the_documents_is_that_of_the_layout() {
    let rows = [(2, 2), (2, 8), (8, 8), (16, 64), (1563, 64), (15_625, 64)];
    for row in rows.map(|(hosts, each)| row(hosts, each)) {
        assert!(PAGE.contains(&row), "docs/cluster.md lacks this row:\n{row}");
    }
}

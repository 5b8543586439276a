//! `motet info --fabric`: the libfabric provider that carries messages between hosts, and why.

use std::sync::Arc;

use motet_fabric::net::{self, Choice, Library, Offer};

use super::Page;

/// Writes the section about the network.
pub(super) fn show(page: &mut Page) {
    page.section("Messages between hosts");
    let library = match Library::open() {
        Ok(library) => library,
        Err(error) => {
            page.row("libfabric", error);
            return page.row("effect", "all ranks must run on one host, which needs no libfabric");
        }
    };
    page.row("libfabric", format_args!("{} ({})", library.version(), library.file()));
    let named = net::named_provider();
    match named.and_then(|named| net::choose(&library, named.as_deref())) {
        Err(error) => page.row("chosen", error),
        Ok(choice) => {
            page.row("chosen", &choice.offer);
            page.row("why", &choice.why);
            others(page, &choice.others);
            match net::remote_writes() {
                Ok(writes) => page.row("cells", how_cells_go(choice, writes, &library)),
                Err(error) => page.row("error", error),
            }
        }
    }
    match net::peer_timeout() {
        Ok(time) => {
            let time = time.as_secs_f64();
            page.row("timeout", format_args!("a rank that does not answer for {time} s is lost"));
        }
        Err(error) => page.row("error", error),
    }
    page.row("channels", "none between hosts: persistent operations send tagged messages");
}

/// How cells (short messages, and the parts of longer ones) reach other hosts.
fn how_cells_go(choice: Choice, writes: bool, library: &Arc<Library>) -> String {
    if !writes {
        return format!("sent as messages: {} is off", net::REMOTE_WRITES);
    }
    match choice.with_writes(library) {
        Err(error) => error.to_string(),
        Ok(Choice { writes: true, .. }) => "written into the memory of the receiver (RMA)".into(),
        Ok(_) => "sent as messages: the provider does not notify the target of writes".into(),
    }
}

/// The offers that were not chosen: one line for each provider and reason.
fn others(page: &mut Page, others: &[(Offer, String)]) {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    for (offer, why) in others {
        let line = format!("{}: {why}", offer.provider);
        match lines.iter_mut().find(|(known, _)| *known == line) {
            Some((_, domains)) => domains.push(&offer.domain),
            None => lines.push((line, vec![&offer.domain])),
        }
    }
    for (at, (line, mut domains)) in lines.into_iter().enumerate() {
        domains.dedup();
        let name = if at == 0 { "not chosen" } else { "" };
        page.row(name, format_args!("{line} ({})", domains.join(", ")));
    }
}

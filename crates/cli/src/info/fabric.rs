//! `motet info --fabric`: what carries messages between hosts, and why that.

use std::sync::Arc;

use motet_fabric::net::{self, Choice, Library, Offer};

use super::Page;

/// All there is to say about the network.
pub(super) fn show(page: &mut Page) {
    page.section("Messages between hosts");
    let library = match Library::open() {
        Ok(library) => library,
        Err(error) => {
            page.row("libfabric", error);
            return page.row("so", "ranks stay on one host, where nothing of it is needed");
        }
    };
    page.row("libfabric", format_args!("{} ({})", library.version(), library.file()));
    let named = std::env::var(net::PROVIDER).ok().filter(|name| !name.is_empty());
    match net::choose(&library, named.as_deref()) {
        Err(error) => page.row("chosen", error),
        Ok(choice) => {
            page.row("chosen", &choice.offer);
            page.row("why", &choice.why);
            others(page, &choice.others);
            match net::remote_writes() {
                Ok(writes) => page.row("cells", how_cells_go(choice, writes, &library)),
                Err(error) => page.row("mistake", error),
            }
        }
    }
    match net::peer_timeout() {
        Ok(time) => {
            let time = time.as_secs_f64();
            page.row("lost", format_args!("is a rank that does not answer for {time} s"));
        }
        Err(error) => page.row("mistake", error),
    }
    page.row("channels", "none between hosts: persistent operations send messages there");
}

/// How short messages, and the parts of longer ones, get to other hosts.
fn how_cells_go(choice: Choice, writes: bool, library: &Arc<Library>) -> String {
    if !writes {
        return format!("are sent as messages: {} says so", net::REMOTE_WRITES);
    }
    match choice.with_writes(library) {
        Err(error) => error.to_string(),
        Ok(Choice { writes: true, .. }) => "are written into the memory of their receiver".into(),
        Ok(_) => "are sent as messages: the provider tells nobody that it has written".into(),
    }
}

/// What was not chosen: a line for each provider and reason.
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

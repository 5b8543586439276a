//! `motet info --fabric`: what carries messages between hosts, and why that.

use motet_fabric::ofi::{self, Library, Offer};

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
    let named = std::env::var(ofi::PROVIDER).ok().filter(|name| !name.is_empty());
    match ofi::choose(&library, named.as_deref()) {
        Err(error) => page.row("chosen", error),
        Ok(choice) => {
            page.row("chosen", &choice.offer);
            page.row("why", &choice.why);
            others(page, &choice.others);
        }
    }
    match ofi::peer_timeout() {
        Ok(time) => {
            let time = time.as_secs_f64();
            page.row("lost", format_args!("is a rank that does not answer for {time} s"));
        }
        Err(error) => page.row("mistake", error),
    }
    page.row("channels", "none between hosts: persistent operations send messages there");
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

//! What the functions of `mpix.h` are for. Their families, their forms and their arguments are
//! described once, each in a table of its own; a description of a function is put together from
//! these. The header has it as a comment, and the manual as a page.

#![allow(dead_code)] // the header and the manual need a part of it each

use std::collections::BTreeSet;

use super::table::{Function, Home, Parameter, rows};

/// What holds for all functions: the words of the descriptions, and what errors mean.
pub(crate) const CONVENTIONS: [&str; 6] = [
    "An argument that is in is read, one that is out is written, and one that is inout is both. \
     Lists have an entry for each block, and may be NULL if there is none. Lists and handles may \
     be changed and freed when the call has returned; the operation goes on.",
    "A call returns MPI_SUCCESS or an error, which goes to the error handler of the communicator \
     first. Behind each class stands what causes it, mostly wrong arguments. MPI_ERR_BUFFER: NULL \
     where there are items, MPI_IN_PLACE where it is refused, or a receive buffer that overlaps \
     the send buffer. MPI_ERR_COUNT: a negative number of items. MPI_ERR_ARG: NULL for a list or \
     a result, or a value out of range. MPI_ERR_TYPE: no committed datatype.",
    "Any call may return MPI_ERR_OTHER (the library is not initialized, or check mode has found \
     calls of ranks that do not match), MPI_ERR_NO_MEM (no memory, or more pending operations than \
     MOTET_MAX_PENDING allows) and MPI_ERR_INTERN (a fault of the library).",
    "What goes wrong in an operation with a request is returned by MPI_Start, MPI_Wait or \
     MPI_Test.",
    "2008 proposal: T. Hoefler, A. Lumsdaine, C. Siebert, J. L. Traeff, \"A proposal for \
     persistent, sparse, and non-blocking collectives\", 30 May 2008.",
    "1997 two-phase proposal: J. Cownie, \"2-phase collective\", mail to the MPI Forum, 4 \
     February 1997; option 3 is that begin and end are both collective.",
];

/// What a form of collectives, or a kind of other functions, has in common.
#[derive(Clone, Debug)]
pub(crate) struct FormRow {
    /// By which families and arguments name it.
    pub(crate) key: String,
    /// The part of the header.
    pub(crate) chapter: String,
    /// The first sentence, around the purpose of the family.
    pub(crate) lead: String,
    /// Who calls it, and whether it waits.
    pub(crate) scope: String,
    /// What texts call those that take part, by the place holders that stand for them. Of
    /// `member of group` for `{to}` follows `member k of group` for `{to_k}`.
    pub(crate) words: Vec<(&'static str, String)>,
    /// Classes of errors, each with its cause.
    pub(crate) errors: Vec<(String, String)>,
    /// Parts of the source.
    pub(crate) source: Vec<String>,
}

/// What the forms of one operation have in common.
#[derive(Clone, Debug)]
pub(crate) struct FamilyRow {
    /// The name, without what tells the form.
    pub(crate) name: String,
    /// The form, if the name does not tell it.
    pub(crate) form: String,
    /// What is done, as a verb with its objects.
    pub(crate) purpose: String,
    /// Where it was proposed.
    pub(crate) proposal: String,
    /// The function of the standard that does the same.
    pub(crate) standard: String,
}

/// What an argument is, in some of the functions.
#[derive(Clone, Debug)]
pub(crate) struct ArgumentRow {
    /// The name.
    pub(crate) name: String,
    /// In which families (`Reduce`), forms (`begin`) or both (`Reduce/begin`); `*`: in all.
    pub(crate) of: Vec<String>,
    /// `in`, `out` or `inout`.
    pub(crate) direction: String,
    /// Classes of the errors that it causes.
    pub(crate) errors: Vec<String>,
    /// What it means, and in which unit.
    pub(crate) text: String,
}

/// The three tables.
#[derive(Clone, Debug)]
pub(crate) struct Descriptions {
    pub(crate) forms: Vec<FormRow>,
    pub(crate) families: Vec<FamilyRow>,
    pub(crate) arguments: Vec<ArgumentRow>,
}

/// A function, described.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    /// The part of the header.
    pub(crate) chapter: String,
    /// The name of its family.
    pub(crate) family: String,
    /// What it is for: a sentence.
    pub(crate) purpose: String,
    /// Who calls it, and whether it waits.
    pub(crate) scope: String,
    /// Its arguments: name, direction, meaning.
    pub(crate) arguments: Vec<[String; 3]>,
    /// Classes of errors, each with its causes.
    pub(crate) errors: Vec<(String, Vec<String>)>,
    /// The texts that it comes from.
    pub(crate) source: String,
}

/// Which rows describe a function, by their places.
struct Rows {
    form: usize,
    family: usize,
    /// Those of the arguments, and by which of the words in `of`.
    arguments: Vec<(usize, String)>,
}

fn list(text: &str, separator: &str) -> Vec<String> {
    text.split(separator).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

impl Descriptions {
    /// The tables as they are.
    pub(crate) fn read() -> Descriptions {
        let form = |row: Vec<&str>| FormRow {
            key: row[0].to_owned(),
            chapter: row[1].to_owned(),
            lead: row[2].to_owned(),
            scope: row[3].to_owned(),
            words: ["{rank}", "{ranks}", "{to}", "{from}"]
                .into_iter()
                .zip(&row[4..])
                .filter(|(_, word)| !word.is_empty())
                .map(|(holder, word)| (holder, (*word).to_owned()))
                .collect(),
            errors: list(row[8], "|")
                .iter()
                .map(|error| error.split_once(": ").unwrap_or((error, "")))
                .map(|(class, cause)| (class.to_owned(), cause.to_owned()))
                .collect(),
            source: list(row[9], "; "),
        };
        let family = |row: Vec<&str>| FamilyRow {
            name: row[0].to_owned(),
            form: row[1].to_owned(),
            purpose: row[2].to_owned(),
            proposal: row[3].to_owned(),
            standard: row[4].to_owned(),
        };
        let argument = |row: Vec<&str>| ArgumentRow {
            name: row[0].to_owned(),
            of: list(row[1], ","),
            direction: row[2].to_owned(),
            errors: list(row[3], ","),
            text: row[4].to_owned(),
        };
        Descriptions {
            forms: rows(include_str!("../tables/extension_forms.tsv")).map(form).collect(),
            families: rows(include_str!("../tables/extension_families.tsv")).map(family).collect(),
            arguments: rows(include_str!("../tables/extension_arguments.tsv"))
                .map(argument)
                .collect(),
        }
    }

    /// A function, described.
    ///
    /// # Errors
    /// What the tables do not say of it.
    pub(crate) fn of(&self, function: &Function) -> Result<Description, String> {
        let rows = self.find(function)?;
        let (form, family) = (&self.forms[rows.form], &self.families[rows.family]);
        let fill = |text: &str| filled(text, form, family);
        let mut errors: Vec<(String, Vec<String>)> = Vec::new();
        let mut add = |class: &str, cause: &str| match errors.iter_mut().find(|e| e.0 == class) {
            Some((_, causes)) => causes.push(cause.to_owned()),
            None => errors.push((class.to_owned(), vec![cause.to_owned()])),
        };
        let mut arguments = Vec::new();
        for row in rows.arguments.iter().map(|(place, _)| &self.arguments[*place]) {
            row.errors.iter().for_each(|class| add(class, &row.name));
            arguments.push([row.name.clone(), row.direction.clone(), fill(&row.text)]);
        }
        form.errors.iter().for_each(|(class, cause)| add(class, cause));
        let source: Vec<String> =
            form.source.iter().map(|part| fill(part)).filter(|part| !part.is_empty()).collect();
        let description = Description {
            chapter: form.chapter.clone(),
            family: family.name.clone(),
            purpose: fill(&form.lead),
            scope: fill(&form.scope),
            arguments,
            errors,
            source: source.join("; ") + ".",
        };
        let texts = description.arguments.iter().map(|[.., text]| text);
        let texts = texts.chain([&description.purpose, &description.scope, &description.source]);
        let wrong = texts.into_iter().find(|text| !is_printed(text)).cloned();
        wrong.map_or(Ok(description), |text| {
            Err(format!("{}: not to be printed: {text:?}", function.name))
        })
    }

    /// The rows that describe a function.
    fn find(&self, function: &Function) -> Result<Rows, String> {
        let name = &function.name;
        let (family, form) = parts_of(function);
        let family = self.families.iter().position(|row| row.name == family);
        let family = family.ok_or_else(|| format!("{name} is of no family"))?;
        let form = form.unwrap_or(&self.families[family].form);
        let form_row = self.forms.iter().position(|row| row.key == form);
        let form_row = form_row.ok_or_else(|| format!("{name} has no form"))?;
        let argument = |parameter: &Parameter| {
            self.argument(&parameter.name, &self.families[family].name, form)
                .map_err(|problem| format!("{name}: {} {problem}", parameter.name))
        };
        let arguments = function.parameters.iter().map(argument).collect::<Result<_, _>>()?;
        Ok(Rows { form: form_row, family, arguments })
    }

    /// The row of an argument: of those for this family or form the most particular one.
    fn argument(
        &self,
        name: &str,
        family: &str,
        form: &str,
    ) -> Result<(usize, String), &'static str> {
        let both = format!("{family}/{form}");
        let named = || self.arguments.iter().enumerate().filter(|(_, row)| row.name == name);
        for of in [&both, family, form, "*"] {
            let mut rows = named().filter(|(_, row)| row.of.iter().any(|each| each == of));
            match (rows.next(), rows.next()) {
                (Some((place, _)), None) => return Ok((place, of.to_owned())),
                (Some(_), Some(_)) => return Err("is described twice"),
                (None, _) => {}
            }
        }
        Err("is not described")
    }

    /// What is wrong with the tables: functions and arguments that they do not describe, rows that
    /// describe nothing, directions that contradict a prototype, and classes that there are not.
    pub(crate) fn problems(&self, functions: &[Function], classes: &[&str]) -> Vec<String> {
        let mut problems: Vec<String> =
            functions.iter().filter_map(|function| self.of(function).err()).collect();
        let mut used = BTreeSet::new();
        for function in functions {
            let Ok(Rows { form, family, arguments }) = self.find(function) else { continue };
            used.insert(self.forms[form].key.clone());
            used.insert(self.families[family].name.clone());
            for (parameter, (place, of)) in function.parameters.iter().zip(arguments) {
                let ArgumentRow { name, direction, .. } = &self.arguments[place];
                used.insert(format!("{name} of {of}"));
                if !may_be(parameter, direction) {
                    problems.push(format!("{}: {name} cannot be {direction}", function.name));
                }
            }
        }
        let forms = self.forms.iter().map(|row| row.key.clone());
        let families = self.families.iter().map(|row| row.name.clone());
        let arguments = self
            .arguments
            .iter()
            .flat_map(|row| row.of.iter().map(|of| format!("{} of {of}", row.name)));
        let idle = forms.chain(families).chain(arguments).filter(|row| !used.contains(row));
        problems.extend(idle.map(|row| format!("nothing is described by {row}")));
        let of_forms = self.forms.iter().flat_map(|row| row.errors.iter().map(|(class, _)| class));
        let of_arguments = self.arguments.iter().flat_map(|row| &row.errors);
        let unknown =
            of_forms.chain(of_arguments).filter(|class| !classes.contains(&class.as_str()));
        problems.extend(unknown.map(|class| format!("there is no class {class}")));
        problems
    }
}

/// The family of a function, and its form if the name tells it.
fn parts_of(function: &Function) -> (String, Option<&'static str>) {
    let name = plain(&function.name).trim_start_matches("MPIX_");
    let is_among = || function.parameters.iter().any(|each| each.name == "group");
    if let Some(family) = name.strip_suffix("_init") {
        return (family.to_owned(), Some(if is_among() { "among" } else { "exchange_init" }));
    }
    if let Some(family) = name.strip_suffix("_begin") {
        let is_near = family.starts_with("Neighbor_");
        return (family.to_owned(), Some(if is_near { "neighbor_begin" } else { "begin" }));
    }
    if let Some(family) = name.strip_suffix("_end") {
        return (family.to_owned(), Some("end"));
    }
    if function.home != Home::Module("sparse".to_owned()) {
        return (name.to_owned(), None);
    }
    match name.strip_prefix('I') {
        Some(rest) => (format!("{}{}", rest[..1].to_uppercase(), &rest[1..]), Some("iexchange")),
        None => (name.to_owned(), Some("exchange")),
    }
}

/// The name of the form of a function with small counts.
pub(crate) fn plain(name: &str) -> &str {
    name.strip_suffix("_c").unwrap_or(name)
}

/// A text with what its place holders stand for.
fn filled(text: &str, form: &FormRow, family: &FamilyRow) -> String {
    let text = text
        .replace("{purpose}", &family.purpose)
        .replace("{proposal}", &family.proposal)
        .replace("{standard}", &family.standard)
        .replace("{begin}", &format!("MPIX_{}_begin", family.name))
        .replace("{end}", &format!("MPIX_{}_end", family.name));
    form.words.iter().fold(text, |text, (holder, word)| {
        let (noun, group) = word.split_once(' ').unwrap_or((word, ""));
        let kth = holder.replace('}', "_k}");
        text.replace(&kth, &format!("{noun} k {group}")).replace(holder, word)
    })
}

/// Whether a text can stand in a comment of C and in a page: it has no open place holder.
fn is_printed(text: &str) -> bool {
    !text.is_empty() && text.is_ascii() && !text.contains(['{', '}']) && !text.contains("*/")
}

/// Whether a parameter can have a direction: what is passed by value, or points to constants, is
/// read.
fn may_be(parameter: &Parameter, direction: &str) -> bool {
    let is_pointer = parameter.kind.ends_with('*') || !parameter.suffix.is_empty();
    let is_written = is_pointer && !parameter.kind.starts_with("const ");
    if is_written { matches!(direction, "out" | "inout") } else { direction == "in" }
}

/// In which parameters the form with large counts differs: how it takes which of them.
pub(crate) fn widened(plain: &Function, wide: &Function) -> Vec<(String, Vec<String>)> {
    let mut kinds: Vec<(String, Vec<String>)> = Vec::new();
    for (narrow, wide) in plain.parameters.iter().zip(&wide.parameters) {
        if narrow.kind == wide.kind {
            continue;
        }
        let kind = wide.kind.trim_start_matches("const ").to_owned();
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, names)) => names.push(wide.name.clone()),
            None => kinds.push((kind, vec![wide.name.clone()])),
        }
    }
    kinds
}

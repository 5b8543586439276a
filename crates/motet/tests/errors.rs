//! Errors: their classes, the codes that a program adds, and the handlers of communicators.

use motet::{ErrorClass, ErrorCode, ErrorCodes, ErrorKind, TopologyError};

#[test]
fn classes_have_the_codes_of_the_standard() {
    let known = [
        (1, "MPI_ERR_BUFFER"),
        (7, "MPI_ERR_REQUEST"),
        (15, "MPI_ERR_TRUNCATE"),
        (19, "MPI_ERR_IN_STATUS"),
        (36, "MPI_ERR_KEYVAL"),
        (55, "MPI_ERR_UNSUPPORTED_OPERATION"),
        (62, "MPI_ERR_ABI"),
    ];
    for (code, name) in known {
        assert_eq!(ErrorClass::from_code(code).map(ErrorClass::name), Some(name));
    }
    assert_eq!(ErrorClass::ALL.len(), 62);
    for &class in ErrorClass::ALL {
        assert_eq!(ErrorClass::from_code(class.code()), Some(class));
        assert!(class.name().starts_with("MPI_ERR_") && !class.description().is_empty());
    }
    for code in [0, -1, 63, 16383, i32::MAX, i32::MIN] {
        assert_eq!(ErrorClass::from_code(code), None);
    }
}

#[test]
fn every_kind_tells_its_class() {
    let text = String::new;
    let kinds = [
        (ErrorKind::Request { problem: text() }, ErrorClass::Request),
        (ErrorKind::Tag { what: "tag", tag: 9, most: 8 }, ErrorClass::Tag),
        (ErrorKind::Buffer { which: "input", problem: text() }, ErrorClass::Buffer),
        (ErrorKind::Op { operator: text(), problem: text() }, ErrorClass::Op),
        (ErrorKind::Root { root: 3, size: 2 }, ErrorClass::Root),
        (ErrorKind::Communicator { problem: text() }, ErrorClass::Comm),
        (ErrorKind::Pending, ErrorClass::Pending),
        (ErrorKind::InStatus { failed: 1, operations: 2 }, ErrorClass::InStatus),
        (ErrorKind::Keyval { problem: "is not known" }, ErrorClass::Keyval),
        (ErrorKind::Unsupported { what: text(), instead: "" }, ErrorClass::UnsupportedOperation),
        (ErrorKind::NoMemory { what: "a list", bytes: 1 << 50 }, ErrorClass::NoMem),
        (TopologyError::Missing { found: "no", needed: "a graph" }.into(), ErrorClass::Topology),
        (TopologyError::Empty { dimension: 0 }.into(), ErrorClass::Dims),
        (ErrorKind::User { code: ErrorCode(15), text: text() }, ErrorClass::Truncate),
        (ErrorKind::User { code: ErrorCode(20000), text: text() }, ErrorClass::Other),
    ];
    for (kind, class) in kinds {
        let error = motet::Error::from(kind);
        assert_eq!(error.class(), class, "{error}");
    }
}

#[test]
fn a_program_adds_classes_codes_and_texts() -> motet::Result<()> {
    let mut codes = ErrorCodes::new();
    let last = codes.last_used();
    let weather = codes.add_class()?;
    assert!(weather > last && codes.last_used() == weather);
    assert_eq!(codes.class_of(weather), Some(weather));
    let storm = codes.add_code(weather)?;
    let short = codes.add_code(ErrorClass::Truncate.into())?;
    assert_eq!(
        (codes.class_of(storm), codes.class_of(short)),
        (Some(weather), Some(ErrorCode(15)))
    );
    assert_eq!(codes.text_of(storm).as_deref(), Some(""));
    codes.set_text(storm, "a storm")?;
    assert_eq!(codes.text_of(storm).as_deref(), Some("a storm"));
    assert!(codes.text_of(ErrorCode(15)).is_some_and(|text| text.contains("MPI_ERR_TRUNCATE")));
    assert_eq!((codes.text_of(ErrorCode(99)), codes.class_of(ErrorCode(99))), (None, None));
    codes.remove_class(weather).expect_err("it has a code");
    codes.remove_text(storm)?;
    codes.remove_text(storm).expect_err("it has no text any more");
    codes.remove_code(storm)?;
    codes.remove_class(weather)?;
    assert_eq!(codes.class_of(storm), None);
    assert_ne!(codes.add_class()?, weather, "a number is not used twice");
    Ok(())
}

#[test]
fn codes_that_the_program_has_not_added_are_left_alone() -> motet::Result<()> {
    let mut codes = ErrorCodes::new();
    let before = codes.clone();
    let refused = [
        codes.add_code(ErrorCode(5000)).map(drop),
        codes.set_text(ErrorCode(15), "other"),
        codes.remove_class(ErrorCode(15)),
        codes.remove_code(ErrorCode(15)),
        codes.remove_text(ErrorCode(15)),
    ];
    for refused in refused {
        assert_eq!(refused.expect_err("refused").class(), ErrorClass::Arg);
    }
    assert_eq!(codes, before);
    let class = codes.add_class()?;
    let code = codes.add_code(class)?;
    codes.remove_code(class).expect_err("it is a class");
    codes.remove_class(code).expect_err("it is a code");
    codes.add_code(code).expect_err("it is no class");
    codes.set_text(code, "x".repeat(511))?;
    codes.set_text(code, "x".repeat(512)).expect_err("too long");
    Ok(())
}

//! The error classes of the standard. (MPI 4.1 §9.4)

use std::fmt;

use crate::types::datatype::DatatypeError;

/// Declares the classes, with their names in the standard and their meanings.
macro_rules! classes {
    ($($class:ident = $code:literal, $name:literal, $description:literal;)*) => {
        /// The error classes of the standard. Their codes are those of its binary interface.
        ///
        /// ```
        /// use motet::ErrorClass;
        ///
        /// assert_eq!(ErrorClass::Truncate.name(), "MPI_ERR_TRUNCATE");
        /// assert_eq!(ErrorClass::from_code(15), Some(ErrorClass::Truncate));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[repr(i32)]
        pub enum ErrorClass {
            $(
                #[doc = concat!("`", $name, "`: ", $description, ".")]
                $class = $code,
            )*
        }

        impl ErrorClass {
            /// All classes, in the order of their codes.
            pub const ALL: &[ErrorClass] = &[$(ErrorClass::$class),*];

            /// The name in the standard.
            pub fn name(self) -> &'static str {
                match self {
                    $(ErrorClass::$class => $name,)*
                }
            }

            /// The meaning, in a few words for people.
            pub fn description(self) -> &'static str {
                match self {
                    $(ErrorClass::$class => $description,)*
                }
            }
        }
    };
}

classes! {
    Buffer = 1, "MPI_ERR_BUFFER", "a buffer that there cannot be, or that may not be passed here";
    Count = 2, "MPI_ERR_COUNT", "a wrong count";
    Type = 3, "MPI_ERR_TYPE", "a wrong datatype";
    Tag = 4, "MPI_ERR_TAG", "a tag that is out of range";
    Comm = 5, "MPI_ERR_COMM", "a communicator that the call does not allow";
    Rank = 6, "MPI_ERR_RANK", "a rank that is not in the group";
    Request = 7, "MPI_ERR_REQUEST", "a request that the call does not allow";
    Root = 8, "MPI_ERR_ROOT", "a root that is not in the group";
    Group = 9, "MPI_ERR_GROUP", "a group that the call does not allow";
    Op = 10, "MPI_ERR_OP", "an operator that there is not, or that is not made for the datatype";
    Topology = 11, "MPI_ERR_TOPOLOGY", "no topology, or not one of the kind that the call needs";
    Dims = 12, "MPI_ERR_DIMS", "wrong dimensions";
    Arg = 13, "MPI_ERR_ARG", "a wrong argument of another kind";
    Unknown = 14, "MPI_ERR_UNKNOWN", "an error of an unknown kind";
    Truncate = 15, "MPI_ERR_TRUNCATE",
        "a message that is longer than the buffer it was received into";
    Other = 16, "MPI_ERR_OTHER", "a known error of none of the other classes";
    Intern = 17, "MPI_ERR_INTERN", "a fault of the library itself";
    Pending = 18, "MPI_ERR_PENDING",
        "an operation that is not complete, because another one of its set went wrong";
    InStatus = 19, "MPI_ERR_IN_STATUS",
        "several operations were waited for, and each has its own outcome";
    Access = 20, "MPI_ERR_ACCESS", "permission to a file denied";
    Amode = 21, "MPI_ERR_AMODE", "a wrong mode of access to a file";
    Assert = 22, "MPI_ERR_ASSERT", "a wrong assertion about the use of a window";
    BadFile = 23, "MPI_ERR_BAD_FILE", "a wrong name of a file";
    Base = 24, "MPI_ERR_BASE", "memory that cannot be freed, since nobody allocated it";
    Conversion = 25, "MPI_ERR_CONVERSION",
        "data that could not be converted to another representation";
    Disp = 26, "MPI_ERR_DISP", "a wrong displacement or unit of displacements";
    DupDatarep = 27, "MPI_ERR_DUP_DATAREP", "a data representation of this name exists already";
    FileExists = 28, "MPI_ERR_FILE_EXISTS", "a file of this name exists already";
    FileInUse = 29, "MPI_ERR_FILE_IN_USE", "a file that some process has open";
    File = 30, "MPI_ERR_FILE", "a wrong handle of a file";
    InfoKey = 31, "MPI_ERR_INFO_KEY", "a key of a hint that is empty or too long";
    InfoNokey = 32, "MPI_ERR_INFO_NOKEY", "a key that the hints do not have";
    InfoValue = 33, "MPI_ERR_INFO_VALUE", "a value of a hint that is too long";
    Info = 34, "MPI_ERR_INFO", "hints that there are not";
    Io = 35, "MPI_ERR_IO", "reading or writing a file failed";
    Keyval = 36, "MPI_ERR_KEYVAL", "a key of attributes that there is not, or no more";
    Locktype = 37, "MPI_ERR_LOCKTYPE", "a wrong kind of lock";
    Name = 38, "MPI_ERR_NAME", "a name of a service that nobody has published";
    NoMem = 39, "MPI_ERR_NO_MEM", "no memory left";
    NotSame = 40, "MPI_ERR_NOT_SAME",
        "an argument that should be the same on all ranks, and is not";
    NoSpace = 41, "MPI_ERR_NO_SPACE", "no space left on the device";
    NoSuchFile = 42, "MPI_ERR_NO_SUCH_FILE", "a file that does not exist";
    Port = 43, "MPI_ERR_PORT", "a wrong name of a port";
    Quota = 44, "MPI_ERR_QUOTA", "more space on the device than is allowed";
    ReadOnly = 45, "MPI_ERR_READ_ONLY", "a file or file system that can only be read";
    RmaAttach = 46, "MPI_ERR_RMA_ATTACH", "memory that could not be attached to a window";
    RmaConflict = 47, "MPI_ERR_RMA_CONFLICT", "accesses to a window that are in conflict";
    RmaRange = 48, "MPI_ERR_RMA_RANGE", "memory that is not in the window";
    RmaShared = 49, "MPI_ERR_RMA_SHARED", "memory that cannot be shared";
    RmaSync = 50, "MPI_ERR_RMA_SYNC",
        "accesses to a window that are not synchronised as they should be";
    Service = 51, "MPI_ERR_SERVICE", "a name of a service that cannot be withdrawn";
    Size = 52, "MPI_ERR_SIZE", "a wrong size";
    Spawn = 53, "MPI_ERR_SPAWN", "processes that could not be started";
    UnsupportedDatarep = 54, "MPI_ERR_UNSUPPORTED_DATAREP",
        "a data representation that is not supported";
    UnsupportedOperation = 55, "MPI_ERR_UNSUPPORTED_OPERATION",
        "an operation that is not supported";
    Win = 56, "MPI_ERR_WIN", "a wrong handle of a window";
    RmaFlavor = 57, "MPI_ERR_RMA_FLAVOR", "a window of a kind that the call does not allow";
    ProcAborted = 58, "MPI_ERR_PROC_ABORTED", "a rank that was needed is gone";
    ValueTooLarge = 59, "MPI_ERR_VALUE_TOO_LARGE", "a value that does not fit where it should go";
    Session = 60, "MPI_ERR_SESSION", "a wrong handle of a session";
    Errhandler = 61, "MPI_ERR_ERRHANDLER", "a wrong handle of an error handler";
    Abi = 62, "MPI_ERR_ABI", "a binary interface that the library does not offer";
}

impl ErrorClass {
    /// The code in the binary interface of the standard.
    pub fn code(self) -> i32 {
        self as i32
    }

    /// The class with this code; code 0 means success and has none.
    pub fn from_code(code: i32) -> Option<ErrorClass> {
        let place = usize::try_from(code).ok()?.checked_sub(1)?;
        ErrorClass::ALL.get(place).copied()
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Implemented here, because the module of datatypes knows no error classes.
impl DatatypeError {
    /// Its class in the standard.
    pub fn class(&self) -> ErrorClass {
        match self {
            DatatypeError::TooSmall { what: "count" | "block length", .. } => ErrorClass::Count,
            DatatypeError::TooDeep(_) => ErrorClass::Type,
            DatatypeError::Truncated { .. } => ErrorClass::Truncate,
            DatatypeError::Outside { .. } => ErrorClass::Buffer,
            DatatypeError::Conversion(_) => ErrorClass::Other,
            _ => ErrorClass::Arg,
        }
    }
}

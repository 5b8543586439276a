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
    Buffer = 1, "MPI_ERR_BUFFER", "a buffer that is invalid, or not allowed in this call";
    Count = 2, "MPI_ERR_COUNT", "an invalid count";
    Type = 3, "MPI_ERR_TYPE", "an invalid datatype";
    Tag = 4, "MPI_ERR_TAG", "a tag out of range";
    Comm = 5, "MPI_ERR_COMM", "a communicator that is invalid, or not allowed in this call";
    Rank = 6, "MPI_ERR_RANK", "a rank that is not in the group";
    Request = 7, "MPI_ERR_REQUEST", "a request that is invalid, or not allowed in this call";
    Root = 8, "MPI_ERR_ROOT", "a root that is not in the group";
    Group = 9, "MPI_ERR_GROUP", "a group that is invalid, or not allowed in this call";
    Op = 10, "MPI_ERR_OP", "an operator that is invalid, or not defined for the datatype";
    Topology = 11, "MPI_ERR_TOPOLOGY", "no topology, or not of the kind that the call needs";
    Dims = 12, "MPI_ERR_DIMS", "invalid dimensions";
    Arg = 13, "MPI_ERR_ARG", "an invalid argument of another kind";
    Unknown = 14, "MPI_ERR_UNKNOWN", "an unknown error";
    Truncate = 15, "MPI_ERR_TRUNCATE", "a message longer than the receive buffer";
    Other = 16, "MPI_ERR_OTHER", "a known error of no other class";
    Intern = 17, "MPI_ERR_INTERN", "an internal error of the library";
    Pending = 18, "MPI_ERR_PENDING",
        "an operation that is not complete, because another one of its set failed";
    InStatus = 19, "MPI_ERR_IN_STATUS",
        "some operations of a set failed, and each has its own error";
    Access = 20, "MPI_ERR_ACCESS", "permission denied for a file";
    Amode = 21, "MPI_ERR_AMODE", "an invalid access mode of a file";
    Assert = 22, "MPI_ERR_ASSERT", "an invalid assertion about the use of a window";
    BadFile = 23, "MPI_ERR_BAD_FILE", "an invalid file name";
    Base = 24, "MPI_ERR_BASE", "memory to free that was not allocated by the library";
    Conversion = 25, "MPI_ERR_CONVERSION",
        "data that could not be converted to another representation";
    Disp = 26, "MPI_ERR_DISP", "an invalid displacement or displacement unit";
    DupDatarep = 27, "MPI_ERR_DUP_DATAREP", "a data representation of this name exists already";
    FileExists = 28, "MPI_ERR_FILE_EXISTS", "a file of this name exists already";
    FileInUse = 29, "MPI_ERR_FILE_IN_USE", "a file that some process has open";
    File = 30, "MPI_ERR_FILE", "an invalid file handle";
    InfoKey = 31, "MPI_ERR_INFO_KEY", "an info key that is empty or too long";
    InfoNokey = 32, "MPI_ERR_INFO_NOKEY", "an info key that is not set";
    InfoValue = 33, "MPI_ERR_INFO_VALUE", "an info value that is too long";
    Info = 34, "MPI_ERR_INFO", "an invalid info object";
    Io = 35, "MPI_ERR_IO", "a failed read or write of a file";
    Keyval = 36, "MPI_ERR_KEYVAL", "an attribute key that is unknown or freed";
    Locktype = 37, "MPI_ERR_LOCKTYPE", "an invalid lock type";
    Name = 38, "MPI_ERR_NAME", "a service name that is not published";
    NoMem = 39, "MPI_ERR_NO_MEM", "out of memory";
    NotSame = 40, "MPI_ERR_NOT_SAME", "an argument that must be the same on all ranks, and is not";
    NoSpace = 41, "MPI_ERR_NO_SPACE", "no space left on the device";
    NoSuchFile = 42, "MPI_ERR_NO_SUCH_FILE", "a file that does not exist";
    Port = 43, "MPI_ERR_PORT", "an invalid port name";
    Quota = 44, "MPI_ERR_QUOTA", "more space on the device than the quota allows";
    ReadOnly = 45, "MPI_ERR_READ_ONLY", "a read-only file or file system";
    RmaAttach = 46, "MPI_ERR_RMA_ATTACH", "memory that cannot be attached to a window";
    RmaConflict = 47, "MPI_ERR_RMA_CONFLICT", "conflicting accesses to a window";
    RmaRange = 48, "MPI_ERR_RMA_RANGE", "memory that is not in the window";
    RmaShared = 49, "MPI_ERR_RMA_SHARED", "memory that cannot be shared";
    RmaSync = 50, "MPI_ERR_RMA_SYNC", "accesses to a window without correct synchronisation";
    Service = 51, "MPI_ERR_SERVICE", "a service name that cannot be unpublished";
    Size = 52, "MPI_ERR_SIZE", "an invalid size";
    Spawn = 53, "MPI_ERR_SPAWN", "processes that could not be started";
    UnsupportedDatarep = 54, "MPI_ERR_UNSUPPORTED_DATAREP",
        "a data representation that is not supported";
    UnsupportedOperation = 55, "MPI_ERR_UNSUPPORTED_OPERATION",
        "an operation that is not supported";
    Win = 56, "MPI_ERR_WIN", "an invalid window handle";
    RmaFlavor = 57, "MPI_ERR_RMA_FLAVOR", "a window of a kind that the call does not allow";
    ProcAborted = 58, "MPI_ERR_PROC_ABORTED", "a needed rank has failed or finalized";
    ValueTooLarge = 59, "MPI_ERR_VALUE_TOO_LARGE", "a value too large for its destination";
    Session = 60, "MPI_ERR_SESSION", "an invalid session handle";
    Errhandler = 61, "MPI_ERR_ERRHANDLER", "an invalid error handler";
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

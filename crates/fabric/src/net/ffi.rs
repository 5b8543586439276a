//! FFI bindings of libfabric: the layout of the objects and tables of functions that Motet uses.
//!
//! Written by hand from the documented interface of version 1.17. Later versions only add fields at
//! the ends, and the library allocates every object, so the same binding serves all versions; a
//! test compares it with the header where one is installed. Fields that are not used keep the
//! others in place. Function tables belong to the library, which is never closed; an object that
//! has been opened has all the functions that are named here.

use std::ffi::{c_char, c_int, c_void};

/// The version of the interface of this binding: the library is asked to behave like it.
pub(super) const INTERFACE: u32 = 1 << 16 | 17;

pub(super) const REMOTE: u64 = 1 << 2;
pub(super) const TAGGED: u64 = 1 << 3;
pub(super) const WRITE: u64 = 1 << 9;
pub(super) const RECEIVE: u64 = 1 << 10;
pub(super) const SEND: u64 = 1 << 11;
pub(super) const REMOTE_WRITE: u64 = 1 << 13;
/// Flag of a completion: it carries immediate data of its sender.
pub(super) const REMOTE_WORD: u64 = 1 << 17;
/// Mode: the library may write into the first four, or eight, words behind a context pointer.
pub(super) const CONTEXT: u64 = 1 << 59;
pub(super) const CONTEXT2: u64 = 1 << 52;
pub(super) const LOCAL_MEMORY: c_int = 1 << 2;
pub(super) const VIRTUAL_ADDRESSES: c_int = 1 << 4;
pub(super) const ALLOCATED: c_int = 1 << 5;
pub(super) const PROVIDER_KEYS: c_int = 1 << 6;
pub(super) const MEMORY_OF_ENDPOINT: c_int = 1 << 9;
pub(super) const BY_DOMAIN: c_int = 3;
pub(super) const MANAGED: c_int = 2;
pub(super) const RELIABLE_DATAGRAMS: c_int = 3;
pub(super) const TABLE: c_int = 2;
pub(super) const TAGGED_ENTRIES: c_int = 4;
pub(super) const WAIT_NONE: c_int = 0;
pub(super) const WAIT_ANY: c_int = 1;
pub(super) const ENABLE: c_int = 6;
pub(super) const ANY_ADDRESS: u64 = u64::MAX;
pub(super) const ADDRESS_V4: u32 = 2;
pub(super) const ADDRESS_V6: u32 = 3;
/// Error codes of libfabric, besides those of the system.
pub(super) const ERROR_AVAILABLE: i32 = 259;

/// A function that Motet does not use.
pub(super) type Unused = *const c_void;

#[repr(C)]
pub(super) struct Fid {
    pub class: usize,
    pub context: *mut c_void,
    pub ops: &'static FidOps,
}

#[repr(C)]
pub(super) struct FidOps {
    pub size: usize,
    pub close: Option<unsafe extern "C" fn(*mut Fid) -> c_int>,
    pub bind: Option<unsafe extern "C" fn(*mut Fid, *mut Fid, u64) -> c_int>,
    pub control: Option<unsafe extern "C" fn(*mut Fid, c_int, *mut c_void) -> c_int>,
}

#[repr(C)]
pub(super) struct SendAttributes {
    pub caps: u64,
    pub mode: u64,
    pub op_flags: u64,
    pub msg_order: u64,
    pub comp_order: u64,
    pub inject_size: usize,
    pub size: usize,
    pub iov_limit: usize,
}

#[repr(C)]
pub(super) struct EndpointAttributes {
    pub kind: c_int,
    pub protocol: u32,
    pub protocol_version: u32,
    pub max_msg_size: usize,
    pub msg_prefix_size: usize,
    pub max_order_raw_size: usize,
    pub max_order_war_size: usize,
    pub max_order_waw_size: usize,
    pub mem_tag_format: u64,
}

#[repr(C)]
pub(super) struct DomainAttributes {
    pub domain: *mut Domain,
    pub name: *mut c_char,
    pub threading: c_int,
    pub control_progress: c_int,
    pub data_progress: c_int,
    pub resource_mgmt: c_int,
    pub av_type: c_int,
    pub mr_mode: c_int,
    pub mr_key_size: usize,
    pub cq_data_size: usize,
}

#[repr(C)]
pub(super) struct FabricAttributes {
    pub fabric: *mut Fabric,
    pub name: *mut c_char,
    pub prov_name: *mut c_char,
    pub prov_version: u32,
    pub api_version: u32,
}

#[repr(C)]
pub(super) struct Info {
    pub next: *mut Info,
    pub caps: u64,
    pub mode: u64,
    pub addr_format: u32,
    pub src_addrlen: usize,
    pub dest_addrlen: usize,
    pub src_addr: *mut c_void,
    pub dest_addr: *mut c_void,
    pub handle: *mut Fid,
    pub tx_attr: *mut SendAttributes,
    pub rx_attr: *mut c_void,
    pub ep_attr: *mut EndpointAttributes,
    pub domain_attr: *mut DomainAttributes,
    pub fabric_attr: *mut FabricAttributes,
}

#[repr(C)]
pub(super) struct FabricOps {
    pub size: usize,
    pub domain: Option<
        unsafe extern "C" fn(*mut Fabric, *mut Info, *mut *mut Domain, *mut c_void) -> c_int,
    >,
}

#[repr(C)]
pub(super) struct Fabric {
    pub fid: Fid,
    pub ops: &'static FabricOps,
}

#[repr(C)]
pub(super) struct DomainOps {
    pub size: usize,
    pub av_open: Option<
        unsafe extern "C" fn(*mut Domain, *mut AvAttributes, *mut *mut Av, *mut c_void) -> c_int,
    >,
    pub cq_open: Option<
        unsafe extern "C" fn(*mut Domain, *mut CqAttributes, *mut *mut Cq, *mut c_void) -> c_int,
    >,
    pub endpoint:
        Option<unsafe extern "C" fn(*mut Domain, *mut Info, *mut *mut Ep, *mut c_void) -> c_int>,
}

#[repr(C)]
pub(super) struct MemoryOps {
    pub size: usize,
    pub reg: Option<
        unsafe extern "C" fn(
            *mut Fid,
            *const c_void,
            usize,
            u64,
            u64,
            u64,
            u64,
            *mut *mut Memory,
            *mut c_void,
        ) -> c_int,
    >,
}

#[repr(C)]
pub(super) struct Domain {
    pub fid: Fid,
    pub ops: &'static DomainOps,
    pub mr: &'static MemoryOps,
}

/// Registered memory.
#[repr(C)]
pub(super) struct Memory {
    pub fid: Fid,
    pub mem_desc: *mut c_void,
    pub key: u64,
}

#[repr(C)]
pub(super) struct AvAttributes {
    pub kind: c_int,
    pub rx_ctx_bits: c_int,
    pub count: usize,
    pub ep_per_node: usize,
    pub name: *const c_char,
    pub map_addr: *mut c_void,
    pub flags: u64,
}

#[repr(C)]
pub(super) struct AvOps {
    pub size: usize,
    pub insert: Option<
        unsafe extern "C" fn(*mut Av, *const c_void, usize, *mut u64, u64, *mut c_void) -> c_int,
    >,
}

/// An address vector.
#[repr(C)]
pub(super) struct Av {
    pub fid: Fid,
    pub ops: &'static AvOps,
}

#[repr(C)]
pub(super) struct CqAttributes {
    pub size: usize,
    pub flags: u64,
    pub format: c_int,
    pub wait_obj: c_int,
    pub signaling_vector: c_int,
    pub wait_cond: c_int,
    pub wait_set: *mut c_void,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct CqEntry {
    pub op_context: *mut c_void,
    pub flags: u64,
    pub len: usize,
    pub buf: *mut c_void,
    pub data: u64,
    pub tag: u64,
}

#[repr(C)]
pub(super) struct CqError {
    pub op_context: *mut c_void,
    pub flags: u64,
    pub len: usize,
    pub buf: *mut c_void,
    pub data: u64,
    pub tag: u64,
    pub olen: usize,
    pub err: c_int,
    pub prov_errno: c_int,
    pub err_data: *mut c_void,
    pub err_data_size: usize,
    /// Later versions add fields; they write as many fields as the requested version has.
    pub more: [u64; 4],
}

#[repr(C)]
pub(super) struct CqOps {
    pub size: usize,
    pub read: Option<unsafe extern "C" fn(*mut Cq, *mut c_void, usize) -> isize>,
    pub readfrom: Unused,
    pub readerr: Option<unsafe extern "C" fn(*mut Cq, *mut CqError, u64) -> isize>,
    pub sread:
        Option<unsafe extern "C" fn(*mut Cq, *mut c_void, usize, *const c_void, c_int) -> isize>,
    pub sreadfrom: Unused,
    pub signal: Option<unsafe extern "C" fn(*mut Cq) -> c_int>,
}

/// A completion queue.
#[repr(C)]
pub(super) struct Cq {
    pub fid: Fid,
    pub ops: &'static CqOps,
}

#[repr(C)]
pub(super) struct EpOps {
    pub size: usize,
    pub cancel: Option<unsafe extern "C" fn(*mut Fid, *mut c_void) -> isize>,
}

#[repr(C)]
pub(super) struct NameOps {
    pub size: usize,
    pub setname: Unused,
    pub getname: Option<unsafe extern "C" fn(*mut Fid, *mut c_void, *mut usize) -> c_int>,
}

#[repr(C)]
pub(super) struct TaggedOps {
    pub size: usize,
    pub recv: Option<
        unsafe extern "C" fn(
            *mut Ep,
            *mut c_void,
            usize,
            *mut c_void,
            u64,
            u64,
            u64,
            *mut c_void,
        ) -> isize,
    >,
    pub recvv: Unused,
    pub recvmsg: Unused,
    pub send: Option<
        unsafe extern "C" fn(
            *mut Ep,
            *const c_void,
            usize,
            *mut c_void,
            u64,
            u64,
            *mut c_void,
        ) -> isize,
    >,
    pub sendv: Option<
        unsafe extern "C" fn(
            *mut Ep,
            *const libc::iovec,
            *mut *mut c_void,
            usize,
            u64,
            u64,
            *mut c_void,
        ) -> isize,
    >,
    pub sendmsg: Unused,
    pub inject: Option<unsafe extern "C" fn(*mut Ep, *const c_void, usize, u64, u64) -> isize>,
}

#[repr(C)]
pub(super) struct RemoteOps {
    pub size: usize,
    pub read: Unused,
    pub readv: Unused,
    pub readmsg: Unused,
    pub write: Unused,
    pub writev: Unused,
    pub writemsg: Unused,
    pub inject: Unused,
    pub writedata: Option<
        unsafe extern "C" fn(
            *mut Ep,
            *const c_void,
            usize,
            *mut c_void,
            u64,
            u64,
            u64,
            u64,
            *mut c_void,
        ) -> isize,
    >,
    pub injectdata:
        Option<unsafe extern "C" fn(*mut Ep, *const c_void, usize, u64, u64, u64, u64) -> isize>,
}

/// An endpoint.
#[repr(C)]
pub(super) struct Ep {
    pub fid: Fid,
    pub ops: &'static EpOps,
    pub cm: &'static NameOps,
    pub msg: Unused,
    /// May be absent from an endpoint that was opened without it.
    pub rma: Option<&'static RemoteOps>,
    pub tagged: &'static TaggedOps,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;
    use std::mem::offset_of;
    use std::process::Command;

    /// Offsets of fields, by what they are called in C.
    macro_rules! offsets {
        ($list:ident; $($rust:ident = $c:literal: $($field:ident $(($name:literal))?)+;)+) => {
            $($($list.push(($c, offsets!(@name $field $($name)?), offset_of!($rust, $field)));)+)+
        };
        (@name $field:ident $name:literal) => { $name };
        (@name $field:ident) => { stringify!($field) };
    }

    fn all() -> Vec<(&'static str, &'static str, usize)> {
        let mut list = Vec::new();
        offsets! { list;
            Fid = "struct fid": class("fclass") context ops;
            FidOps = "struct fi_ops": size close bind control;
            SendAttributes = "struct fi_tx_attr": caps mode op_flags msg_order comp_order
                inject_size size iov_limit;
            EndpointAttributes = "struct fi_ep_attr": kind("type") protocol max_msg_size
                mem_tag_format;
            DomainAttributes = "struct fi_domain_attr": domain name threading control_progress
                data_progress resource_mgmt av_type mr_mode mr_key_size cq_data_size;
            FabricAttributes = "struct fi_fabric_attr": fabric name prov_name prov_version
                api_version;
            Info = "struct fi_info": next caps mode addr_format src_addrlen dest_addrlen src_addr
                dest_addr handle tx_attr rx_attr ep_attr domain_attr fabric_attr;
            FabricOps = "struct fi_ops_fabric": size domain;
            Fabric = "struct fid_fabric": fid ops;
            DomainOps = "struct fi_ops_domain": size av_open cq_open endpoint;
            MemoryOps = "struct fi_ops_mr": size reg;
            Domain = "struct fid_domain": fid ops mr;
            Memory = "struct fid_mr": fid mem_desc key;
            AvAttributes = "struct fi_av_attr": kind("type") rx_ctx_bits count ep_per_node name
                map_addr flags;
            AvOps = "struct fi_ops_av": size insert;
            Av = "struct fid_av": fid ops;
            CqAttributes = "struct fi_cq_attr": size flags format wait_obj signaling_vector
                wait_cond wait_set;
            CqEntry = "struct fi_cq_tagged_entry": op_context flags len buf data tag;
            CqError = "struct fi_cq_err_entry": op_context flags len buf data tag olen err
                prov_errno err_data err_data_size;
            CqOps = "struct fi_ops_cq": size read readfrom readerr sread sreadfrom signal;
            Cq = "struct fid_cq": fid ops;
            EpOps = "struct fi_ops_ep": size cancel;
            NameOps = "struct fi_ops_cm": size setname getname;
            TaggedOps = "struct fi_ops_tagged": size recv recvv recvmsg send sendv sendmsg inject;
            RemoteOps = "struct fi_ops_rma": size read readv readmsg write writev writemsg inject
                writedata injectdata;
            Ep = "struct fid_ep": fid ops cm msg rma tagged;
        }
        list
    }

    fn constants() -> Vec<(&'static str, u64)> {
        let of = |value: c_int| value as u64;
        vec![
            ("FI_RMA", REMOTE),
            ("FI_TAGGED", TAGGED),
            ("FI_WRITE", WRITE),
            ("FI_REMOTE_WRITE", REMOTE_WRITE),
            ("FI_REMOTE_CQ_DATA", REMOTE_WORD),
            ("FI_RECV", RECEIVE),
            ("FI_SEND", SEND),
            ("FI_CONTEXT", CONTEXT),
            ("FI_CONTEXT2", CONTEXT2),
            ("FI_MR_LOCAL", of(LOCAL_MEMORY)),
            ("FI_MR_VIRT_ADDR", of(VIRTUAL_ADDRESSES)),
            ("FI_MR_ALLOCATED", of(ALLOCATED)),
            ("FI_MR_PROV_KEY", of(PROVIDER_KEYS)),
            ("FI_MR_ENDPOINT", of(MEMORY_OF_ENDPOINT)),
            ("FI_THREAD_DOMAIN", of(BY_DOMAIN)),
            ("FI_RM_ENABLED", of(MANAGED)),
            ("FI_EP_RDM", of(RELIABLE_DATAGRAMS)),
            ("FI_AV_TABLE", of(TABLE)),
            ("FI_CQ_FORMAT_TAGGED", of(TAGGED_ENTRIES)),
            ("FI_WAIT_NONE", of(WAIT_NONE)),
            ("FI_WAIT_UNSPEC", of(WAIT_ANY)),
            ("FI_ENABLE", of(ENABLE)),
            ("FI_ADDR_UNSPEC", ANY_ADDRESS),
            ("FI_SOCKADDR_IN", u64::from(ADDRESS_V4)),
            ("FI_SOCKADDR_IN6", u64::from(ADDRESS_V6)),
            ("FI_EAVAIL", ERROR_AVAILABLE as u64),
        ]
    }

    /// Asks the C compiler for the layouts in the header, if both are installed.
    #[test]
    fn the_binding_is_what_the_header_says() {
        let mut program = String::from("#include <stdio.h>\n#include <stddef.h>\n");
        for header in
            ["fabric", "fi_domain", "fi_eq", "fi_endpoint", "fi_cm", "fi_rma", "fi_tagged"]
        {
            writeln!(program, "#include <rdma/{header}.h>").unwrap();
        }
        program.push_str("#include <rdma/fi_errno.h>\nint main(void) {\n");
        for (of, field, _) in all() {
            writeln!(program, "printf(\"%zu\\n\", offsetof({of}, {field}));").unwrap();
        }
        for (name, _) in constants() {
            writeln!(program, "printf(\"%llu\\n\", (unsigned long long)({name}));").unwrap();
        }
        program.push_str("return 0; }\n");
        let place = std::env::temp_dir().join(format!("motet-binding-{}", std::process::id()));
        let source = place.with_extension("c");
        std::fs::write(&source, program).unwrap();
        let built = Command::new("cc").arg("-o").arg(&place).arg(&source).output();
        let output = built.ok().filter(|built| built.status.success());
        let output = output.map(|_| Command::new(&place).output().unwrap().stdout);
        for file in [&place, &source] {
            let _ = std::fs::remove_file(file);
        }
        let Some(output) = output else {
            eprintln!("not compared: no C compiler, or no header of libfabric (libfabric-dev)");
            return;
        };
        let output = String::from_utf8(output).unwrap();
        let ours = all().into_iter().map(|(of, field, at)| (format!("{of}.{field}"), at as u64));
        let ours = ours.chain(constants().into_iter().map(|(name, value)| (name.into(), value)));
        let theirs = output.lines().map(|line| line.parse::<u64>().unwrap());
        let ours: Vec<_> = ours.collect();
        assert_eq!(ours.len(), theirs.clone().count());
        for ((name, ours), theirs) in ours.into_iter().zip(theirs) {
            assert_eq!(ours, theirs, "{name}");
        }
    }
}

//! How a message travels inside a host: every threshold in bytes, and the decisions over them.
//!
//! [`choose`] says how the sender sends a message, [`choose_rndv`] how the receiver gets one that
//! was only announced. Both are pure: what they need of the state of an endpoint comes as plain
//! values. Where they choose what the state does not allow (no free bounce buffer, no room in the
//! ring, no lease, a kernel that refuses to copy), the endpoint falls back, and says so where it
//! does: `send_with` and `submit` in `send.rs`, `start_rndv` in `recv.rs`. The table of all choices
//! is `protocol/golden.txt`; `../README.md`, "How a message travels", explains it.

#[cfg(test)]
mod golden;

use crate::copy_bandwidth::CopyBandwidth;
use crate::layout::{Layout, MAX_RANKS};
use crate::packet::{Header, SEND_ID_BYTES};
use crate::spsc::Ring;
use crate::{SharedSegment, TrafficHint};

/// The longest message that is sent in cells: two copies, but the sender waits for no answer.
const EAGER_MAX_BYTES: usize = 16 << 10;
/// A message takes at most this part of the cells of a ring: one half or more might never be free.
const EAGER_RING_SHARE: usize = 4;
/// The longest message in a bounce buffer where one copy by the kernel is faster than two by cores.
pub(super) const BOUNCE_MAX_BYTES: usize = 64 << 10;
/// The same for a message that its receiver leaves [as it is](TrafficHint::Untouched), where ranks
/// share cores: waiting for its only copy takes less time than a second copy.
pub(super) const UNTOUCHED_MAX_BYTES: usize = 32 << 10;
/// Up to this number of ranks on a core, the sender of a single untouched message waits for its
/// receiver.
pub(super) const WAITING_RANKS_PER_CORE_MAX: usize = 4;
/// The same for a message of an exchange, where each end waits for the other in any case.
pub(super) const EXCHANGE_MAX_BYTES: usize = 16 << 10;
/// One-way messages in bounce buffers where each rank has a core and the kernel copies fast:
/// shorter ones would find their buffers further from the caches than cells are.
pub(super) const ONE_WAY_BYTES: SizeRange = SizeRange { above: 16 << 10, longest: 32 << 10 };
/// The longest message that is sent in a cell where each rank has a core, if a bounce buffer may
/// take it: a cell of that length has left the caches since its last use, a recycled buffer has
/// not.
pub(super) const BOUNCE_MIN_BYTES: usize = 2 << 10;
/// The same for messages of an exchange. A shorter message is never in a bounce buffer for one
/// receiver. It is a constant, so that short messages pass this question without a load.
pub(super) const EXCHANGE_MIN_BYTES: usize = 512;
/// The same where ranks share cores; other messages are sent in cells if they fit.
pub(super) const OVERSUBSCRIBED_EXCHANGE_MIN_BYTES: usize = 4 << 10;
/// Where each rank has a core, a longer message is read while it is written, in portions of this
/// length. An operand is complete before it is announced, since its receiver reads it in place.
pub(super) const READ_WHILE_WRITTEN_BYTES: usize = 16 << 10;
/// Where ranks share cores and the kernel is slow: the longest message of a plan in a bounce
/// buffer. Also far from the caches two copies by cores take less time than one by the kernel.
const OVERSUBSCRIBED_BOUNCE_MAX_BYTES: usize = 1 << 20;
/// The same for an operand, which is read where it lies. Up to 16 ranks have pools with room for
/// one of these, 64 for one of 3 MiB; what finds no room goes by the kernel.
pub(super) const OVERSUBSCRIBED_OPERAND_MAX_BYTES: usize = 4 << 20;
/// The same for an untouched message that is one of several: their sender would copy all of them,
/// one after the other, whereas their receivers copy at the same time.
const OVERSUBSCRIBED_FAN_OUT_MAX_BYTES: usize = 64 << 10;
/// The longest message in a bounce buffer although it lies in a shared heap, where its receiver
/// could read it.
const SHARED_HEAP_MAX_BYTES: usize = 16 << 10;
/// The same for an operand where ranks share cores: its sender works until its receiver runs.
const AWAITED_OPERAND_MAX_BYTES: usize = 64 << 10;
/// Messages up to this length are copied by the kernel, however slow it is, if no bounce buffer is
/// free.
pub(super) const PIPELINE_MIN_BYTES: usize = 64 << 10;
/// Shorter messages are copied by the receiver alone: they stay in its cache, and a notice to the
/// sender and a copy in parts cost about what they would save.
pub(crate) const COOPERATIVE_MIN_BYTES: usize = 64 << 10;
/// The longest operand that its receiver copies alone: what the sender copies is in the cache of
/// the sender, and reducing it then takes longer than the copy saves. Longer operands leave the
/// caches before they are reduced.
pub(super) const OPERAND_MAX_BYTES: usize = 512 << 10;

/// Lengths of messages in bytes: more than `above`, up to `longest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeRange {
    /// The longest message that is too short.
    pub above: usize,
    /// The longest message that belongs to it.
    pub longest: usize,
}

impl SizeRange {
    const NONE: SizeRange = SizeRange { above: 0, longest: 0 };

    fn new(above: usize, longest: usize) -> SizeRange {
        SizeRange { above, longest }
    }

    /// Whether a message of so many bytes belongs to it.
    #[inline]
    pub fn contains(&self, bytes: usize) -> bool {
        bytes > self.above && bytes <= self.longest
    }
}

/// What the thresholds of a host depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostTraits {
    /// Ranks that want the same cores.
    pub(super) local_ranks: usize,
    /// Cores that these ranks may use.
    pub(super) cores: usize,
    /// Whether two copies by cores are faster than one by the kernel.
    pub(super) prefers_memcpy: bool,
}

/// Whether cores copy large messages in this segment. `single_copy` is the setting of this rank for
/// copies by the kernel, if it has one.
pub(super) fn copies_by_memcpy(segment: &SharedSegment, single_copy: Option<bool>) -> bool {
    segment.prefers_memcpy() && single_copy != Some(true)
}

/// The thresholds of one endpoint, in bytes. They are built once, when the endpoint is made, and
/// are the same on all ranks of a host with the same options. Where a way is never taken, its
/// threshold is `usize::MAX`, or its range is empty. The figures behind the values are in
/// `crates/fabric/src/README.md`, in the sections "Bounce buffers",
/// "Pipelined messages" and "Cooperative copies".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Thresholds {
    /// Whether there are more ranks than cores.
    pub is_oversubscribed: bool,
    /// The longest message of one cell between two ranks of this host.
    pub cell_max: usize,
    /// The longest message that is sent in cells.
    pub eager_max: usize,
    /// In a bounce buffer: messages of an exchange ("Bounce buffers": 16 KiB takes 1.4 times as
    /// long in cells).
    pub bounce_exchange: SizeRange,
    /// In a bounce buffer: [operands](TrafficHint::Operands), those that leave the caches and those
    /// that stay there ("Bounce buffers": allreduce among 8 and 16).
    pub bounce_operands: [SizeRange; 2],
    /// In a bounce buffer: messages that flow one way ("Bounce buffers": the table).
    pub bounce_one_way: SizeRange,
    /// The same of a message that belongs to no plan.
    pub bounce_unknown: SizeRange,
    /// In a bounce buffer: [untouched](TrafficHint::Untouched) messages, one alone and one among
    /// several ("Bounce buffers": 64 KiB among 4 and 8 ranks on two cores).
    pub bounce_untouched: [SizeRange; 2],
    /// In a bounce buffer: [reduced](TrafficHint::Reduced) messages ("Bounce buffers": reduce of 64
    /// and 256 KiB).
    pub bounce_reduced: SizeRange,
    /// In one bounce buffer for several receivers, whatever their hint ("Bounce buffers": bcast of
    /// 64 KiB among 16 ranks).
    pub bounce_multicast: SizeRange,
    /// A longer message in a bounce buffer is announced before it is written; its receiver reads
    /// it meanwhile.
    pub read_while_written_min: usize,
    /// A longer message in a shared heap goes in no bounce buffer.
    pub heap_min: usize,
    /// The same of a [reduced](TrafficHint::Reduced) message.
    pub heap_reduced_min: usize,
    /// A longer announced message in private memory comes in bounce buffers, piece by piece
    /// ("Pipelined messages").
    pub pipeline_min: usize,
    /// An announced message of at least so many bytes is copied by both its ends ("Cooperative
    /// copies").
    pub cooperative_min: usize,
    /// The longest operand that its receiver copies alone ("Cooperative copies").
    pub operand_alone_max: usize,
}

impl Thresholds {
    /// Those of a segment if the kernel of its host copies fast. Whether it does, each host
    /// measures for itself; but ranks that choose an algorithm by these lengths may be on several
    /// hosts, and must choose the same.
    pub fn of_segment(segment: &SharedSegment) -> Thresholds {
        let (local_ranks, cores) = (segment.local_ranks(), segment.cores());
        let ring = segment.layout().lane_at(0, segment.is_oversubscribed());
        let host = HostTraits { local_ranks, cores, prefers_memcpy: false };
        Thresholds::on(host, &RingThresholds::of(&ring))
    }

    /// Those of a host with this many ranks and cores whose kernel copies fast; for more than
    /// [`MAX_RANKS`] as for that many.
    pub fn of_host(ranks: usize, cores: usize) -> Thresholds {
        let host = HostTraits { local_ranks: ranks, cores, prefers_memcpy: false };
        let layout = Layout::new(ranks.clamp(1, MAX_RANKS)).expect("a host may have so many");
        Thresholds::on(host, &RingThresholds::of(&layout.lane_at(0, ranks > cores)))
    }

    /// Those of a rank of this segment, whose ranks have such rings. `single_copy` is the setting
    /// of this rank for copies by the kernel, if it has one.
    pub(super) fn of(
        segment: &SharedSegment,
        ring: &RingThresholds,
        single_copy: Option<bool>,
    ) -> Thresholds {
        let host = HostTraits {
            local_ranks: segment.local_ranks(),
            cores: segment.cores(),
            prefers_memcpy: copies_by_memcpy(segment, single_copy),
        };
        Thresholds::on(host, ring)
    }

    /// Those of a rank on such a host, whose ranks have such rings.
    pub(super) fn on(host: HostTraits, ring: &RingThresholds) -> Thresholds {
        let HostTraits { local_ranks, cores, prefers_memcpy } = host;
        let &RingThresholds { cell_max, eager_max, .. } = ring;
        let is_oversubscribed = local_ranks > cores;
        let (longest, longest_operand) = match (prefers_memcpy, is_oversubscribed) {
            (true, true) => (OVERSUBSCRIBED_BOUNCE_MAX_BYTES, OVERSUBSCRIBED_OPERAND_MAX_BYTES),
            _ => (CopyBandwidth::LONGEST, CopyBandwidth::LONGEST),
        };
        let exchange_min = cell_max.min(if is_oversubscribed {
            OVERSUBSCRIBED_EXCHANGE_MIN_BYTES
        } else {
            EXCHANGE_MIN_BYTES
        });
        let exchange_max = if prefers_memcpy { CopyBandwidth::LONGEST } else { EXCHANGE_MAX_BYTES };
        let bounce_exchange = SizeRange::new(exchange_min, exchange_max);
        // To read them where they lie saves one of two copies.
        let bounce_operands = SizeRange::new(exchange_min, longest_operand);
        let bounce_one_way = match (prefers_memcpy, is_oversubscribed) {
            (true, true) => SizeRange::new(cell_max, longest),
            (false, true) => SizeRange::new(cell_max, BOUNCE_MAX_BYTES),
            (true, false) => SizeRange::new(cell_max.min(BOUNCE_MIN_BYTES), longest),
            (false, false) => ONE_WAY_BYTES,
        };
        let upto = |longest: usize| SizeRange { longest, ..bounce_one_way };
        let are_few = local_ranks <= WAITING_RANKS_PER_CORE_MAX * cores;
        let bounce_untouched = match (prefers_memcpy, is_oversubscribed) {
            (true, true) => [bounce_one_way, upto(OVERSUBSCRIBED_FAN_OUT_MAX_BYTES)],
            (false, true) if are_few => [upto(UNTOUCHED_MAX_BYTES); 2],
            (false, true) => [bounce_one_way, upto(UNTOUCHED_MAX_BYTES)],
            (_, false) => [bounce_one_way; 2],
        };
        let unless = |never: bool, bytes: usize| if never { usize::MAX } else { bytes };
        Thresholds {
            is_oversubscribed,
            cell_max,
            eager_max,
            bounce_exchange,
            bounce_operands: if is_oversubscribed && prefers_memcpy {
                [bounce_operands; 2]
            } else {
                [bounce_exchange, bounce_operands]
            },
            bounce_one_way,
            bounce_unknown: upto(bounce_one_way.longest.min(CopyBandwidth::LONGEST)),
            bounce_untouched,
            bounce_reduced: upto(longest_operand),
            bounce_multicast: if is_oversubscribed {
                SizeRange::NONE
            } else {
                SizeRange::new(cell_max, longest)
            },
            read_while_written_min: unless(is_oversubscribed, READ_WHILE_WRITTEN_BYTES),
            heap_min: SHARED_HEAP_MAX_BYTES,
            heap_reduced_min: if is_oversubscribed {
                AWAITED_OPERAND_MAX_BYTES
            } else {
                SHARED_HEAP_MAX_BYTES
            },
            pipeline_min: unless(is_oversubscribed || !prefers_memcpy, PIPELINE_MIN_BYTES),
            cooperative_min: unless(is_oversubscribed, COOPERATIVE_MIN_BYTES),
            operand_alone_max: OPERAND_MAX_BYTES,
        }
    }

    /// Whether any message comes in bounce buffers, piece by piece.
    pub(super) fn may_pipeline(&self) -> bool {
        self.pipeline_min < usize::MAX
    }

    /// The longest message with this hint that goes in a bounce buffer although it lies in a heap:
    /// a longer one stays there until its receiver copies or reduces it.
    #[inline]
    pub(super) fn heap_min(&self, hint: TrafficHint) -> usize {
        if hint == TrafficHint::Reduced { self.heap_reduced_min } else { self.heap_min }
    }

    /// Which messages with this hint go in bounce buffers. A message with the hint `Unknown` goes
    /// one way: `Endpoint::outbound` has turned the hint of a reply into `Expected`.
    #[inline]
    pub(super) fn bounced(&self, hint: TrafficHint) -> SizeRange {
        match hint {
            TrafficHint::Expected => self.bounce_exchange,
            TrafficHint::Operands { stay_cached } => self.bounce_operands[usize::from(stay_cached)],
            TrafficHint::Untouched { among_several } => {
                self.bounce_untouched[usize::from(among_several)]
            }
            TrafficHint::Reduced => self.bounce_reduced,
            TrafficHint::OneWay => self.bounce_one_way,
            TrafficHint::Unknown => self.bounce_unknown,
        }
    }

    /// The hint for a message to several receivers. Where ranks share cores its sender goes on in
    /// any case: what comes back, if anything does, comes later.
    pub(super) fn multicast_hint(&self, hint: TrafficHint) -> TrafficHint {
        let is_exchange = matches!(hint, TrafficHint::Expected | TrafficHint::Operands { .. });
        if is_exchange && self.is_oversubscribed { TrafficHint::OneWay } else { hint }
    }

    /// Whether a message in a bounce buffer is read while it is written.
    pub(super) fn is_read_while_written(&self, bytes: usize, hint: TrafficHint) -> bool {
        let is_operand =
            matches!(hint, TrafficHint::Reduced | TrafficHint::Operands { stay_cached: true });
        bytes > self.read_while_written_min && !is_operand
    }

    /// Whether a message may go in a bounce buffer because its ring is full.
    pub(super) fn may_bounce_if_full(&self, bytes: usize) -> bool {
        let range = self.bounce_one_way;
        range.contains(bytes) || (self.is_oversubscribed && bytes <= range.longest)
    }

    /// Whether a message that its receiver may read in place is copied by that one alone, if it is
    /// copied.
    pub(super) fn is_copied_alone(&self, bytes: usize, may_stay_in_place: bool) -> bool {
        may_stay_in_place && bytes <= self.operand_alone_max
    }

    /// Whether both ends of a message copy it, if both have time for that.
    pub(super) fn is_cooperative(&self, bytes: usize, may_stay_in_place: bool) -> bool {
        bytes >= self.cooperative_min && !self.is_copied_alone(bytes, may_stay_in_place)
    }
}

/// The thresholds of one ring, in bytes: those to other hosts have other cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RingThresholds {
    /// The longest message of a cell without an annex.
    pub(super) short_max: usize,
    /// The longest message of one cell.
    pub(super) cell_max: usize,
    /// The longest message that goes in cells.
    pub(super) eager_max: usize,
}

impl RingThresholds {
    pub(super) fn of(ring: &Ring) -> RingThresholds {
        let cell_max = ring.payload(size_of::<Header>());
        let share = ring.long_cells() / EAGER_RING_SHARE * cell_max;
        let eager_max = share.min(EAGER_MAX_BYTES).max(cell_max);
        let short_max = ring.cell_payload(size_of::<Header>());
        RingThresholds { short_max, cell_max, eager_max }
    }
}

/// How the sender of a message sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// In one cell of the ring.
    Ring,
    /// In several cells of the ring.
    RingFragments,
    /// In a bounce buffer, which is announced when it is full.
    Bounce,
    /// In a bounce buffer, which is announced before it is written.
    BounceReadWhileWritten,
    /// It is announced; its receiver gets it as [`choose_rndv`] says.
    Rndv,
}

/// A message that is to be sent to one receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outbound {
    pub(super) bytes: usize,
    pub(super) hint: TrafficHint,
    /// Whether it lies in a shared heap; what is said of one that is not longer than
    /// [`Thresholds::heap_min`] does not matter.
    pub(super) lies_in_heap: bool,
}

/// How a message is sent that goes to one receiver.
#[inline]
pub(super) fn choose(
    thresholds: &Thresholds,
    ring: &RingThresholds,
    message @ Outbound { bytes, hint, .. }: Outbound,
) -> Protocol {
    if is_bounced(thresholds, message) {
        return match thresholds.is_read_while_written(bytes, hint) {
            true => Protocol::BounceReadWhileWritten,
            false => Protocol::Bounce,
        };
    }
    choose_without_bounce(ring, bytes)
}

/// The same, if it goes in no bounce buffer, or finds none.
#[inline]
pub(super) fn choose_without_bounce(ring: &RingThresholds, bytes: usize) -> Protocol {
    if bytes <= ring.cell_max {
        Protocol::Ring
    } else if bytes <= ring.eager_max {
        Protocol::RingFragments
    } else {
        Protocol::Rndv
    }
}

/// Whether a synchronous message goes in a cell, behind the id of its send. A longer one is
/// announced.
pub(super) fn is_synchronous_in_cell(ring: &RingThresholds, bytes: usize) -> bool {
    SEND_ID_BYTES + bytes <= ring.cell_max
}

/// Whether a message to one receiver goes in a bounce buffer: the first question of [`choose`],
/// and the only one for a message that fits a cell.
#[inline]
pub(super) fn is_bounced(
    thresholds: &Thresholds,
    Outbound { bytes, hint, lies_in_heap }: Outbound,
) -> bool {
    if bytes <= EXCHANGE_MIN_BYTES || (lies_in_heap && bytes > thresholds.heap_min(hint)) {
        return false;
    }
    thresholds.bounced(hint).contains(bytes)
}

/// Whether a message to so many receivers goes in one bounce buffer for all of them; if not, it is
/// sent to one after the other. The hint is that of [`Thresholds::multicast_hint`].
#[inline]
pub(super) fn is_multicast(thresholds: &Thresholds, message: Outbound, receivers: u32) -> bool {
    (receivers > 1 && thresholds.bounce_multicast.contains(message.bytes))
        || (message.bytes > thresholds.cell_max && is_bounced(thresholds, message))
}

/// How the receiver of an announced message gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RndvProtocol {
    /// It reads it in the heap of its sender.
    HeapInPlace,
    /// Its sender sends it in bounce buffers, piece by piece.
    Pipelined,
    /// Both ends copy it.
    Cooperative,
    /// It copies it.
    SingleCopy,
}

/// How the receiver of an announced message of this host gets it, if its sender has time to help.
#[inline]
pub(super) fn choose_rndv(
    thresholds: &Thresholds,
    bytes: usize,
    lies_in_heap: bool,
    may_stay_in_place: bool,
) -> RndvProtocol {
    if !lies_in_heap && bytes > thresholds.pipeline_min {
        RndvProtocol::Pipelined
    } else if lies_in_heap && may_stay_in_place {
        RndvProtocol::HeapInPlace
    } else if thresholds.is_cooperative(bytes, may_stay_in_place) {
        RndvProtocol::Cooperative
    } else {
        RndvProtocol::SingleCopy
    }
}

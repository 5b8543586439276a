//! Three layouts of one kind of value, and memory in which values lie by them.
//!
//! Written without the library's own packing: where a byte lies is said here a second time.

use motet::datatype::Datatype;

/// What an item holds: two numbers.
pub(crate) type Value = [u32; 2];

/// How an item lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Two numbers of 4 bytes side by side.
    Contiguous,
    /// The same numbers 12 bytes apart; items 20 bytes apart.
    Vector,
    /// A number of 4 bytes and one of 8, with gaps; items 24 bytes apart.
    Gaps,
}

impl Layout {
    pub(crate) const ALL: [Layout; 3] = [Layout::Contiguous, Layout::Vector, Layout::Gaps];

    /// Offset and bytes of both numbers.
    fn fields(self) -> [(usize, usize); 2] {
        match self {
            Layout::Contiguous => [(0, 4), (4, 4)],
            Layout::Vector => [(0, 4), (12, 4)],
            Layout::Gaps => [(0, 4), (8, 8)],
        }
    }

    pub(crate) fn extent(self) -> usize {
        match self {
            Layout::Contiguous => 8,
            Layout::Vector => 20,
            Layout::Gaps => 24,
        }
    }

    pub(crate) fn datatype(self) -> Datatype {
        let made = match self {
            Layout::Contiguous => Datatype::contiguous(2, &Datatype::INT32_T),
            Layout::Vector => Datatype::vector(2, 1, 3, &Datatype::INT32_T)
                .and_then(|item| Datatype::resized(0, 20, &item)),
            Layout::Gaps => {
                let types = [Datatype::INT32_T, Datatype::INT64_T];
                Datatype::structured(&[1, 1], &[0, 8], &types)
                    .and_then(|item| Datatype::resized(0, 24, &item))
            }
        };
        made.expect("small datatypes can be made")
    }

    /// Another layout of the same signature, if there is one.
    pub(crate) fn other(self) -> Layout {
        match self {
            Layout::Contiguous => Layout::Vector,
            Layout::Vector => Layout::Contiguous,
            Layout::Gaps => Layout::Gaps,
        }
    }

    pub(crate) fn write(self, item: &mut [u8], value: Value) {
        for ((at, bytes), number) in self.fields().into_iter().zip(value) {
            item[at..at + bytes].fill(0);
            item[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
    }

    pub(crate) fn read(self, item: &[u8]) -> Value {
        self.fields()
            .map(|(at, _)| u32::from_le_bytes([item[at], item[at + 1], item[at + 2], item[at + 3]]))
    }
}

/// What a byte is that nobody may write.
fn poison(at: usize) -> u8 {
    (at * 37 + 11) as u8
}

/// Items of one layout at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) at: usize,
    pub(crate) count: usize,
    pub(crate) layout: Layout,
}

/// Memory with blocks in it.
#[derive(Debug)]
pub(crate) struct Memory {
    /// Words, for their alignment.
    words: Vec<u64>,
    pub(crate) blocks: Vec<Block>,
}

impl Memory {
    /// Room for these blocks, and some before and behind them.
    pub(crate) fn new(blocks: Vec<Block>) -> Memory {
        let ends = blocks.iter().map(|block| block.at + block.count * block.layout.extent());
        let bytes = ends.max().unwrap_or(0) + 32;
        Memory { words: vec![0; bytes.div_ceil(8)], blocks }
    }

    pub(crate) fn address(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// What the memory should be with these values in its blocks.
    fn image(&self, values: &[Option<Vec<Value>>]) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..self.words.len() * 8).map(poison).collect();
        for (block, values) in self.blocks.iter().zip(values) {
            for (index, value) in values.iter().flatten().enumerate() {
                let at = block.at + index * block.layout.extent();
                block.layout.write(&mut bytes[at..], *value);
            }
        }
        bytes
    }

    /// Puts values into some blocks, and poison everywhere else.
    pub(crate) fn fill(&mut self, values: &[Option<Vec<Value>>]) {
        let bytes = self.image(values);
        for (word, bytes) in self.words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_ne_bytes(*bytes);
        }
    }

    /// The first byte that is not as these values want it, in words.
    pub(crate) fn differs(&self, values: &[Option<Vec<Value>>]) -> Option<String> {
        let (found, expected) = (self.bytes(), self.image(values));
        let at = found.iter().zip(&expected).position(|(found, expected)| found != expected)?;
        let inside = |block: &&Block| {
            (block.at..block.at + block.count * block.layout.extent()).contains(&at)
        };
        let place = match self.blocks.iter().position(|block| inside(&block)) {
            Some(index) => {
                let Block { at: start, layout, .. } = self.blocks[index];
                let item = (at - start) / layout.extent();
                let from = start + item * layout.extent();
                let [is, wanted] = [&found, &expected].map(|bytes| layout.read(&bytes[from..]));
                format!("item {item} of block {index} is {is:?}, not {wanted:?}")
            }
            None => "it is in no block".into(),
        };
        Some(format!("byte {at} is {}, not {}: {place}", found[at], expected[at]))
    }

    /// What a block holds now.
    pub(crate) fn values(&self, index: usize) -> Vec<Value> {
        let (bytes, Block { at, count, layout }) = (self.bytes(), self.blocks[index]);
        (0..count).map(|item| layout.read(&bytes[at + item * layout.extent()..])).collect()
    }
}

impl Layout {
    /// Bytes from the first of an item to its last.
    pub(crate) fn reach(self) -> usize {
        self.fields().map(|(at, bytes)| at + bytes)[1]
    }
}

//! What the system has cached of a file, beside what its disk holds.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const PAGE_BYTES: u64 = 4096;
/// What a disk writes as a whole.
const SECTOR_BYTES: u64 = 512;

/// The file itself is what is cached. This keeps the pages of which the disk holds something else.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pages: BTreeMap<u64, Page>,
    /// None until the file was opened for the first time.
    durable_len: Option<u64>,
    chance: Chance,
}

#[derive(Debug)]
struct Page {
    /// What the disk holds.
    durable: Vec<u8>,
    /// Whether the next sync writes it. A page that a failed sync took for written is not dirty, and the disk does not
    /// have it.
    is_dirty: bool,
}

/// Which of the pages that wait reach the disk without a sync: none of them, or each by chance.
#[derive(Debug, Default)]
struct Chance(Option<u64>);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        let Some(state) = &mut self.0 else { return 0 };
        // splitmix64
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn strikes(&mut self) -> bool {
        self.below(2) == 1
    }
}

impl Cache {
    pub(super) fn by_chance(seed: u64) -> Self {
        Cache { chance: Chance(Some(seed)), ..Cache::default() }
    }

    pub(super) fn is_by_chance(&self) -> bool {
        self.chance.0.is_some()
    }

    pub(super) fn opened(&mut self, file: &File) -> io::Result<()> {
        if self.durable_len.is_none() {
            self.durable_len = Some(file.metadata()?.len());
        }
        Ok(())
    }

    /// To be called before these bytes are written.
    pub(super) fn dirty(&mut self, file: &File, offset: u64, len: u64) -> io::Result<()> {
        for number in offset / PAGE_BYTES..(offset + len).div_ceil(PAGE_BYTES) {
            // What was written before may have reached the disk meanwhile.
            let is_written =
                self.pages.get(&number).is_some_and(|page| page.is_dirty) && self.chance.strikes();
            if is_written || !self.pages.contains_key(&number) {
                self.pages.insert(number, Page { durable: read_page(file, number)?, is_dirty: true });
            } else if let Some(page) = self.pages.get_mut(&number) {
                page.is_dirty = true;
            }
        }
        Ok(())
    }

    /// To be called before the file gets another length: a shorter one is not on the disk at once either.
    pub(super) fn resized(&mut self, file: &File, len: u64) -> io::Result<()> {
        let before = file.metadata()?.len();
        match len < before {
            true => self.dirty(file, len, before - len),
            false => Ok(()),
        }
    }

    pub(super) fn synced(&mut self, file: &File) -> io::Result<()> {
        self.pages.retain(|_, page| !page.is_dirty);
        self.durable_len = Some(file.metadata()?.len());
        Ok(())
    }

    /// As Linux does: the pages stay in the cache, and are taken for written.
    pub(super) fn not_synced(&mut self) {
        let chance = &mut self.chance;
        self.pages.retain(|_, page| !(page.is_dirty && chance.strikes()));
        self.pages.values_mut().for_each(|page| page.is_dirty = false);
    }

    /// Reads the pages that are taken for written from the disk again.
    pub(super) fn forgotten(&mut self, file: &File) -> io::Result<()> {
        let len = file.metadata()?.len();
        for (number, page) in &self.pages {
            if !page.is_dirty {
                write_page(file, *number, &page.durable, 0, len)?;
            }
        }
        self.pages.retain(|_, page| page.is_dirty);
        Ok(())
    }

    /// Leaves in the file what is found after a power loss. A page that was being written may be there in part.
    pub(super) fn lost(&mut self, file: &File) -> io::Result<()> {
        let cached_len = file.metadata()?.len();
        let durable_len = self.durable_len.unwrap_or(cached_len);
        let len = if self.chance.strikes() { cached_len } else { durable_len };
        for (number, page) in std::mem::take(&mut self.pages) {
            let written = match page.is_dirty && number * PAGE_BYTES < cached_len {
                true if self.chance.strikes() => {
                    self.chance.below(PAGE_BYTES / SECTOR_BYTES + 1) * SECTOR_BYTES
                }
                _ => 0,
            };
            write_page(file, number, &page.durable, written, len)?;
        }
        file.set_len(len)?;
        self.durable_len = Some(len);
        Ok(())
    }
}

/// A page of the file; zeros beyond its end.
fn read_page(file: &File, number: u64) -> io::Result<Vec<u8>> {
    let mut page = vec![0; PAGE_BYTES as usize];
    let mut filled = 0;
    while filled < page.len() {
        match file.read_at(&mut page[filled..], number * PAGE_BYTES + filled as u64)? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(page)
}

/// Writes a page from this byte on, as far as the file goes.
fn write_page(file: &File, number: u64, page: &[u8], from: u64, file_len: u64) -> io::Result<()> {
    let offset = number * PAGE_BYTES;
    let until = file_len.saturating_sub(offset).min(PAGE_BYTES);
    match from < until {
        true => file.write_all_at(&page[from as usize..until as usize], offset + from),
        false => Ok(()),
    }
}

//! Google's Firestore emulator, thrown away afterwards.
//!
//! ```no_run
//! use leasehold_throwaway::firestore::Emulator;
//!
//! let emulator = Emulator::shared();
//! println!("connect to {}, project {}", emulator.address(), emulator.project());
//! ```

mod emulator;
mod find;

pub use emulator::Emulator;
pub(crate) use find::find;

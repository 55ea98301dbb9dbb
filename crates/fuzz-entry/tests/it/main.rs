//! The decoders without a fuzzer.

mod mutations;

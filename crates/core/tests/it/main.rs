//! The shared words held to their vectors and properties, in one program.

mod properties;
mod vectors;

/// What a request is about, as far as its fields name it.
pub trait About {
    /// What an element of its lists takes in memory, at most and without its texts and bytes; zero if it has no list.
    const ELEMENT_BYTES: usize = 0;

    /// The queue.
    fn queue(&self) -> Option<&str> {
        None
    }

    /// The namespace.
    fn namespace(&self) -> Option<&str> {
        None
    }
}

include!(concat!(env!("OUT_DIR"), "/about.rs"));

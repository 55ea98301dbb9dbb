/// What a request is about, as far as its fields name it.
pub trait About {
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

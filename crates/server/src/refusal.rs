/// Why a request is refused before what it asks for is looked at.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// A page of another origin made a browser send it.
    #[error("cross-site request refused; pages of other origins may not send requests to this server")]
    CrossSite,
    /// A page of that name could have sent it.
    #[error(
        "host is not allowed; '{host}' is not an ip address, localhost or one of 'allowed-hosts' of the configuration \
         (--allowed-hosts, LEASEHOLD_ALLOWED_HOSTS), which requests without an api key need"
    )]
    HostNotAllowed {
        /// As it was sent.
        host: String,
    },
    /// Its lists are longer than any operation takes.
    #[error("request has too many elements; at most {limit} are read")]
    TooManyElements {
        /// How many are.
        limit: usize,
    },
}

impl Refusal {
    /// Stable code; every one has its entry in `docs/errors.md`.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Refusal::CrossSite => "server.cross_site",
            Refusal::HostNotAllowed { .. } => "server.host_not_allowed",
            Refusal::TooManyElements { .. } => "server.too_many_elements",
        }
    }
}

//! Finds an endpoint.

use leasehold_txn::Operation;

use super::{Endpoint, Endpoints};
use crate::sql::Sql;
use crate::{EndpointId, Error, Result};

const GET: Operation = Operation::new("state.get_nexus_endpoint");
const SELECT: Sql = Sql::same(include_str!("sql/select.sql"));

impl Endpoints {
    /// The endpoint.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none.
    pub async fn get(&self, id: EndpointId) -> Result<Endpoint> {
        let rows = self.database.read(GET, SELECT, &[&id]).await?;
        Endpoint::of(rows.first().ok_or(Error::NotFound { what: "nexus endpoint" })?)
    }
}

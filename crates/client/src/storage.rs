//! The items of a partition as they are stored.

use leasehold_api::queue::{
    StorageItemsDeleteRequest, StorageItemsImportRequest, StorageItemsImportResponse,
    StorageItemsListRequest, StorageItemsListResponse,
};

use crate::{Client, Result};

impl Client {
    /// Ready and leased items from the pivot on, in order.
    pub async fn list_items(&self, request: &StorageItemsListRequest) -> Result<StorageItemsListResponse> {
        self.ask("/v1/storage/items.list", request).await
    }

    /// Scheduled items from the pivot on.
    pub async fn list_scheduled(
        &self,
        request: &StorageItemsListRequest,
    ) -> Result<StorageItemsListResponse> {
        self.ask("/v1/storage/scheduled.list", request).await
    }

    /// Adds items as they were elsewhere, under new ids; one whose source id is there already is skipped.
    pub async fn import_items(
        &self,
        request: &StorageItemsImportRequest,
    ) -> Result<StorageItemsImportResponse> {
        self.ask("/v1/storage/items.import", request).await
    }

    /// Deletes items, leased or not; unknown ids are fine.
    pub async fn delete_items(&self, request: &StorageItemsDeleteRequest) -> Result<()> {
        self.tell("/v1/storage/items.delete", request).await
    }
}

//! What the engine has to do with a statement.

use sqlparser::ast::{CreateIndex, Statement};

use super::{Kind, objects};

/// `writes` says whether a statement that writes is inside.
pub(super) fn of(statement: &Statement, writes: bool) -> Kind {
    match statement {
        Statement::StartTransaction { .. } => Kind::Begin,
        Statement::Commit { .. } => Kind::Commit,
        Statement::Rollback { .. } => Kind::Rollback,
        Statement::Query(_) if writes => Kind::WritingWith,
        Statement::Query(_) => Kind::Select,
        Statement::Insert(_) => Kind::Insert,
        Statement::Update(_) => Kind::Update,
        Statement::Delete(_) => Kind::Delete,
        Statement::CreateIndex(CreateIndex { r#async: true, .. }) => Kind::CreateIndex,
        Statement::Set(_) | Statement::Reset(_) => Kind::Set,
        Statement::ShowVariable { .. } => Kind::Show,
        Statement::Explain { .. } | Statement::ExplainTable { .. } => Kind::Explain,
        Statement::Call(_) => Kind::Call,
        Statement::Deallocate { name, .. } if objects::is_all(name) => Kind::DeallocateAll,
        Statement::CreateTable(_)
        | Statement::CreateView(_)
        | Statement::CreateIndex(_)
        | Statement::CreateSchema { .. }
        | Statement::CreateFunction(_)
        | Statement::CreateProcedure { .. }
        | Statement::CreateRole(_)
        | Statement::CreateUser(_)
        | Statement::CreateSequence { .. }
        | Statement::CreateDomain(_)
        | Statement::CreateType { .. }
        | Statement::CreateTrigger(_)
        | Statement::CreateExtension(_)
        | Statement::CreateDatabase { .. }
        | Statement::CreatePolicy(_)
        | Statement::AlterTable(_)
        | Statement::AlterSchema(_)
        | Statement::AlterIndex { .. }
        | Statement::AlterView { .. }
        | Statement::AlterViewOperation { .. }
        | Statement::AlterFunction(_)
        | Statement::AlterType(_)
        | Statement::AlterSequence(_)
        | Statement::AlterRole { .. }
        | Statement::AlterUser(_)
        | Statement::AlterDefaultPrivileges { .. }
        | Statement::Drop { .. }
        | Statement::DropFunction(_)
        | Statement::DropRoutine { .. }
        | Statement::DropProcedure { .. }
        | Statement::DropDomain(_)
        | Statement::DropTrigger(_)
        | Statement::DropExtension(_)
        | Statement::DropPolicy(_)
        | Statement::Truncate(_)
        | Statement::Grant(_)
        | Statement::Revoke(_)
        | Statement::AwsIamGrant { .. }
        | Statement::AwsIamRevoke { .. }
        | Statement::Comment { .. }
        | Statement::CommentRoutine { .. } => Kind::Ddl,
        _ => Kind::Other,
    }
}

//! The table of rules, in the order in which they are asked.

use super::rule::Rule;
use super::{
    alters, guard, indexes, keys, limits, locking, objects, sequences, settings, tables, transactions, types,
    unreadable,
};

/// Every rule. Where several match a statement, the first one refuses it.
pub static RULES: &[&Rule] = &[
    &transactions::TWO_DDL,
    &transactions::DDL_WITH_DML,
    &transactions::WAIT_FOR_JOB,
    &transactions::ISOLATION,
    &transactions::SET_TRANSACTION,
    &transactions::SAVEPOINT,
    &settings::SETTING,
    &locking::OTHER_CLAUSE,
    &locking::OTHER_CLAUSE_BEFORE_KEY_SHARE,
    &locking::NESTED,
    &locking::NO_WAIT,
    &locking::SINGLE_TABLE,
    &locking::NO_EQUALITY,
    &locking::LOCKING_TABLE,
    &locking::LOCKING_KEY,
    &locking::ADVISORY,
    &indexes::CONCURRENTLY,
    &indexes::USING,
    &indexes::PARTIAL,
    &indexes::SYNCHRONOUS,
    &indexes::QUALIFIED,
    &indexes::SORT_ORDER,
    &indexes::OPERATOR_CLASS,
    &indexes::EXPRESSION,
    &indexes::TOO_MANY_COLUMNS,
    &tables::TEMPORARY,
    &tables::UNLOGGED,
    &tables::TABLE_AS,
    &tables::PARTITIONED,
    &tables::INHERITS,
    &tables::COLLATE,
    &tables::FOREIGN_KEY,
    &types::SERIAL_TYPE,
    &types::DATATYPE,
    &types::JSON,
    &sequences::SEQUENCE,
    &sequences::IDENTITY,
    &alters::ADD_COLUMN,
    &sequences::SEQUENCE_CACHE,
    &sequences::IDENTITY_TYPE,
    &sequences::IDENTITY_CACHE,
    &keys::KEY_TYPE,
    &alters::DROP_COLUMN,
    &alters::ADD_CONSTRAINT,
    &alters::ADD_ANY_CONSTRAINT,
    &alters::COLUMN_TYPE,
    &alters::VALIDATE,
    &alters::ROW_SECURITY,
    &objects::TRUNCATE,
    &objects::TRIGGER,
    &objects::LANGUAGE,
    &objects::EXTENSION,
    &objects::DATABASE,
    &objects::ENUM_TYPE,
    &objects::OTHER_TYPE,
    &objects::LISTEN,
    &objects::VACUUM,
    &objects::UNSUPPORTED,
    &objects::DISCARD,
    &limits::ROW_LIMIT,
    &limits::SIZE_LIMIT,
    &limits::AGE_LIMIT,
    &guard::TOO_DEEP,
    &unreadable::SYNTAX,
];

/// The rule of this name.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::Judged;
    use super::*;

    /// The verdict of all other rules on a statement is remembered, and theirs is not.
    #[test]
    fn rules_about_transactions_are_asked_first() {
        assert!(RULES.is_sorted_by_key(|rule| rule.judged != Judged::Transaction));
    }

    #[test]
    fn every_rule_has_a_name_of_its_own_and_says_what_to_do() {
        let mut names = HashSet::new();
        for rule in RULES {
            assert!(names.insert(rule.id), "{} is there twice", rule.id);
            assert_eq!(rule.sqlstate.len(), 5, "{}", rule.id);
            assert!(!rule.levels.is_empty() && !rule.sources.is_empty(), "{}", rule.id);
            assert!(
                !rule.text.is_empty() && !rule.matches.is_empty() && !rule.advice.is_empty(),
                "{}",
                rule.id
            );
        }
    }
}

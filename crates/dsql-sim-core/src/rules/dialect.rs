//! PostgreSQL's dialect, but for `f('name' : value)`. To tell that from `f(value)` the parser reads each argument twice,
//! so calls within calls take twice as long with every level: thirty of them hang it.

use std::any::TypeId;

use sqlparser::dialect::{Dialect, PostgreSqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};

/// As the parser sees it, still PostgreSQL.
#[derive(Debug)]
pub(super) struct PostgreSql;

const BASE: PostgreSqlDialect = PostgreSqlDialect {};

macro_rules! as_postgresql {
    ($($method:ident)*) => {
        $(fn $method(&self) -> bool {
            BASE.$method()
        })*
    };
}

impl Dialect for PostgreSql {
    fn dialect(&self) -> TypeId {
        BASE.dialect()
    }

    fn supports_named_fn_args_with_expr_name(&self) -> bool {
        false
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        BASE.identifier_quote_style(identifier)
    }

    fn is_delimited_identifier_start(&self, letter: char) -> bool {
        BASE.is_delimited_identifier_start(letter)
    }

    fn is_identifier_start(&self, letter: char) -> bool {
        BASE.is_identifier_start(letter)
    }

    fn is_identifier_part(&self, letter: char) -> bool {
        BASE.is_identifier_part(letter)
    }

    fn is_reserved_for_identifier(&self, word: Keyword) -> bool {
        BASE.is_reserved_for_identifier(word)
    }

    fn is_custom_operator_part(&self, letter: char) -> bool {
        BASE.is_custom_operator_part(letter)
    }

    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        BASE.get_next_precedence(parser)
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        BASE.prec_value(precedence)
    }

    as_postgresql! {
        allow_extract_custom
        allow_extract_single_quotes
        supports_alter_column_type_using
        supports_array_typedef_with_brackets
        supports_aws_iam_statements
        supports_bitwise_shift_operators
        supports_comma_separated_trim
        supports_comment_on
        supports_comment_optimizer_hint
        supports_create_index_with_clause
        supports_create_table_like_parenthesized
        supports_empty_projections
        supports_explain_with_utility_options
        supports_factorial_operator
        supports_filter_during_aggregation
        supports_geometric_types
        supports_group_by_expr
        supports_insert_table_alias
        supports_interval_options
        supports_listen_notify
        supports_load_extension
        supports_named_fn_args_with_colon_operator
        supports_nested_comments
        supports_notnull_operator
        supports_numeric_literal_underscores
        supports_order_by_using_operator
        supports_select_wildcard_with_alias
        supports_set_names
        supports_string_escape_constant
        supports_unicode_string_literal
        supports_xml_expressions
    }
}

use clap::Args;
use leasehold_dsql_sim_core::rules::{Level, RULES, Rule, rule};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Done, print};
use crate::table::Table;

/// Print the rules by which DSQL refuses statements: what they match, with which code, and where that is known from.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  leasehold dsql-sim rules index-async")]
pub(super) struct Rules {
    /// All about this rule; all rules without it
    rule: Option<String>,

    /// Only the rules of this level: 2025.05, 2026.09
    #[arg(long)]
    level: Option<Level>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A rule as JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    rule: &'static str,
    sqlstate: &'static str,
    text: &'static str,
    wording: String,
    levels: Vec<String>,
    strict: bool,
    judged_on: String,
    sources: Vec<String>,
    confidence: String,
    matches: &'static str,
    advice: &'static str,
}

impl Rules {
    pub(super) fn run(self) -> Result<Done, Failure> {
        if let Some(name) = &self.rule {
            let rule = rule(name).ok_or_else(|| {
                Failure::input(format!("there is no rule '{name}'"))
                    .next("list them with 'leasehold dsql-sim rules'")
            })?;
            let shown = Shown::from(rule);
            print(self.json, &shown, || shown.in_full())?;
            return Ok(Done::Yes);
        }
        let holds = |rule: &&&Rule| self.level.is_none_or(|level| rule.levels.contains(&level));
        let shown: Vec<Shown> = RULES.iter().filter(holds).map(|rule| Shown::from(*rule)).collect();
        print(self.json, &shown, || {
            let mut table = Table::new(&["RULE", "CODE", "LEVELS", "CONFIDENCE", "SOURCES", "MATCHES"]);
            for rule in &shown {
                let (levels, sources) = (rule.levels.join(", "), rule.sources.join(", "));
                table.row([&rule.rule, &rule.sqlstate, &levels, &rule.confidence, &sources, &rule.matches]);
            }
            table.to_string()
        })?;
        Ok(Done::Yes)
    }
}

impl Shown {
    fn in_full(&self) -> String {
        let strict = if self.strict { "only in strict mode" } else { "always" };
        let (levels, sources) = (self.levels.join(", "), self.sources.join(", "));
        let Shown { rule, sqlstate, text, wording, judged_on, confidence, matches, advice, .. } = self;
        format!(
            "rule        {rule}\nmatches     {matches}\nrefusal     {sqlstate} {text}\nwording     {wording}\n\
             levels      {levels}\nholds       {strict}\njudged on   {judged_on}\nsources     {sources}\n\
             confidence  {confidence}\ndo          {advice}"
        )
    }
}

impl From<&'static Rule> for Shown {
    fn from(rule: &'static Rule) -> Self {
        Shown {
            rule: rule.id,
            sqlstate: rule.sqlstate,
            text: rule.text,
            wording: rule.wording.to_string(),
            levels: rule.levels.iter().map(ToString::to_string).collect(),
            strict: rule.strict,
            judged_on: rule.judged.to_string(),
            sources: rule.sources.iter().map(ToString::to_string).collect(),
            confidence: rule.confidence.to_string(),
            matches: rule.matches,
            advice: rule.advice,
        }
    }
}

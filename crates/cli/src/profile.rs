//! `~/.config/leasehold/config.toml`: servers by name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use secrecy::SecretString;
use serde::{Deserialize, Deserializer};

use crate::connection::variable;
use crate::failure::Failure;

/// A server and the key to it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Profile {
    pub(crate) endpoint: Option<String>,
    #[serde(default, deserialize_with = "secret")]
    pub(crate) api_key: Option<SecretString>,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) certificate_file: Option<PathBuf>,
    pub(crate) key_file: Option<PathBuf>,
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    Ok(Some(SecretString::from(String::deserialize(deserializer)?)))
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct File {
    /// Used when none is named.
    profile: Option<String>,
    #[serde(default)]
    profiles: BTreeMap<String, Profile>,
}

/// All profiles of this user.
#[derive(Debug, Default)]
pub(crate) struct Profiles {
    path: PathBuf,
    file: File,
}

impl Profiles {
    /// Where there is no file there are no profiles.
    pub(crate) fn read() -> Result<Self, Failure> {
        let folder = variable("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".config")));
        let Some(path) = folder.map(|folder| folder.join("leasehold").join("config.toml")) else {
            return Ok(Profiles::default());
        };
        match fs::read_to_string(&path) {
            Ok(text) => Profiles::parse(path, &text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Profiles { path, file: File::default() })
            }
            Err(error) => Err(Failure::file(&path.display().to_string(), error)),
        }
    }

    fn parse(path: PathBuf, text: &str) -> Result<Self, Failure> {
        match toml::from_str(text) {
            Ok(file) => Ok(Profiles { path, file }),
            // Its own form shows the line, which may hold a key.
            Err(error) => {
                let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
                let line = before.matches('\n').count() + 1;
                Err(Failure::profile(format!("{}, line {line}: {}", path.display(), error.message())))
            }
        }
    }

    pub(crate) fn named(&self, name: &str) -> Result<Profile, Failure> {
        self.file.profiles.get(name).cloned().ok_or_else(|| {
            let known: Vec<_> = self.file.profiles.keys().map(String::as_str).collect();
            let path = self.path.display();
            match known.as_slice() {
                [] => Failure::profile(format!("there is no profile '{name}': none is in '{path}'")).next(
                    format!(
                        "write [profiles.{name}] with an endpoint there, or name a server with --endpoint"
                    ),
                ),
                known => Failure::profile(format!("there is no profile '{name}' in {path}"))
                    .next(format!("there is {}", known.join(", "))),
            }
        })
    }

    pub(crate) fn fallback(&self) -> Result<Option<Profile>, Failure> {
        self.file.profile.as_deref().map(|name| self.named(name)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn parse(text: &str) -> Result<Profiles, Failure> {
        Profiles::parse(PathBuf::from("config.toml"), text)
    }

    #[test]
    fn profiles_are_found_by_name_and_one_is_the_default() {
        let profiles = parse(
            "profile = \"dev\"\n[profiles.dev]\nendpoint = \"http://127.0.0.1:1\"\n[profiles.prod]\nendpoint = \"https://q\"\n\
             api-key = \"qtr-live-x\"\nca-file = \"/etc/ca.pem\"\n",
        )
        .expect("is valid");
        let default = profiles.fallback().expect("is there").expect("is set");
        assert_eq!(default.endpoint.as_deref(), Some("http://127.0.0.1:1"));
        let prod = profiles.named("prod").expect("is there");
        assert_eq!(prod.api_key.expect("has a key").expose_secret(), "qtr-live-x");
    }

    #[test]
    fn what_is_wrong_is_told_by_line_and_never_shows_a_key() {
        for text in [
            "[profiles.dev]\nendpiont = \"x\"\napi-key = \"hunter2\"\n",
            "[profiles.dev]\napi-key = \"hunter2\n",
            "[profiles.dev]\napi-key = [\"hunter2\"]\n",
            "nonsense",
        ] {
            let shown = parse(text).expect_err(text).line();
            assert!(shown.contains("line") && !shown.contains("hunter2"), "{shown}");
        }
        let shown = parse("[profiles.dev]\n").expect("is valid").named("prod").expect_err("no such").line();
        assert!(shown.contains("'prod'") && shown.contains("dev"), "{shown}");
    }
}

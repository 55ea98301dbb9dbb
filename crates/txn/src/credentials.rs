//! AWS credentials from where the AWS tools look for them: the environment, then a profile file.

use std::fmt;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};

use crate::{Error, Result};

/// A key pair that can sign.
#[derive(Clone)]
pub struct Credentials {
    access_key_id: String,
    secret_access_key: SecretString,
    session_token: Option<SecretString>,
}

impl Credentials {
    /// Credentials that the caller already has.
    pub fn new(
        access_key_id: impl Into<String>,
        secret_access_key: impl Into<String>,
        session_token: Option<String>,
    ) -> Self {
        Self {
            access_key_id: access_key_id.into(),
            secret_access_key: SecretString::from(secret_access_key.into()),
            session_token: session_token.map(SecretString::from),
        }
    }

    /// `AWS_ACCESS_KEY_ID` and its companions, or the profile `AWS_PROFILE` (else `default`) of the file
    /// `AWS_SHARED_CREDENTIALS_FILE` (else `~/.aws/credentials`).
    ///
    /// # Errors
    /// [`Error::CredentialsMissing`] when neither has a complete pair.
    pub fn from_environment() -> Result<Self> {
        Self::from_variables(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        if let (Some(id), Some(secret)) = (variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY")) {
            return Ok(Self::new(id, secret, variable("AWS_SESSION_TOKEN")));
        }
        let profile = variable("AWS_PROFILE").unwrap_or_else(|| "default".to_owned());
        let file = variable("AWS_SHARED_CREDENTIALS_FILE")
            .map(PathBuf::from)
            .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".aws").join("credentials")))
            .ok_or_else(|| missing("the environment has no key pair and no home folder".to_owned()))?;
        let text = std::fs::read_to_string(&file).map_err(|error| {
            missing(format!("the environment has no key pair, and {}: {error}", file.display()))
        })?;
        let value = |key| profile_value(&text, &profile, key);
        match (value("aws_access_key_id"), value("aws_secret_access_key")) {
            (Some(id), Some(secret)) => {
                Ok(Self::new(id, secret, value("aws_session_token").map(str::to_owned)))
            }
            _ => Err(missing(format!("profile {profile} of {} has no key pair", file.display()))),
        }
    }

    pub(crate) fn access_key_id(&self) -> &str {
        &self.access_key_id
    }

    pub(crate) fn secret_access_key(&self) -> &str {
        self.secret_access_key.expose_secret()
    }

    pub(crate) fn session_token(&self) -> Option<&str> {
        self.session_token.as_ref().map(ExposeSecret::expose_secret)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("access_key_id", &self.access_key_id).finish_non_exhaustive()
    }
}

fn missing(reason: String) -> Error {
    Error::CredentialsMissing { reason }
}

/// The value of a key in a `[profile]` section. The last one wins, as it does for the AWS tools.
fn profile_value<'a>(text: &'a str, profile: &str, key: &str) -> Option<&'a str> {
    let mut inside = false;
    let mut found = None;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            inside = section.trim() == profile;
        } else if inside
            && let Some((name, value)) = line.split_once('=')
            && name.trim() == key
        {
            found = Some(value.trim()).filter(|value| !value.is_empty());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::Credentials;

    fn from(pairs: &[(&str, &str)]) -> crate::Result<Credentials> {
        Credentials::from_variables(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn environment_comes_first() {
        let found = from(&[
            ("AWS_ACCESS_KEY_ID", "id"),
            ("AWS_SECRET_ACCESS_KEY", "hush"),
            ("AWS_SESSION_TOKEN", "session"),
            ("AWS_SHARED_CREDENTIALS_FILE", "/does/not/exist"),
        ])
        .unwrap();
        assert_eq!(
            (found.access_key_id(), found.secret_access_key(), found.session_token()),
            ("id", "hush", Some("session"))
        );
    }

    #[test]
    fn the_named_profile_is_read() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(
            file,
            "# comment\n[default]\naws_access_key_id = a\naws_secret_access_key = b\n\n\
             [ other ]\naws_access_key_id=c\naws_secret_access_key=d=e\naws_session_token = f\n[broken]\naws_access_key_id=x"
        )
        .unwrap();
        let path = file.path().to_str().unwrap();
        let default = from(&[("AWS_SHARED_CREDENTIALS_FILE", path)]).unwrap();
        assert_eq!((default.access_key_id(), default.session_token()), ("a", None));
        let other = from(&[("AWS_SHARED_CREDENTIALS_FILE", path), ("AWS_PROFILE", "other")]).unwrap();
        assert_eq!((other.secret_access_key(), other.session_token()), ("d=e", Some("f")));
        for profile in ["broken", "absent"] {
            let error = from(&[("AWS_SHARED_CREDENTIALS_FILE", path), ("AWS_PROFILE", profile)]).unwrap_err();
            assert_eq!(error.code(), "txn.credentials_missing");
            assert!(error.to_string().contains(profile), "{error}");
        }
    }

    #[test]
    fn a_home_folder_has_the_usual_file() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        std::fs::write(
            home.path().join(".aws/credentials"),
            "[default]\naws_access_key_id=h\naws_secret_access_key=i\n",
        )
        .unwrap();
        assert_eq!(from(&[("HOME", home.path().to_str().unwrap())]).unwrap().access_key_id(), "h");
    }

    #[test]
    fn nothing_found_says_where_it_was_looked_for() {
        assert!(from(&[]).unwrap_err().to_string().contains("no home folder"));
        let error = from(&[("HOME", "/does/not/exist")]).unwrap_err();
        assert!(error.to_string().contains("/does/not/exist/.aws/credentials"), "{error}");
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = format!("{:?}", Credentials::new("id", "hush", Some("session".to_owned())));
        assert!(!shown.contains("hush") && !shown.contains("session\""), "{shown}");
    }
}

//! Which server a command talks to: flags over a named profile over the environment over the default profile.

use std::env;
use std::path::PathBuf;

use clap::Args;
use leasehold_client::{Client, ClientCertificate, Endpoint, Options, TraceParent};
use secrecy::SecretString;

use crate::failure::Failure;
use crate::profile::{Profile, Profiles};

/// Where a server listens when nothing else is said.
const ENDPOINT_DEFAULT: &str = "http://localhost:2319";

/// The server, and the key to it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct Connection {
    /// Where the server is [env: LEASEHOLD_ENDPOINT, QUERATOR_ENDPOINT] [default: http://localhost:2319]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) endpoint: Option<String>,

    /// An API key; the environment hides it better from others on the machine [env: LEASEHOLD_API_KEY]
    #[arg(long, global = true, value_name = "KEY", value_parser = secret)]
    api_key: Option<SecretString>,

    /// Certificates (PEM) to trust for https:// in place of the system's [env: LEASEHOLD_CA_FILE]
    #[arg(long, global = true, value_name = "FILE")]
    ca_file: Option<PathBuf>,

    /// A certificate (PEM) to show to servers that ask for one [env: LEASEHOLD_CERTIFICATE_FILE]
    #[arg(long, global = true, value_name = "FILE")]
    certificate_file: Option<PathBuf>,

    /// The private key of the certificate (PEM) [env: LEASEHOLD_KEY_FILE]
    #[arg(long, global = true, value_name = "FILE")]
    key_file: Option<PathBuf>,

    /// Endpoint and key from this profile of ~/.config/leasehold/config.toml [env: LEASEHOLD_PROFILE]
    #[arg(long, global = true, value_name = "NAME")]
    profile: Option<String>,
}

/// Any text: a refusal would repeat it.
fn secret(text: &str) -> Result<SecretString, std::convert::Infallible> {
    Ok(SecretString::from(text))
}

/// A variable that is set to nothing says nothing.
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// What the environment and the profiles say, apart from where they say it.
#[derive(Debug, Default)]
struct Surroundings {
    endpoint: Option<String>,
    api_key: Option<SecretString>,
    ca_file: Option<PathBuf>,
    certificate_file: Option<PathBuf>,
    key_file: Option<PathBuf>,
    trace_parent: Option<TraceParent>,
    /// Named by a flag: over the environment.
    chosen: Option<Profile>,
    /// The one that is used when none is named: under the environment.
    default: Option<Profile>,
}

impl Connection {
    /// Whether a server was named on the command line.
    pub(crate) fn is_given(&self) -> bool {
        self.endpoint.is_some() || self.profile.is_some()
    }

    pub(crate) fn client(&self) -> Result<Client, Failure> {
        let (endpoint, options) = self.resolve()?;
        Ok(Client::new(endpoint.parse::<Endpoint>()?, &options)?)
    }

    /// The endpoint in words, and how to talk to it.
    pub(crate) fn resolve(&self) -> Result<(String, Options), Failure> {
        let profiles = Profiles::read()?;
        let default = match variable("LEASEHOLD_PROFILE") {
            Some(name) => Some(profiles.named(&name)?),
            None => profiles.fallback()?,
        };
        Ok(self.over(Surroundings {
            endpoint: variable("LEASEHOLD_ENDPOINT").or_else(|| variable("QUERATOR_ENDPOINT")),
            api_key: variable("LEASEHOLD_API_KEY").map(SecretString::from),
            ca_file: variable("LEASEHOLD_CA_FILE").map(PathBuf::from),
            certificate_file: variable("LEASEHOLD_CERTIFICATE_FILE").map(PathBuf::from),
            key_file: variable("LEASEHOLD_KEY_FILE").map(PathBuf::from),
            // Of whatever runs this command; what is none is not for us to refuse.
            trace_parent: variable("TRACEPARENT").and_then(|text| text.parse().ok()),
            chosen: self.profile.as_deref().map(|name| profiles.named(name)).transpose()?,
            default,
        }))
    }

    fn over(&self, around: Surroundings) -> (String, Options) {
        let Surroundings {
            endpoint,
            api_key,
            ca_file,
            certificate_file,
            key_file,
            trace_parent,
            chosen,
            default,
        } = around;
        let of = |profile: &Option<Profile>| profile.as_ref().and_then(|profile| profile.endpoint.clone());
        let endpoint = self
            .endpoint
            .clone()
            .or_else(|| of(&chosen))
            .or(endpoint)
            .or_else(|| of(&default))
            .unwrap_or_else(|| ENDPOINT_DEFAULT.to_owned());
        // The key of a profile is for the server of that profile: another one must not be shown it.
        let belongs = |profile: &Profile| profile.endpoint.as_deref() == Some(endpoint.as_str());
        let (chosen, default) = (chosen.filter(belongs), default.filter(belongs));
        let key_of = |profile: &Option<Profile>| profile.as_ref().and_then(|profile| profile.api_key.clone());
        let file =
            |flag: &Option<PathBuf>, variable: Option<PathBuf>, of: fn(&Profile) -> &Option<PathBuf>| {
                let of = |profile: &Option<Profile>| profile.as_ref().and_then(|profile| of(profile).clone());
                flag.clone().or_else(|| of(&chosen)).or(variable).or_else(|| of(&default))
            };
        let certificate_file =
            file(&self.certificate_file, certificate_file, |profile| &profile.certificate_file);
        let key_file = file(&self.key_file, key_file, |profile| &profile.key_file);
        let options = Options {
            api_key: self
                .api_key
                .clone()
                .or_else(|| key_of(&chosen))
                .or(api_key)
                .or_else(|| key_of(&default)),
            ca_file: file(&self.ca_file, ca_file, |profile| &profile.ca_file),
            // A chain and its key may be in one file.
            certificate: certificate_file.map(|certificate_file| ClientCertificate {
                key_file: key_file.unwrap_or_else(|| certificate_file.clone()),
                certificate_file,
            }),
            trace_parent,
            ..Options::default()
        };
        (endpoint, options)
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn profile(endpoint: &str, key: &str) -> Option<Profile> {
        Some(Profile {
            endpoint: Some(endpoint.to_owned()),
            api_key: Some(SecretString::from(key)),
            ..Profile::default()
        })
    }

    fn resolved(connection: &Connection, around: Surroundings) -> (String, Option<String>) {
        let (endpoint, options) = connection.over(around);
        (endpoint, options.api_key.map(|key| key.expose_secret().to_owned()))
    }

    #[test]
    fn flag_is_over_chosen_profile_over_environment_over_default_profile() {
        let around = || Surroundings {
            endpoint: Some("http://env".to_owned()),
            chosen: profile("http://chosen", "c"),
            default: profile("http://default", "d"),
            ..Surroundings::default()
        };
        let flag = Connection { endpoint: Some("http://flag".to_owned()), ..Connection::default() };
        assert_eq!(resolved(&flag, around()).0, "http://flag");
        let nothing = Connection::default();
        assert_eq!(resolved(&nothing, around()), ("http://chosen".to_owned(), Some("c".to_owned())));
        let unchosen = Surroundings { chosen: None, ..around() };
        assert_eq!(resolved(&nothing, unchosen).0, "http://env");
        let quiet = Surroundings { chosen: None, endpoint: None, ..around() };
        assert_eq!(resolved(&nothing, quiet), ("http://default".to_owned(), Some("d".to_owned())));
        assert_eq!(resolved(&nothing, Surroundings::default()), (ENDPOINT_DEFAULT.to_owned(), None));
    }

    #[test]
    fn key_of_a_profile_is_not_shown_to_another_server() {
        let flag = Connection { endpoint: Some("http://elsewhere".to_owned()), ..Connection::default() };
        let around = Surroundings {
            chosen: profile("http://chosen", "c"),
            default: profile("http://default", "d"),
            ..Surroundings::default()
        };
        assert_eq!(resolved(&flag, around), ("http://elsewhere".to_owned(), None));
    }

    #[test]
    fn key_is_not_in_the_debug_form() {
        let connection =
            Connection { api_key: Some(SecretString::from("qtr-live-hunter2")), ..Connection::default() };
        assert!(!format!("{connection:?}").contains("hunter2"));
        assert!(!format!("{:?}", connection.over(Surroundings::default())).contains("hunter2"));
    }
}

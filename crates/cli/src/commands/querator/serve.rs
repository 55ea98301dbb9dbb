use super::Refusal;
use crate::commands::serve::Serve;

/// Runs the server, and says in Querator's words why it could not start.
pub(crate) fn serve(serve: Serve) -> Result<(), Refusal> {
    match serve.run() {
        Ok(_) => Ok(()),
        Err(failure) => {
            let step = match failure.code() {
                "server.config_unreadable" => "while opening config file",
                "server.config_too_long" | "server.config_malformed" => "while reading config file",
                "server.log_handler"
                | "server.driver"
                | "server.auth_driver"
                | "server.queue_storage"
                | "server.queue"
                | "server.queue_timeout"
                | "server.timeout"
                | "server.max_conns"
                | "server.connection_string_missing" => "while applying config file",
                _ => "while creating daemon",
            };
            Err(Refusal { command: "server", text: format!("{step}: {}", failure.line()) })
        }
    }
}

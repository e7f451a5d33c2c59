//! One client's connection.

use std::collections::HashMap;
use std::sync::Arc;

use gitserver::{Service, Session, Span, Version, greeting};
use russh::server::{
    Auth, ChannelOpenHandle, Handler, Msg, PublicKeyOffer, Session as Ssh, VerifiedPublicKey,
};
use russh::{Channel, ChannelId, Error};

use super::server::Shared;

/// What the client of one connection does. A channel carries one command.
pub(super) struct Connection {
    shared: Arc<Shared>,
    versions: HashMap<ChannelId, Version>,
    sessions: HashMap<ChannelId, Session>,
}

impl Connection {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            versions: HashMap::new(),
            sessions: HashMap::new(),
        }
    }

    fn verdict(&self, key: &russh::keys::PublicKey) -> Auth {
        if self.shared.is_allowed(key) {
            Auth::Accept
        } else {
            Auth::reject()
        }
    }

    /// Ends a command.
    fn end(&mut self, channel: ChannelId, status: u32, ssh: &mut Ssh) -> Result<(), Error> {
        self.sessions.remove(&channel);
        ssh.exit_status_request(channel, status)?;
        ssh.eof(channel)?;
        ssh.close(channel)
    }
}

impl Handler for Connection {
    type Error = Error;

    async fn auth_publickey_offered(
        &mut self,
        _user: &str,
        offer: PublicKeyOffer<'_>,
    ) -> Result<Auth, Error> {
        Ok(self.verdict(offer.public_key))
    }

    async fn auth_publickey(&mut self, _user: &str, key: VerifiedPublicKey<'_>) -> Result<Auth, Error> {
        Ok(self.verdict(key.public_key))
    }

    async fn channel_open_session(
        &mut self,
        _channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _ssh: &mut Ssh,
    ) -> Result<(), Error> {
        reply.accept().await;
        Ok(())
    }

    async fn env_request(
        &mut self,
        channel: ChannelId,
        name: &str,
        value: &str,
        ssh: &mut Ssh,
    ) -> Result<(), Error> {
        if name != "GIT_PROTOCOL" {
            return ssh.channel_failure(channel);
        }
        self.versions.insert(channel, Version::requested(value));
        ssh.channel_success(channel)
    }

    async fn exec_request(&mut self, channel: ChannelId, command: &[u8], ssh: &mut Ssh) -> Result<(), Error> {
        let command = String::from_utf8_lossy(command);
        self.shared.command(&command);
        ssh.channel_success(channel)?;
        let Some((service, path)) = parse(&command) else {
            ssh.extended_data(
                channel,
                1,
                b"only git-upload-pack and git-receive-pack can be run here\n".to_vec(),
            )?;
            return self.end(channel, 127, ssh);
        };
        let Some(repository) = self.shared.git.find(&path) else {
            ssh.extended_data(
                channel,
                1,
                format!("repository {path:?} not found\n").into_bytes(),
            )?;
            return self.end(channel, 128, ssh);
        };
        let version = self.versions.get(&channel).copied().unwrap_or_default();
        ssh.data(channel, greeting(&repository, service, version))?;
        self.sessions
            .insert(channel, Session::new(repository, service, version, Span::Whole));
        Ok(())
    }

    async fn data(&mut self, channel: ChannelId, data: &[u8], ssh: &mut Ssh) -> Result<(), Error> {
        let Some(session) = self.sessions.get_mut(&channel) else {
            return Ok(());
        };
        let out = session.feed(data);
        let finished = session.is_finished();
        if !out.is_empty() {
            ssh.data(channel, out)?;
        }
        if finished {
            self.end(channel, 0, ssh)
        } else {
            Ok(())
        }
    }

    async fn channel_eof(&mut self, channel: ChannelId, ssh: &mut Ssh) -> Result<(), Error> {
        // A client that only listed references says no more.
        if self.sessions.contains_key(&channel) {
            self.end(channel, 0, ssh)
        } else {
            Ok(())
        }
    }
}

/// The service and path of a command such as `git-upload-pack '/team/app.git'` or `git upload-pack /team/app.git`.
fn parse(command: &str) -> Option<(Service, String)> {
    let command = command
        .strip_prefix("git ")
        .map(|rest| format!("git-{rest}"))
        .unwrap_or(command.to_string());
    let (name, path) = command.split_once(' ')?;
    let path = path.trim();
    // The quoting of a shell, as far as git writes it: 'it'\''s'.
    let path = match path.strip_prefix('\'').and_then(|path| path.strip_suffix('\'')) {
        Some(quoted) => quoted.replace("'\\''", "'").replace("'\\!'", "!"),
        None => path.to_string(),
    };
    Some((Service::named(name)?, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_as_git_writes_them() {
        let path = |command| parse(command).map(|(_, path)| path);
        assert_eq!(
            path("git-upload-pack '/team/app.git'").as_deref(),
            Some("/team/app.git")
        );
        assert_eq!(path("git receive-pack /app").as_deref(), Some("/app"));
        assert_eq!(path(r"git-upload-pack 'it'\''s'").as_deref(), Some("it's"));
        assert_eq!(path("rm -rf /"), None);
        assert_eq!(path("git-upload-pack"), None);
    }
}

//! Connections through a SOCKS 5 proxy (RFC 1928, RFC 1929), for SSH. HTTP clients have their own.

use std::io;

use secrecy::ExposeSecret;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

use crate::http::{self, Problem, Proxy, ProxyFailure};

const VERSION: u8 = 5;
const NO_LOGIN: u8 = 0;
const PASSWORD: u8 = 2;
const CONNECT: u8 = 1;
const NAME: u8 = 3;

/// Why a proxy does not help.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("its address does not begin with socks5://")]
    Scheme,
    #[error("its address is not valid: it must be socks5://HOST:PORT")]
    Address,
    #[error("the user name, the password or the host is too long for a SOCKS proxy")]
    TooLong,
    #[error("it lets in somebody else, or only with a login")]
    Login,
    #[error("SOCKS reply {0}")]
    Refused(u8),
    #[error("what is there is no SOCKS 5 proxy")]
    NoProxy,
    #[error(transparent)]
    Io(io::Error),
}

impl Error {
    /// This of a proxy.
    pub(super) fn told_of(self, proxy: &Proxy) -> ProxyFailure {
        let problem = match &self {
            Error::Scheme => Problem::Kind,
            Error::Login => Problem::Login,
            Error::Refused(_) | Error::TooLong => Problem::Refused,
            Error::Address | Error::NoProxy | Error::Io(_) => Problem::Unreachable,
        };
        let source = (problem != Problem::Kind).then(|| self.into());
        ProxyFailure::of(proxy, problem, source)
    }
}

/// A connection to a host that the proxy resolves.
pub(super) async fn connect(proxy: &Proxy, host: &str, port: u16) -> Result<TcpStream, Error> {
    if !proxy.address.starts_with("socks5://") && !proxy.address.starts_with("socks5h://") {
        return Err(Error::Scheme);
    }
    let address: Url = proxy.address.parse().map_err(|_| Error::Address)?;
    let at = address.host_str().ok_or(Error::Address)?;
    let at = at.trim_start_matches('[').trim_end_matches(']');
    let stream = http::connect(at, address.port().unwrap_or(1080)).await;
    let mut stream = stream.map_err(Error::Io)?;
    greet(&mut stream, login(proxy, &address)?).await?;
    let mut request = vec![VERSION, CONNECT, 0, NAME];
    request.extend(counted(host.as_bytes())?);
    request.extend(port.to_be_bytes());
    stream.write_all(&request).await.map_err(Error::Io)?;
    answer(&mut stream).await?;
    Ok(stream)
}

/// The message that logs in, if there is someone to log in as: the Secret's, or the address's.
fn login(proxy: &Proxy, address: &Url) -> Result<Option<Vec<u8>>, Error> {
    let decoded = |text: &str| percent_encoding::percent_decode_str(text).collect::<Vec<u8>>();
    let (user, password) = match &proxy.login {
        Some(login) => (
            login.user.clone().into_bytes(),
            login.password.expose_secret().as_bytes().to_vec(),
        ),
        None if address.username().is_empty() => return Ok(None),
        None => (
            decoded(address.username()),
            decoded(address.password().unwrap_or_default()),
        ),
    };
    let mut message = vec![1];
    message.extend(counted(&user)?);
    message.extend(counted(&password)?);
    Ok(Some(message))
}

async fn greet(stream: &mut TcpStream, login: Option<Vec<u8>>) -> Result<(), Error> {
    let methods: &[u8] = match login {
        Some(_) => &[NO_LOGIN, PASSWORD],
        None => &[NO_LOGIN],
    };
    let mut greeting = vec![VERSION];
    greeting.extend(counted(methods)?);
    stream.write_all(&greeting).await.map_err(Error::Io)?;
    let [version, method] = read(stream).await?;
    match (version, method, login) {
        (VERSION, NO_LOGIN, _) => Ok(()),
        (VERSION, PASSWORD, Some(login)) => {
            stream.write_all(&login).await.map_err(Error::Io)?;
            match read(stream).await? {
                [_, 0] => Ok(()),
                _ => Err(Error::Login),
            }
        }
        (VERSION, _, _) => Err(Error::Login),
        _ => Err(Error::NoProxy),
    }
}

/// Reads what the proxy says to the request, to its end.
async fn answer(stream: &mut TcpStream) -> Result<(), Error> {
    let [version, reply, _, kind] = read(stream).await?;
    if version != VERSION {
        return Err(Error::NoProxy);
    }
    if reply != 0 {
        return Err(Error::Refused(reply));
    }
    let length = match kind {
        1 => 4,
        4 => 16,
        NAME => read::<1>(stream).await?[0].into(),
        _ => return Err(Error::NoProxy),
    };
    // From where the proxy goes on, and by which port, does not matter.
    let mut rest = vec![0; length + 2];
    stream.read_exact(&mut rest).await.map_err(Error::Io).map(drop)
}

async fn read<const N: usize>(stream: &mut TcpStream) -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).await.map_err(Error::Io)?;
    Ok(bytes)
}

/// Bytes with their number before them.
fn counted(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let length = u8::try_from(bytes.len()).map_err(|_| Error::TooLong)?;
    Ok([&[length], bytes].concat())
}

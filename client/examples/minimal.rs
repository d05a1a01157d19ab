//! The least a client can be: connect, write one request, print the answer. What `ax get` is measured against.

use std::io::{Read, Write, stdout};
use std::os::unix::net::UnixStream;

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(socket), Some(target)) = (args.next(), args.next()) else {
        return Err(std::io::Error::other("usage: minimal SOCKET ID"));
    };
    let mut stream = UnixStream::connect(socket)?;
    let request = format!("{{\"id\":1,\"command\":\"get\",\"args\":{{\"target\":\"{target}\"}}}}\n");
    stream.write_all(request.as_bytes())?;
    let mut buffer = vec![0; 64 * 1024];
    let mut filled = 0;
    while filled == 0 || buffer[filled - 1] != b'\n' {
        let read = stream.read(&mut buffer[filled..])?;
        if read == 0 {
            break;
        }
        filled += read;
    }
    stdout().lock().write_all(&buffer[..filled])
}

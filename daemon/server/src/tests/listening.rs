//! Where and when a server listens.

use std::fs;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::sync::Barrier;
use std::thread;

#[cfg(target_os = "linux")]
use nix::libc;
use nix::unistd::Uid;

use super::*;
use crate::ListenError;
use crate::activation::inherited_as;

fn folder() -> (TempDir, PathBuf) {
    let folder = private_folder();
    let socket = folder.path().join("axd.sock");
    (folder, socket)
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_folder_and_the_socket_are_the_users_alone() {
    let (folder, _) = folder();
    let socket = folder.path().join("made/on/demand/axd.sock");
    let listener = Listener::bind(&socket).unwrap();
    assert_eq!(mode(&socket), 0o600);
    assert_eq!(mode(socket.parent().unwrap()), 0o700);
    assert_eq!(listener.path(), socket);
    drop(listener);
    assert!(!socket.exists());
}

#[test]
fn a_socket_left_behind_by_a_daemon_that_was_killed_is_taken_over() {
    let (_folder, socket) = folder();
    drop(net::UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    let listener = Listener::bind(&socket).unwrap();
    net::UnixStream::connect(&socket).unwrap();
    drop(listener);
}

#[test]
fn a_second_daemon_is_told_who_the_first_is() {
    let (_folder, socket) = folder();
    let _first = Listener::bind(&socket).unwrap();
    let second = Listener::bind(&socket).unwrap_err();
    assert_eq!(second.code(), "ALREADY_RUNNING");
    let pid = format!("(pid {})", std::process::id());
    assert!(second.to_string().contains(&pid), "{second}");
    net::UnixStream::connect(&socket).unwrap();
}

#[test]
fn of_many_that_bind_at_once_exactly_one_wins() {
    let (_folder, socket) = folder();
    drop(net::UnixListener::bind(&socket).unwrap());
    let barrier = Barrier::new(8);
    let outcomes: Vec<_> = thread::scope(|scope| {
        let bind = || {
            barrier.wait();
            Listener::bind(&socket)
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(bind)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (won, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!(won.len(), 1);
    assert!(lost.iter().all(|lost| matches!(lost, Err(ListenError::AlreadyRunning { .. }))));
    net::UnixStream::connect(&socket).unwrap();
}

#[test]
fn a_socket_that_somebody_serves_without_the_lock_is_left_alone() {
    let (_folder, socket) = folder();
    let _activated = net::UnixListener::bind(&socket).unwrap();
    assert_eq!(Listener::bind(&socket).unwrap_err().code(), "ALREADY_RUNNING");
    net::UnixStream::connect(&socket).unwrap();
}

#[test]
fn a_folder_that_is_open_to_others_is_refused_with_what_to_do() {
    let (folder, socket) = folder();
    for mode in [0o755, 0o710, 0o701] {
        fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
        let error = Listener::bind(&socket).unwrap_err();
        let expected = format!(
            "{} is accessible to other users (mode {mode:o}): chmod 700 it, or set AXD_SOCKET",
            folder.path().display()
        );
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
    fs::set_permissions(folder.path(), Permissions::from_mode(0o1777)).unwrap();
    assert!(!Listener::bind(&socket).unwrap_err().to_string().contains("chmod"));
}

#[test]
fn a_folder_of_somebody_else_is_refused_and_so_is_their_link() {
    if !Uid::effective().is_root() {
        return eprintln!("skipped: only root can make a folder somebody else's");
    }
    let (folder, _) = folder();
    let (theirs, link) = (folder.path().join("theirs"), folder.path().join("link"));
    fs::create_dir(&theirs).unwrap();
    fs::set_permissions(&theirs, Permissions::from_mode(0o700)).unwrap();
    symlink(&theirs, &link).unwrap();
    drop(Listener::bind(&link.join("axd.sock")).unwrap());
    std::os::unix::fs::lchown(&link, Some(65534), None).unwrap();
    assert_eq!(Listener::bind(&link.join("axd.sock")).unwrap_err().code(), "PERMISSION_DENIED");
    std::os::unix::fs::chown(&theirs, Some(65534), None).unwrap();
    let error = Listener::bind(&theirs.join("axd.sock")).unwrap_err();
    assert!(error.to_string().contains("belongs to user 65534"), "{error}");
}

#[test]
fn what_is_not_a_socket_is_never_removed() {
    let (folder, socket) = folder();
    fs::write(&socket, "precious").unwrap();
    assert_eq!(Listener::bind(&socket).unwrap_err().code(), "INVALID_ARGS");
    assert_eq!(fs::read_to_string(&socket).unwrap(), "precious");
    let link = folder.path().join("link.sock");
    symlink(&socket, &link).unwrap();
    assert!(matches!(Listener::bind(&link), Err(ListenError::NotASocket(_))));
}

#[test]
fn a_path_that_does_not_fit_is_refused_with_its_length() {
    let (folder, _) = folder();
    let error = Listener::bind(&folder.path().join("x".repeat(120))).unwrap_err();
    assert!(matches!(error, ListenError::PathTooLong(_)));
    assert!(error.to_string().contains("103"), "{error}");
}

#[test]
fn a_successors_socket_is_not_removed() {
    let (_folder, socket) = folder();
    let listener = Listener::bind(&socket).unwrap();
    fs::remove_file(&socket).unwrap();
    let _successor = net::UnixListener::bind(&socket).unwrap();
    drop(listener);
    assert!(socket.exists());
}

/// What a service manager would say, for the socket `fd`.
fn hand_over(fd: i32, pid: u32, count: &str) -> Result<Option<Listener>, ListenError> {
    let env = |name: &str| match name {
        "LISTEN_PID" => Some(std::process::id().to_string().into()),
        "LISTEN_FDS" => Some(count.into()),
        _ => None,
    };
    inherited_as(env, pid, fd)
}

#[tokio::test]
async fn an_inherited_socket_is_served_and_not_removed() {
    let (folder, socket) = folder();
    let fd = net::UnixListener::bind(&socket).unwrap().into_raw_fd();
    let listener = hand_over(fd, std::process::id(), "1").unwrap().unwrap();
    assert!(listener.is_inherited());
    assert_eq!(listener.path(), socket);
    let rig = Rig::serve(folder, listener, ServerOptions::default(), 0);
    let kept = rig.connect().ask(r#"{"id":1,"command":"status"}"#).await;
    assert_eq!(kept["ok"], true);
    rig.stop.trigger();
    timeout(PATIENCE, rig.server).await.unwrap().unwrap().unwrap();
    assert!(socket.exists());
}

#[test]
fn what_is_handed_over_to_another_process_or_is_no_listening_socket_is_not_used() {
    let (_folder, socket) = folder();
    let listening = net::UnixListener::bind(&socket).unwrap();
    assert!(hand_over(listening.as_raw_fd(), 1, "1").unwrap().is_none());
    assert!(hand_over(listening.as_raw_fd(), std::process::id(), "0").unwrap().is_none());
    let file = fs::File::open("/dev/null").unwrap().into_raw_fd();
    let datagram = net::UnixDatagram::unbound().unwrap().into_raw_fd();
    let connected = net::UnixStream::connect(&socket).unwrap().into_raw_fd();
    let tcp = OwnedFd::from(std::net::TcpListener::bind("127.0.0.1:0").unwrap()).into_raw_fd();
    for fd in [file, datagram, connected, tcp, 987] {
        let error = hand_over(fd, std::process::id(), "1").unwrap_err();
        assert!(matches!(error, ListenError::Inherited { .. }), "{error}");
    }
}

#[test]
fn who_waits_at_an_inherited_socket_learns_why_nobody_serves_it() {
    let (_folder, socket) = folder();
    let open = net::UnixListener::bind(&socket).unwrap();
    let mut clients: Vec<_> = (0..3).map(|_| net::UnixStream::connect(&socket).unwrap()).collect();
    std::io::Write::write_all(&mut clients[0], b"{\"id\":1,\"command\":\"status\"}\n").unwrap();
    let listener = Listener::adopt(open.into()).unwrap();
    let error = axd_protocol::Error::new(axd_protocol::ErrorCode::PlatformNotSupported, "no display here");
    crate::activation::refuse(&listener, "none", &error);
    for client in clients {
        let mut answer = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(client), &mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(
            (code(&answer), &answer["error"]["message"]),
            ("PLATFORM_NOT_SUPPORTED", &"no display here".into())
        );
    }
    drop(listener);
    assert!(socket.exists(), "it is not ours to remove");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn another_user_is_turned_away_with_a_word() {
    if !Uid::effective().is_root() {
        return eprintln!("skipped: only root can connect as somebody else");
    }
    let (folder, socket) = folder();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let open = net::UnixListener::bind(&socket).unwrap();
    fs::set_permissions(&socket, Permissions::from_mode(0o666)).unwrap();
    let listener = Listener::adopt(open.into()).unwrap();
    let rig = Rig::serve(folder, listener, ServerOptions::default(), 0);
    let path = socket.clone();
    let stream = thread::spawn(move || {
        // SAFETY: a plain system call. Unlike the library's function it changes this thread only, which then ends.
        assert_eq!(unsafe { libc::syscall(libc::SYS_setresuid, 65534, 65534, 65534) }, 0);
        net::UnixStream::connect(path).unwrap()
    });
    let stream = stream.join().unwrap();
    stream.set_nonblocking(true).unwrap();
    let mut client =
        Client { stream: UnixStream::from_std(stream).unwrap(), buffer: Vec::new(), lines: VecDeque::new() };
    let line = client.line().await.unwrap();
    assert_eq!((&line["id"], code(&line)), (&Value::Null, "PERMISSION_DENIED"));
    client.end().await;
    assert!(rig.sessions.is_empty());
}

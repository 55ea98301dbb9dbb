//! The fault proxy between a client and a server that answers `ok:<line>` to each line.

use std::{net::SocketAddr, time::Duration};

use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    time::timeout,
};

/// Beyond it something hangs.
const LIMIT: Duration = Duration::from_secs(10);
/// How long silence must last to be called silence; a wrong forward on loopback comes in far less.
const SILENCE: Duration = Duration::from_millis(100);

/// What the server saw: `+` a connection, its lines, `-` its end.
struct Server {
    address: SocketAddr,
    seen: UnboundedReceiver<String>,
}

impl Server {
    async fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let address = listener.local_addr().expect("address");
        let (sender, seen) = unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let sender = sender.clone();
                tokio::spawn(async move {
                    let _ = sender.send("+".to_owned());
                    let (read, mut write) = stream.into_split();
                    let mut lines = BufReader::new(read).lines();
                    while let Ok(Some(line)) = lines.next_line().await {
                        let answer = format!("ok:{line}\n");
                        let _ = sender.send(line);
                        let _ = write.write_all(answer.as_bytes()).await;
                    }
                    let _ = sender.send("-".to_owned());
                });
            }
        });
        Server { address, seen }
    }

    async fn next(&mut self) -> String {
        timeout(LIMIT, self.seen.recv()).await.expect("server saw nothing").expect("server runs")
    }

    async fn sees_nothing(&mut self) {
        let seen = timeout(SILENCE, self.seen.recv()).await;
        assert!(seen.is_err(), "server saw {seen:?}");
    }
}

struct Client(BufReader<TcpStream>);

impl Client {
    async fn connect(proxy: &FaultProxy) -> Client {
        Client(BufReader::new(TcpStream::connect(proxy.address()).await.expect("connect")))
    }

    async fn send(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).await.expect("send");
    }

    /// The next line, or `None` when the connection is closed or reset.
    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match timeout(LIMIT, self.0.read_line(&mut line)).await.expect("no answer and no close") {
            Ok(length) if length > 0 => Some(line.trim_end().to_owned()),
            _ => None,
        }
    }

    async fn ask(&mut self, line: &str) -> Option<String> {
        self.send(format!("{line}\n").as_bytes()).await;
        self.line().await
    }

    async fn hears_nothing(&mut self) {
        let heard = timeout(SILENCE, self.0.read_u8()).await;
        assert!(heard.is_err(), "client heard {heard:?}");
    }
}

async fn start() -> (Server, FaultProxy) {
    let server = Server::start().await;
    let proxy = FaultProxy::start(server.address).await.expect("proxy");
    (server, proxy)
}

fn request(bytes: &[u8]) -> Trigger {
    Trigger::Request(bytes.to_vec())
}

fn reply(bytes: &[u8]) -> Trigger {
    Trigger::Reply(bytes.to_vec())
}

async fn until_open(proxy: &FaultProxy, count: usize) {
    let counted = async {
        while proxy.connections() != count {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, counted).await.expect("connections do not settle");
}

#[tokio::test]
async fn without_rules_bytes_pass_untouched_both_ways() {
    let (mut server, proxy) = start().await;
    let mut client = Client::connect(&proxy).await;
    let long = "x".repeat(300_000);
    assert_eq!(client.ask(&long).await, Some(format!("ok:{long}")));
    assert_eq!(client.ask("b").await.as_deref(), Some("ok:b"));
    assert_eq!(server.next().await, "+");
    assert_eq!(server.next().await, long);
    assert_eq!((proxy.connections(), proxy.accepted()), (1, 1));
}

#[tokio::test]
async fn client_that_ends_its_half_still_hears_the_answer() {
    let (_server, proxy) = start().await;
    let mut client = Client::connect(&proxy).await;
    client.send(b"last\n").await;
    client.0.get_mut().shutdown().await.unwrap();
    assert_eq!(client.line().await.as_deref(), Some("ok:last"));
    assert_eq!(client.line().await, None);
    until_open(&proxy, 0).await;
}

#[tokio::test]
async fn cut_request_never_reaches_the_server() {
    let (mut server, proxy) = start().await;
    let rule = proxy.add(Rule::on(request(b"COMMIT")).then(Action::Cut));
    let mut client = Client::connect(&proxy).await;
    assert_eq!(client.ask("begin").await.as_deref(), Some("ok:begin"));
    assert_eq!(rule.count(), 0);
    assert_eq!(client.ask("COMMIT").await, None);
    rule.fired().await;
    assert_eq!([server.next().await, server.next().await, server.next().await], ["+", "begin", "-"]);
    assert_eq!(rule.count(), 1);
}

#[tokio::test]
async fn cut_after_forward_reaches_the_server_and_closes_both_sides() {
    let (mut server, proxy) = start().await;
    let rule = proxy.add(Rule::on(request(b"COMMIT")).then(Action::CutAfterForward));
    let mut client = Client::connect(&proxy).await;
    assert_eq!(client.ask("COMMIT").await, None);
    rule.fired().await;
    assert_eq!([server.next().await, server.next().await, server.next().await], ["+", "COMMIT", "-"]);
}

#[tokio::test]
async fn dropped_reply_means_the_server_acted_and_the_client_does_not_know() {
    let (mut server, proxy) = start().await;
    let rule = proxy.add(Rule::on(request(b"COMMIT")).then(Action::DropReply));
    let mut client = Client::connect(&proxy).await;
    assert_eq!(client.ask("begin").await.as_deref(), Some("ok:begin"));
    assert_eq!(client.ask("COMMIT").await, None);
    timeout(LIMIT, rule.fired()).await.unwrap();
    // At this point the server has acted already: nothing to wait for.
    let seen = [server.seen.try_recv(), server.seen.try_recv(), server.seen.try_recv()];
    assert_eq!(seen.map(Result::unwrap), ["+", "begin", "COMMIT"]);
    assert_eq!(server.next().await, "-");
}

#[tokio::test]
async fn blackhole_keeps_both_sides_open_and_silent() {
    let (mut server, proxy) = start().await;
    let rule = proxy.add(Rule::on(request(b"dark")).then(Action::Blackhole));
    let mut client = Client::connect(&proxy).await;
    assert_eq!(client.ask("light").await.as_deref(), Some("ok:light"));
    client.send(b"dark\n").await;
    rule.fired().await;
    client.send(b"after\n").await;
    client.hears_nothing().await;
    assert_eq!([server.next().await, server.next().await], ["+", "light"]);
    server.sees_nothing().await;
    assert_eq!(proxy.connections(), 1);
    // Not even the client's end gets through.
    drop(client);
    server.sees_nothing().await;
    proxy.cut_all();
    assert_eq!(server.next().await, "-");
}

#[tokio::test]
async fn delay_holds_the_chunk_and_keeps_the_order() {
    let (mut server, proxy) = start().await;
    // Long for a busy machine to send and notice one line.
    let delay = Duration::from_secs(2);
    let rule = proxy.add(Rule::on(request(b"slow")).then(Action::Delay(delay)));
    let mut client = Client::connect(&proxy).await;
    let begun = std::time::Instant::now();
    client.send(b"slow\n").await;
    rule.fired().await;
    assert!(begun.elapsed() < delay, "fired means that the delay begins");
    client.send(b"next\n").await;
    assert_eq!(client.line().await.as_deref(), Some("ok:slow"));
    assert!(begun.elapsed() >= delay);
    assert_eq!(client.line().await.as_deref(), Some("ok:next"));
    assert_eq!([server.next().await, server.next().await, server.next().await], ["+", "slow", "next"]);
}

#[tokio::test]
async fn held_chunk_goes_on_when_it_is_let_go() {
    let (mut server, proxy) = start().await;
    let rule = proxy.add(Rule::on(request(b"late")).then(Action::Hold));
    let (mut held, mut other) = (Client::connect(&proxy).await, Client::connect(&proxy).await);
    held.send(b"late\n").await;
    rule.fired().await;
    assert_eq!(other.ask("early").await.as_deref(), Some("ok:early"), "other connections go on");
    rule.let_go();
    assert_eq!(held.line().await.as_deref(), Some("ok:late"));
    let seen = [server.next().await, server.next().await, server.next().await, server.next().await];
    assert_eq!(seen, ["+", "+", "early", "late"]);
}

#[tokio::test]
async fn delayed_reply_does_not_hold_up_requests() {
    let (mut server, proxy) = start().await;
    let rule = proxy.add(Rule::on(reply(b"ok:a")).then(Action::Delay(Duration::from_millis(150))));
    let mut client = Client::connect(&proxy).await;
    client.send(b"a\n").await;
    rule.fired().await;
    client.send(b"b\n").await;
    assert_eq!([server.next().await, server.next().await, server.next().await], ["+", "a", "b"]);
    assert_eq!(client.line().await.as_deref(), Some("ok:a"));
}

#[tokio::test]
async fn cut_reply_is_lost_after_the_server_acted() {
    for action in [Action::Cut, Action::DropReply] {
        let (mut server, proxy) = start().await;
        let rule = proxy.add(Rule::on(reply(b"ok:COMMIT")).then(action));
        let mut client = Client::connect(&proxy).await;
        assert_eq!(client.ask("COMMIT").await, None);
        rule.fired().await;
        assert_eq!([server.next().await, server.next().await, server.next().await], ["+", "COMMIT", "-"]);
    }
}

#[tokio::test]
async fn cut_after_forwarded_reply_reaches_the_client() {
    let (_server, proxy) = start().await;
    proxy.add(Rule::on(reply(b"ok:COMMIT")).then(Action::CutAfterForward));
    let mut client = Client::connect(&proxy).await;
    assert_eq!(client.ask("COMMIT").await.as_deref(), Some("ok:COMMIT"));
    assert_eq!(client.line().await, None);
}

#[tokio::test]
async fn blackhole_on_reply_swallows_it() {
    let (mut server, proxy) = start().await;
    let rule = proxy.add(Rule::on(reply(b"ok:a")).then(Action::Blackhole));
    let mut client = Client::connect(&proxy).await;
    client.send(b"a\n").await;
    rule.fired().await;
    client.hears_nothing().await;
    assert_eq!([server.next().await, server.next().await], ["+", "a"]);
    client.send(b"b\n").await;
    server.sees_nothing().await;
}

#[tokio::test]
async fn connect_can_be_cut_before_and_after_the_server() {
    let (mut server, proxy) = start().await;
    let before = proxy.add(Rule::on(Trigger::Connect).then(Action::Cut));
    assert_eq!(Client::connect(&proxy).await.line().await, None);
    before.fired().await;
    server.sees_nothing().await;
    let after = proxy.add(Rule::on(Trigger::Connect).then(Action::CutAfterForward));
    assert_eq!(Client::connect(&proxy).await.line().await, None);
    after.fired().await;
    assert_eq!([server.next().await, server.next().await], ["+", "-"]);
    assert_eq!(Client::connect(&proxy).await.ask("a").await.as_deref(), Some("ok:a"), "each fires once");
    assert_eq!(proxy.accepted(), 3);
}

#[tokio::test]
async fn connect_can_be_delayed_swallowed_or_lose_its_first_reply() {
    let (mut server, proxy) = start().await;
    let delay = Duration::from_millis(100);
    proxy.add(Rule::on(Trigger::Connect).then(Action::Delay(delay)));
    let begun = std::time::Instant::now();
    assert_eq!(Client::connect(&proxy).await.ask("a").await.as_deref(), Some("ok:a"));
    assert!(begun.elapsed() >= delay);
    assert_eq!([server.next().await, server.next().await, server.next().await], ["+", "a", "-"]);

    let lost = proxy.add(Rule::on(Trigger::Connect).then(Action::DropReply));
    assert_eq!(Client::connect(&proxy).await.ask("b").await, None);
    lost.fired().await;
    assert_eq!([server.next().await, server.next().await, server.next().await], ["+", "b", "-"]);

    proxy.add(Rule::on(Trigger::Connect).then(Action::Blackhole));
    let mut client = Client::connect(&proxy).await;
    client.send(b"c\n").await;
    client.hears_nothing().await;
    server.sees_nothing().await;
}

#[tokio::test]
async fn pattern_split_over_two_writes_is_found() {
    let (mut server, proxy) = start().await;
    let rule = proxy.add(Rule::on(request(b"COMMIT")).then(Action::Cut));
    let mut client = Client::connect(&proxy).await;
    // The first half is known to be through before the second is sent.
    assert_eq!(client.ask("a").await.as_deref(), Some("ok:a"));
    client.send(b"x\nCOM").await;
    assert_eq!(client.line().await.as_deref(), Some("ok:x"));
    client.send(b"MIT\n").await;
    assert_eq!(client.line().await, None);
    rule.fired().await;
    // The server is left with half a word, as its line reader reports at the end of the stream.
    let seen = [server.next().await, server.next().await, server.next().await, server.next().await];
    assert_eq!(seen, ["+", "a", "x", "COM"]);
}

#[tokio::test]
async fn same_rules_and_bytes_give_the_same_events_however_they_are_split() {
    let stream = b"one\ntwo\ncut\ntwo\ncut\ncut\nend\n";
    let mut runs = Vec::new();
    for size in [1, 2, 3, 5, 7] {
        let (mut server, proxy) = start().await;
        let two =
            proxy.add(Rule::on(request(b"two\n")).then(Action::Delay(Duration::from_millis(1))).always());
        let cut = proxy.add(Rule::on(request(b"cut\n")).then(Action::CutAfterForward).skip(2));
        let mut client = Client::connect(&proxy).await;
        for chunk in stream.chunks(size) {
            // After the cut there is nobody to write to.
            if client.0.get_mut().write_all(chunk).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
        }
        timeout(LIMIT, cut.fired()).await.unwrap();
        let mut seen = Vec::new();
        while seen.last().is_none_or(|last: &String| last != "-") {
            seen.push(server.next().await);
        }
        // What was sent in one packet with the last `cut` may have gone through with it.
        seen.truncate(7);
        runs.push((seen, two.count(), cut.count()));
    }
    assert_eq!(runs[0].0, ["+", "one", "two", "cut", "two", "cut", "cut"]);
    assert_eq!((runs[0].1, runs[0].2), (2, 1));
    assert!(runs.iter().all(|run| *run == runs[0]), "{runs:?}");
}

#[tokio::test]
async fn rule_with_times_fires_so_often_over_connections() {
    let (_server, proxy) = start().await;
    let rule = proxy.add(Rule::on(request(b"x")).then(Action::Cut).skip(1).times(2));
    let mut outcomes = Vec::new();
    for _ in 0..4 {
        outcomes.push(Client::connect(&proxy).await.ask("x").await.is_some());
    }
    assert_eq!(outcomes, [true, false, false, true]);
    rule.fired_times(2).await;
    assert_eq!(rule.count(), 2);
}

#[tokio::test]
async fn refused_connection_is_reset_and_open_ones_stay() {
    let (_server, proxy) = start().await;
    let mut early = Client::connect(&proxy).await;
    assert!(early.ask("a").await.is_some());
    proxy.refuse(true);
    let late = timeout(LIMIT, async {
        let mut stream = TcpStream::connect(proxy.address()).await?;
        stream.read_u8().await
    });
    assert_eq!(late.await.unwrap().unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    assert!(early.ask("b").await.is_some());
    proxy.refuse(false);
    assert!(Client::connect(&proxy).await.ask("c").await.is_some());
}

#[tokio::test]
async fn cut_all_ends_open_connections_and_lets_new_ones_in() {
    let (_server, proxy) = start().await;
    let (mut one, mut two) = (Client::connect(&proxy).await, Client::connect(&proxy).await);
    assert!(one.ask("a").await.is_some() && two.ask("a").await.is_some());
    assert_eq!(proxy.connections(), 2);
    proxy.cut_all();
    assert_eq!((one.line().await, two.line().await), (None, None));
    until_open(&proxy, 0).await;
    assert!(Client::connect(&proxy).await.ask("b").await.is_some());
}

#[tokio::test]
async fn cleared_rules_do_nothing() {
    let (_server, proxy) = start().await;
    proxy.add(Rule::on(request(b"x")).then(Action::Cut).always());
    proxy.clear();
    assert!(Client::connect(&proxy).await.ask("x").await.is_some());
}

#[tokio::test]
#[should_panic(expected = "removed before it fired")]
async fn waiting_for_a_cleared_rule_fails_instead_of_hanging() {
    let (_server, proxy) = start().await;
    let rule = proxy.add(Rule::on(Trigger::Connect).then(Action::Cut));
    proxy.clear();
    rule.fired().await;
}

#[tokio::test]
async fn dropped_proxy_ends_its_connections_and_frees_its_port() {
    let (mut server, proxy) = start().await;
    let mut client = Client::connect(&proxy).await;
    assert!(client.ask("a").await.is_some());
    let address = proxy.address();
    drop(proxy);
    assert_eq!(client.line().await, None);
    assert_eq!([server.next().await, server.next().await, server.next().await], ["+", "a", "-"]);
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn absent_server_closes_the_client() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let proxy = FaultProxy::start(address).await.unwrap();
    assert_eq!(Client::connect(&proxy).await.line().await, None);
    until_open(&proxy, 0).await;
}

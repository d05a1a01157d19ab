//! Trees as tests compare them: a client's replica, a fresh one, and what a snapshot shows.

use axd_client::{Live, Subscription};
use axd_protocol::command::Subscribe;
use axd_protocol::event::Event;
use axd_protocol::{AppState, Node, NodeId, Replica};
use serde_json::{Value, json};

use crate::{Daemon, Raw};

/// What a client of the library makes of the stream of all apps.
pub struct Mirror {
    stream: Subscription,
    /// The trees.
    pub live: Live,
    /// How many events came.
    pub events: usize,
}

impl Mirror {
    /// Begins to follow everything.
    pub fn of(daemon: &Daemon) -> Mirror {
        Mirror {
            stream: daemon.connection().subscribe(everything()).expect("a subscription"),
            live: Live::new(),
            events: 0,
        }
    }

    /// Takes in one event.
    pub fn take(&mut self) -> Event {
        let push = self.stream.next().expect("the stream goes on").expect("an event");
        self.events += 1;
        let event = push.event.clone();
        self.live.take(push).expect("a difference that fits");
        event
    }

    /// Takes in all there is. The daemon must have the app [`crate::apps::BELL`]: letting it go makes an event, and what is told
    /// before that event is all that was known by then.
    pub fn catch_up(&mut self, client: &mut Raw) {
        client.ok("attach", json!({ "app": "Bell" }));
        client.ok("detach", json!({ "app": "Bell" }));
        loop {
            if let Event::AppState(it) = self.take()
                && it.app.name == "Bell"
                && it.app.state == AppState::Detached
            {
                return;
            }
        }
    }

    /// The tree of an app, as this client has it.
    pub fn tree(&self, app: &str) -> Option<Node> {
        self.live.apps().find(|live| live.info.name == app)?.tree.tree()
    }

    /// Fails unless the tree of the app is soon the one a new client gets. A tree that changes between the two looks is
    /// looked at again; one that differs for good is not the same.
    pub fn comes_to_equal_fresh(&mut self, daemon: &Daemon, client: &mut Raw, app: &str) {
        for _ in 0..20 {
            if self.tree(app) == fresh(daemon, app) {
                return;
            }
            self.catch_up(client);
        }
        self.equals_fresh(daemon, app);
    }

    /// Fails unless the tree of the app is the one a new client gets.
    pub fn equals_fresh(&self, daemon: &Daemon, app: &str) {
        let (held, fresh) = (self.tree(app), fresh(daemon, app));
        if held != fresh {
            panic!(
                "{app} differs after {} events:\n{}",
                self.events,
                first_difference(held.as_ref(), fresh.as_ref())
            );
        }
    }
}

fn everything() -> Subscribe {
    serde_json::from_value(json!({ "snapshot": true })).expect("args of subscribe")
}

/// The tree of an app as a new client gets it.
pub fn fresh(daemon: &Daemon, app: &str) -> Option<Node> {
    let what = serde_json::from_value(json!({ "app": app, "snapshot": true })).expect("args of subscribe");
    for push in daemon.connection().subscribe(what).expect("a subscription") {
        if let Event::Fresh { tree, .. } = push.expect("an event").event {
            // Through a replica, as the other side: how much of a node is shown is not part of the content.
            return Replica::new(tree).tree();
        }
    }
    None
}

/// Waits until everything the app has announced is in; the whole tree then.
pub fn sync(client: &mut Raw, app: &str) -> Node {
    let whole = json!({ "app": app, "sync": true, "max_nodes": 0, "menubar": true, "actions": true });
    let data = client.data("snapshot", whole);
    assert_eq!(data["complete"], true, "{app}");
    node(&data["tree"])
}

/// A tree without what is not content, or not the same from one attachment to the next: native roles and ids.
pub fn content(tree: &Node) -> Value {
    let mut node = json!({
        "role": tree.role.name(), "name": tree.name, "value": tree.value, "description": tree.description,
        "identifier": tree.identifier, "states": tree.states, "actions": tree.actions,
        "children_count": tree.children_count,
    });
    node["children"] = tree.children.iter().map(content).collect();
    node
}

/// The ids of a tree, in its order.
pub fn ids(tree: &Node) -> Vec<NodeId> {
    tree.walk().map(|node| node.id).collect()
}

/// The element that its developer calls so.
pub fn find<'a>(tree: &'a Node, identifier: &str) -> &'a Node {
    let found = tree.walk().find(|node| node.identifier.as_deref() == Some(identifier));
    found.unwrap_or_else(|| panic!("there is no {identifier}"))
}

fn node(value: &Value) -> Node {
    serde_json::from_value(value.clone()).expect("a node")
}

fn first_difference(held: Option<&Node>, fresh: Option<&Node>) -> String {
    let (Some(held), Some(fresh)) = (held, fresh) else {
        return format!("held: {}, fresh: {}", held.is_some(), fresh.is_some());
    };
    let bare = |node: &Node| Node { children: Vec::new(), ..node.clone() };
    let pair = held.walk().zip(fresh.walk()).find(|(held, fresh)| bare(held) != bare(fresh));
    match pair {
        Some((held, fresh)) => format!("held  {:?}\nfresh {:?}", bare(held), bare(fresh)),
        None => format!("held {} elements, fresh {}", held.walk().count(), fresh.walk().count()),
    }
}

//! The marked pictures that are remembered, so that `#7` can be a target.

use std::collections::VecDeque;
use std::hash::Hasher;
use std::sync::{Arc, Weak};

use axd_protocol::command::PictureMark;
use axd_protocol::{Bounds, NodeRef, Point};
use axd_service::Session;
use parking_lot::Mutex;
use rustc_hash::FxHasher;

use crate::apps::app::App;

/// The maximum number of pictures that are remembered.
const MAX_PICTURES: usize = 64;
/// The maximum number of pictures that are remembered of one client.
const MAX_OF_CLIENT: usize = 8;

/// Whose picture it is. Who connects anew for each request, as `ax` does, is known by the names that it gives, if any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PictureOwner {
    connection: u64,
    names: (Option<String>, Option<String>),
}

impl PictureOwner {
    pub fn of(session: &Session) -> PictureOwner {
        PictureOwner { connection: session.client, names: session.names.lock().clone() }
    }

    /// Whether it is the same client, on this connection or another.
    fn is_same_client(&self, other: &PictureOwner) -> bool {
        self.connection == other.connection || self.names == other.names
    }
}

/// A mark that is remembered.
#[derive(Debug, Clone)]
pub(crate) struct KeptMark {
    /// The app; gone if nobody uses it any more.
    pub app: Weak<App>,
    /// The element, as it was called.
    pub node: NodeRef,
    /// Where it was, in points on the desktop.
    pub bounds: Bounds,
    /// Where it is clicked.
    pub point: Point,
    /// Whether it was in a popup.
    pub is_in_popup: bool,
    /// The window of the picture, or of the element.
    pub window: Option<u64>,
}

/// A marked picture. The mark with the number 1 is the first.
#[derive(Debug)]
pub(crate) struct KeptPicture {
    pub handle: String,
    pub marks: Vec<KeptMark>,
    owner: PictureOwner,
}

/// The marked pictures, the latest last.
#[derive(Debug, Default)]
pub(crate) struct KeptPictures(Mutex<VecDeque<Arc<KeptPicture>>>);

impl KeptPictures {
    /// Remembers a picture, in the place of an equal one.
    pub fn add(&self, handle: &str, marks: Vec<KeptMark>, owner: PictureOwner) {
        let mut pictures = self.0.lock();
        pictures.retain(|kept| kept.handle != handle || !kept.owner.is_same_client(&owner));
        let is_own = |kept: &Arc<KeptPicture>| kept.owner.is_same_client(&owner);
        if pictures.iter().filter(|kept| is_own(kept)).count() >= MAX_OF_CLIENT
            && let Some(oldest) = pictures.iter().position(is_own)
        {
            pictures.remove(oldest);
        }
        if pictures.len() >= MAX_PICTURES {
            pictures.pop_front();
        }
        pictures.push_back(Arc::new(KeptPicture { handle: handle.to_owned(), marks, owner }));
    }

    /// The latest picture of a client: of this connection, else of one under the same names.
    pub fn latest(&self, owner: &PictureOwner) -> Option<Arc<KeptPicture>> {
        let pictures = self.0.lock();
        let by = |is_it: &dyn Fn(&PictureOwner) -> bool| {
            pictures.iter().rev().find(|kept| is_it(&kept.owner)).map(Arc::clone)
        };
        by(&|kept| kept.connection == owner.connection).or_else(|| by(&|kept| kept.is_same_client(owner)))
    }

    /// The picture with a handle.
    pub fn named(&self, handle: &str) -> Option<Arc<KeptPicture>> {
        self.0.lock().iter().rev().find(|kept| kept.handle == handle).map(Arc::clone)
    }
}

/// The handle of a picture: of its pixels and of what is marked in it.
pub(crate) fn handle_of(hash: &str, marks: &[PictureMark]) -> String {
    let mut hasher = FxHasher::default();
    hasher.write(hash.as_bytes());
    for mark in marks {
        hasher.write(mark.id.as_str().as_bytes());
        for number in [mark.bounds.x, mark.bounds.y, mark.bounds.width, mark.bounds.height] {
            hasher.write_i32(number);
        }
    }
    format!("{:08x}", hasher.finish() >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(connection: u64, agent: Option<&str>) -> PictureOwner {
        PictureOwner { connection, names: (None, agent.map(str::to_owned)) }
    }

    fn latest(pictures: &KeptPictures, of: &PictureOwner) -> Option<String> {
        pictures.latest(of).map(|kept| kept.handle.clone())
    }

    #[test]
    fn the_latest_picture_is_that_of_the_connection_else_of_the_client() {
        let pictures = KeptPictures::default();
        pictures.add("a", Vec::new(), owner(1, None));
        pictures.add("b", Vec::new(), owner(2, None));
        pictures.add("c", Vec::new(), owner(3, Some("agent")));
        assert_eq!(latest(&pictures, &owner(1, None)).as_deref(), Some("a"));
        assert_eq!(latest(&pictures, &owner(9, None)).as_deref(), Some("b"), "of another connection");
        assert_eq!(latest(&pictures, &owner(9, Some("agent"))).as_deref(), Some("c"));
        assert_eq!(latest(&pictures, &owner(9, Some("other"))), None);
        assert!(pictures.named("a").is_some() && pictures.named("d").is_none());
    }

    #[test]
    fn one_client_does_not_push_out_the_pictures_of_others() {
        let pictures = KeptPictures::default();
        pictures.add("mine", Vec::new(), owner(1, Some("me")));
        for number in 0..200 {
            pictures.add(&number.to_string(), Vec::new(), owner(2, Some("other")));
        }
        assert_eq!(latest(&pictures, &owner(7, Some("me"))).as_deref(), Some("mine"));
        assert_eq!(pictures.0.lock().len(), 1 + MAX_OF_CLIENT);
        for number in 0..200 {
            pictures.add(
                &number.to_string(),
                Vec::new(),
                owner(100 + number, Some(&format!("one {number}"))),
            );
        }
        assert_eq!(pictures.0.lock().len(), MAX_PICTURES);
    }
}

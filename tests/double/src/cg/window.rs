//! The windows on the screen, as the window server lists them.

use axd_protocol::Bounds;

use super::{CGPoint, CGRect};
use crate::cf::{self, CFTypeRef, Owned, constant_strings, out};
use crate::world::current;

const ON_SCREEN_ONLY: u32 = 1;
const INCLUDING_WINDOW: u32 = 1 << 3;
/// The layer of plain windows, and that of the menu bar.
const NORMAL: i64 = 0;
const MENU_BAR: i64 = 24;
/// The window server's own process.
const WINDOW_SERVER: i64 = 88;

constant_strings! {
    kCGWindowNumber = "kCGWindowNumber";
    kCGWindowOwnerPID = "kCGWindowOwnerPID";
    kCGWindowOwnerName = "kCGWindowOwnerName";
    kCGWindowLayer = "kCGWindowLayer";
    kCGWindowBounds = "kCGWindowBounds";
    kCGWindowName = "kCGWindowName";
    kCGWindowAlpha = "kCGWindowAlpha";
    kCGWindowIsOnscreen = "kCGWindowIsOnscreen";
    kCGWindowSharingState = "kCGWindowSharingState";
    kCGWindowStoreType = "kCGWindowStoreType";
    kCGWindowMemoryUsage = "kCGWindowMemoryUsage";
}

/// The null rectangle.
#[unsafe(no_mangle)]
pub static CGRectNull: CGRect =
    CGRect { origin: CGPoint { x: f64::INFINITY, y: f64::INFINITY }, size: CGPoint { x: 0.0, y: 0.0 } };

const NAME: &str = "CGWindowListCopyWindowInfo";

struct Listed {
    number: i64,
    pid: i64,
    owner: String,
    title: Option<String>,
    bounds: Bounds,
    layer: i64,
    on_screen: bool,
}

impl Listed {
    fn dictionary(self) -> Owned {
        let key = |name: &str| cf::string(name, NAME);
        let number = |number: i64| cf::integer(number, NAME);
        let Bounds { x, y, width, height } = self.bounds;
        let side = |name: &str, side: i32| (key(name), cf::real(f64::from(side), NAME));
        let bounds = vec![side("X", x), side("Y", y), side("Width", width), side("Height", height)];
        let mut entries = vec![
            (key("kCGWindowNumber"), number(self.number)),
            (key("kCGWindowOwnerPID"), number(self.pid)),
            (key("kCGWindowOwnerName"), cf::string(&self.owner, NAME)),
            (key("kCGWindowLayer"), number(self.layer)),
            (key("kCGWindowBounds"), cf::dictionary(bounds, NAME)),
            (key("kCGWindowAlpha"), cf::real(1.0, NAME)),
            (key("kCGWindowSharingState"), number(1)),
            (key("kCGWindowStoreType"), number(1)),
            (key("kCGWindowMemoryUsage"), number(1024)),
        ];
        // Who is not on the screen has no such entry at all.
        if self.on_screen {
            entries.push((key("kCGWindowIsOnscreen"), cf::boolean(true)));
        }
        if let Some(title) = self.title {
            entries.push((key("kCGWindowName"), cf::string(&title, NAME)));
        }
        cf::dictionary(entries, NAME)
    }
}

/// `CGWindowListCopyWindowInfo`: front to back, titles only for who may take pictures.
#[unsafe(no_mangle)]
pub extern "C" fn CGWindowListCopyWindowInfo(options: u32, relative_to: u32) -> CFTypeRef {
    let Some(world) = current() else { return std::ptr::null() };
    let may_capture = world.settings.lock().may_capture;
    let apps = world.sim.apps();
    let owner =
        |pid: u32| apps.iter().find(|app| app.pid == pid).map_or(String::new(), |app| app.name.clone());
    let main = world.sim.displays().first().map(|main| main.bounds).unwrap_or_default();
    let bar = Listed {
        number: 3,
        pid: WINDOW_SERVER,
        owner: "Window Server".to_owned(),
        title: may_capture.then(|| "Menubar".to_owned()),
        bounds: Bounds { height: 24, ..main },
        layer: MENU_BAR,
        on_screen: true,
    };
    let windows = world.sim.windows().into_iter().map(|seen| Listed {
        number: seen.window as i64,
        pid: i64::from(seen.pid),
        owner: owner(seen.pid),
        title: may_capture.then_some(seen.title),
        bounds: seen.bounds.unwrap_or_default(),
        layer: NORMAL,
        on_screen: !seen.minimized
            && !world.sim.is_hidden(seen.pid)
            && !world.elsewhere.lock().contains(&seen.pid),
    });
    let listed = [bar].into_iter().chain(windows).filter(|listed| {
        (options & ON_SCREEN_ONLY == 0 || listed.on_screen)
            && (options & INCLUDING_WINDOW == 0 || listed.number == i64::from(relative_to))
    });
    cf::array(listed.map(Listed::dictionary).collect(), NAME).give()
}

/// `CGRectMakeWithDictionaryRepresentation`.
#[unsafe(no_mangle)]
pub extern "C" fn CGRectMakeWithDictionaryRepresentation(dictionary: CFTypeRef, rect: *mut CGRect) -> bool {
    const NAME: &str = "CGRectMakeWithDictionaryRepresentation";
    let side = |name: &str| {
        let key = cf::string(name, NAME);
        cf::real_of(cf::entry(dictionary, key.get(), NAME)?, NAME)
    };
    let sides = (side("X"), side("Y"), side("Width"), side("Height"));
    let (Some(x), Some(y), Some(width), Some(height)) = sides else { return false };
    out(rect, CGRect { origin: CGPoint { x, y }, size: CGPoint { x: width, y: height } })
}

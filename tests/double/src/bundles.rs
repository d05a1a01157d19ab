//! The bundles of apps that show web pages by an engine of their own: by what is in them they are known.

use std::path::PathBuf;

use axd_platform::RunningApp;

/// The folder of this process's bundles.
fn folder() -> PathBuf {
    std::env::temp_dir().join(format!("axd-double-{}", std::process::id()))
}

/// The bundle of an app that is such a one, by its identity; `None` of all others.
pub(crate) fn of_kin(app: &RunningApp) -> Option<PathBuf> {
    let name = &app.name;
    let inside = [
        ("electron", "Electron Framework.framework/Versions/Current/Resources/en.pak".to_owned()),
        ("chromium", format!("{name} Framework.framework/Versions/Current/Resources/resources.pak")),
        ("cef", "Chromium Embedded Framework.framework/Libraries/libEGL.dylib".to_owned()),
    ];
    let (_, mark) = inside.into_iter().find(|(kind, _)| app.identity.contains(kind))?;
    let bundle = folder().join(format!("{name}.app"));
    let mark = bundle.join("Contents/Frameworks").join(mark);
    std::fs::create_dir_all(mark.parent()?).ok()?;
    std::fs::write(mark, "").ok()?;
    Some(bundle)
}

/// Removes them.
pub(crate) fn remove() {
    // There are none if no such app ran.
    let _ = std::fs::remove_dir_all(folder());
}

//! What the built-in apps do, and where their widgets are.

use super::*;
use crate::library::BUILT_IN;

fn app(name: &str) -> Model {
    let (file, text) = BUILT_IN.into_iter().find(|(file, _)| *file == format!("{name}.toml")).unwrap();
    Model::new(Arc::new(Script::parse(file, text).unwrap()), 1, Instant::now())
}

fn value(model: &Model, id: &str) -> String {
    model.widget(model.find(id).unwrap()).unwrap().value.clone().unwrap_or_default()
}

fn name(model: &Model, id: &str) -> String {
    model.widget(model.find(id).unwrap()).unwrap().name.clone().unwrap_or_default()
}

fn is(model: &Model, id: &str, state: State) -> bool {
    model.has(model.find(id).unwrap(), state)
}

fn press(model: &mut Model, ids: &str) {
    for id in ids.split(' ') {
        model.act(&UserAction::Press(id.to_owned()), Instant::now()).unwrap();
    }
}

fn set(model: &mut Model, id: &str, text: &str) -> Result<String, Refusal> {
    model.act(&UserAction::Set(id.to_owned(), text.to_owned()), Instant::now())
}

fn select(model: &mut Model, id: &str, choice: &str) {
    model.act(&UserAction::Select(id.to_owned(), Some(choice.to_owned())), Instant::now()).unwrap();
}

fn items(model: &Model, list: &str) -> Vec<String> {
    let list = model.widget(model.find(list).unwrap()).unwrap();
    list.children.iter().map(|item| model.widget(*item).unwrap().name.clone().unwrap_or_default()).collect()
}

#[test]
fn the_calculator_shows_results_and_keeps_a_history() {
    let mut calculator = app("calculator");
    press(&mut calculator, "seven multiply six equals");
    assert_eq!(value(&calculator, "display"), "42");
    press(&mut calculator, "clear one plus one equals");
    assert_eq!(items(&calculator, "history"), ["7 * 6 = 42", "1 + 1 = 2"]);
    press(&mut calculator, "clear-history");
    assert!(items(&calculator, "history").is_empty());
}

#[test]
fn notes_are_added_edited_searched_and_deleted() {
    let mut notes = app("notes");
    assert_eq!(items(&notes, "notes"), ["Shopping", "Ideas", "Meeting"]);
    press(&mut notes, "new");
    assert!(is(&notes, "body", State::Focused));
    set(&mut notes, "body", "Plan\nfirst").unwrap();
    assert_eq!(items(&notes, "notes")[0], "Plan");
    assert_eq!(name(&notes, "status-text"), "Edited");
    select(&mut notes, "notes", "Ideas");
    assert_eq!(value(&notes, "body"), "Ideas\nA daemon that keeps trees");
    set(&mut notes, "search", "milk").unwrap();
    assert!(is(&notes, "note-2", State::Hidden) && !is(&notes, "note-1", State::Hidden));
    set(&mut notes, "search", "").unwrap();
    press(&mut notes, "file file-delete");
    let blocked = notes.act(&UserAction::Press("new".into()), Instant::now()).unwrap_err();
    assert!(blocked.text.contains("blocked by the dialog 'confirm-delete'"), "{blocked}");
    press(&mut notes, "confirm-yes");
    assert_eq!(items(&notes, "notes"), ["Plan", "Shopping", "Meeting"]);
    assert_eq!(notes.windows().len(), 1);
}

#[test]
fn menus_open_and_close() {
    let mut notes = app("notes");
    let hidden = notes.act(&UserAction::Press("file-save".into()), Instant::now()).unwrap_err();
    assert!(hidden.text.contains("hidden"), "{hidden}");
    press(&mut notes, "file");
    assert!(is(&notes, "file", State::Expanded) && !is(&notes, "file-save", State::Hidden));
    press(&mut notes, "edit");
    assert!(is(&notes, "file", State::Collapsed) && is(&notes, "edit", State::Expanded));
    press(&mut notes, "edit-spelling");
    assert!(!is(&notes, "edit-spelling", State::Checked) && is(&notes, "edit", State::Collapsed));
}

#[test]
fn apply_is_enabled_by_any_change_and_disabled_by_itself() {
    for action in ["notify", "wifi", "theme-dark", "pin"] {
        let mut settings = app("settings");
        press(&mut settings, action);
        assert!(!is(&settings, "apply", State::Disabled), "{action}");
        press(&mut settings, "apply");
        assert!(is(&settings, "apply", State::Disabled), "{action}");
    }
    let refused = app("settings").act(&UserAction::Press("apply".into()), Instant::now()).unwrap_err();
    assert_eq!(refused.text, "button 'apply' is disabled");
}

#[test]
fn every_control_does_what_its_kind_does() {
    let mut settings = app("settings");
    press(&mut settings, "theme-dark");
    assert!(is(&settings, "theme-dark", State::Checked) && !is(&settings, "theme-light", State::Checked));
    set(&mut settings, "volume", "250").unwrap();
    assert_eq!(value(&settings, "volume"), "100");
    assert!(set(&mut settings, "copies", "many").unwrap_err().text.contains("takes a number"));
    select(&mut settings, "language", "Deutsch");
    assert_eq!(value(&settings, "language"), "Deutsch");
    let refused = set(&mut settings, "language", "Klingon").unwrap_err();
    assert!(refused.text.contains("English, Deutsch"), "{refused}");
    press(&mut settings, "tab-advanced more");
    assert!(is(&settings, "page-general", State::Hidden) && is(&settings, "more", State::Expanded));
    assert!(!is(&settings, "more-options", State::Hidden));
    press(&mut settings, "reset ok");
    assert_eq!((value(&settings, "volume").as_str(), settings.windows().len()), ("50", 1));
    assert!(settings.take_changes().contains(&Change::Announced("Settings were reset".into())));
}

#[test]
fn what_is_to_happen_later_happens_when_its_time_has_come() {
    let mut settings = app("settings");
    press(&mut settings, "tab-advanced update");
    let due = settings.next_due().unwrap();
    settings.advance(due);
    assert_eq!(value(&settings, "progress"), "50");
    settings.advance(settings.next_due().unwrap());
    assert_eq!((value(&settings, "progress").as_str(), settings.next_due()), ("100", None));
}

#[test]
fn a_virtual_table_has_only_the_rows_in_view() {
    let mut table = app("table");
    let rows = |model: &Model| model.widget(model.find("table").unwrap()).unwrap().children.clone();
    let before = rows(&table);
    assert_eq!(before.len(), 20);
    table.act(&UserAction::Scroll("table".into(), 11), Instant::now()).unwrap();
    let after = rows(&table);
    assert_eq!(after[..10], before[10..], "rows that stay in view stay the same");
    assert_eq!(table.widget(after[19]).unwrap().row, Some(29));
    select(&mut table, "table", "5000");
    let chosen = table.find("selected:table").unwrap();
    assert_eq!(table.widget(chosen).unwrap().row, Some(4999));
    assert_eq!(name(&table, "chosen"), "Chosen: Row 5000");
    assert!(rows(&table).iter().all(|row| !before.contains(row)));
}

#[test]
fn paint_counts_strokes_and_its_canvas_has_no_tree() {
    let mut paint = app("paint");
    press(&mut paint, "canvas canvas undo");
    assert_eq!(value(&paint, "strokes"), "1");
    assert!(paint.widget(paint.find("canvas").unwrap()).unwrap().children.is_empty());
}

#[test]
fn every_shown_widget_has_a_place_inside_its_window_and_is_found_there() {
    for name in ["calculator", "notes", "settings", "table", "paint", "form", "files"] {
        let mut model = app(name);
        for id in model.ids().into_iter().map(str::to_owned).collect::<Vec<_>>() {
            let handle = model.find(&id).unwrap();
            let Some(Place { bounds: Some(bounds), visible: true }) = model.place(handle) else { continue };
            let centre =
                axd_protocol::Point { x: bounds.x + bounds.width / 2, y: bounds.y + bounds.height / 2 };
            let path = model.hit_test(centre).unwrap();
            assert!(path.contains(&handle), "{name}: {id} at {bounds:?}");
            let window = model.window_bounds(path[1]).unwrap();
            assert_eq!(bounds.intersection(&window), Some(bounds), "{name}: {id} sticks out");
        }
    }
}

#[test]
fn hidden_and_scrolled_out_widgets_are_not_visible_and_open_menus_lie_on_top() {
    let mut settings = app("settings");
    let user = settings.find("user").unwrap();
    assert_eq!(settings.place(user), Some(Place { bounds: None, visible: false }));
    let mut table = app("table");
    let list = table.find("list").unwrap();
    let items = table.widget(list).unwrap().children.clone();
    assert!(table.place(items[0]).unwrap().visible && !table.place(items[39]).unwrap().visible);
    table.act(&UserAction::Scroll("list".into(), 38), Instant::now()).unwrap();
    assert!(!table.place(items[0]).unwrap().visible && table.place(items[39]).unwrap().visible);
    let mut notes = app("notes");
    press(&mut notes, "file");
    let save = notes.find("file-save").unwrap();
    let bounds = notes.place(save).unwrap().bounds.unwrap();
    let path = notes.hit_test(axd_protocol::Point { x: bounds.x + 5, y: bounds.y + 5 }).unwrap();
    assert_eq!(path.last(), Some(&save));
}

#[test]
fn a_widget_cannot_be_moved_into_itself() {
    let mut notes = app("notes");
    let (toolbar, search) = (notes.find("toolbar").unwrap(), notes.find("search").unwrap());
    assert!(!notes.move_to(toolbar, search, None));
    let status = notes.find("status").unwrap();
    assert!(notes.move_to(search, status, Some(0)));
    assert_eq!(notes.path(search).unwrap()[2], status);
}

#[test]
fn a_hundred_thousand_widgets_come_quickly() {
    let text = "name='Big'\n[[window]]\nid='w'\ntitle='Big'\n\
                children=[{role='table',id='t',generate={rows=20000,columns=4}}]";
    let started = Instant::now();
    let model = Model::new(Arc::new(Script::parse("big.toml", text).unwrap()), 1, started);
    assert_eq!(model.widgets.len(), 100_003);
    assert!(started.elapsed() < std::time::Duration::from_secs(5));
}

#[test]
fn the_text_of_a_secure_field_does_not_come_out_through_a_rule() {
    let text = "name='X'\n[[window]]\nid='w'\ntitle='X'\nchildren=[\
                {role='textfield',id='p',value='secret',states=['secure']},{role='button',id='b'},{role='text',id='t'}]\n\
                [[rule]]\non='press:b'\ndo=[{set='t',text='<{value:p}>'}]";
    let mut model = Model::new(Arc::new(Script::parse("x.toml", text).unwrap()), 1, Instant::now());
    press(&mut model, "b");
    assert_eq!(value(&model, "t"), "<>");
}

use std::path::PathBuf;

use axd_protocol::{Role, State};

use super::*;
use crate::question::{ElementFacts, LaunchFacts};

fn press<'a>(keys: &'a [Combo]) -> Question<'a> {
    Question { command: "press", keys, ..click() }
}

#[test]
fn the_strictest_of_all_rules_that_match_counts_wherever_it_stands() {
    let policy = policy(
        r#"
        default = "deny"
        [[rule]]
        name = "clicks"
        verdict = "allow"
        commands = ["click", "press"]
        [[rule]]
        name = "not here"
        verdict = "deny"
        apps = ["Bank*"]
        reason = "money is for people"
        [[rule]]
        name = "ask for keys"
        verdict = "ask"
        commands = ["press"]
        "#,
    );
    assert_eq!(verdict(&policy, &click()), "allow");
    assert_eq!(refusal(&policy, &press(&[])), "ask for keys");
    assert_eq!(refusal(&policy, &Question { command: "type", ..click() }), "default");
    let bank = AppFacts { name: "Banker", ..NOTES };
    let denied = policy.decide(&Question { app: Fact::Known(bank), ..press(&[]) });
    assert_eq!((&*denied.rule, denied.line), ("not here", Some(7)));
    assert_eq!(denied.to_error().message, "money is for people (not here)");
    let explained = policy.explain(&Question { app: Fact::Known(bank), ..press(&[]) });
    let names: Vec<&str> = explained.matched.iter().map(|matched| &*matched.rule).collect();
    assert_eq!(names, ["not here", "ask for keys", "clicks"]);
}

#[test]
fn a_rule_that_asks_permits_what_the_default_denies_but_only_if_all_of_it_matches_for_sure() {
    let policy = policy(
        "default = \"deny\"\nunknown_apps = \"ask\"\n[[rule]]\nverdict = \"ask\"\nkeys = [\"a\"]\napps = [\"Notes\"]",
    );
    let (a, ab) = ([combo("a")], [combo("a"), combo("b")]);
    assert_eq!(verdict(&policy, &press(&a)), "ask");
    assert_eq!(verdict(&policy, &press(&ab)), "deny");
    let unknown = Question { app: Fact::Unknown, ..press(&a) };
    assert_eq!(verdict(&policy, &unknown), "deny");
    assert_eq!(verdict(&policy, &before(&unknown)), "allow");
    assert_eq!(policy.decide(&before(&unknown)).rule, "rule-in-line-3");
    // What is allowed by default needs nobody's permission.
    let open = super::policy("[[rule]]\nverdict = \"ask\"\napps = [\"Notes\"]");
    assert_eq!(open.decide(&before(&unknown)).rule, "default");
}

#[test]
fn what_shows_and_stops_things_works_whatever_the_file_says() {
    let policy = policy("default = \"deny\"\n[[rule]]\nverdict = \"deny\"");
    for command in crate::ALWAYS_ALLOWED {
        assert_eq!(verdict(&policy, &Question { command, ..Question::default() }), "allow", "{command}");
    }
    assert_eq!(verdict(&policy, &Question { command: "snapshot", ..Question::default() }), "deny");
}

#[test]
fn one_key_is_enough_to_deny_and_all_must_be_allowed() {
    let deny = policy("[[rule]]\nverdict = \"deny\"\nkeys = [\"ctrl+s\"]");
    let allow = policy("default = \"deny\"\n[[rule]]\nverdict = \"allow\"\nkeys = [\"ctrl+s\", \"a\"]");
    for (keys, denied, allowed) in [
        (vec!["ctrl+s"], true, true),
        (vec!["a"], false, true),
        (vec!["a", "ctrl+s"], true, true),
        (vec!["a", "b"], false, false),
        (vec!["a", "ctrl+shift+s"], true, false),
        (vec![], false, false),
    ] {
        let pressed: Vec<Combo> = keys.iter().map(|keys| combo(keys)).collect();
        assert_eq!(verdict(&deny, &press(&pressed)) == "deny", denied, "{keys:?}");
        assert_eq!(verdict(&allow, &press(&pressed)) == "allow", allowed, "{keys:?}");
    }
}

#[test]
fn one_argument_is_enough_to_deny_a_launch_and_all_must_be_allowed() {
    let deny = policy("[[rule]]\nverdict = \"deny\"\nargs = [\"--no-sandbox\"]");
    let allow = policy(
        "default = \"deny\"\n[[rule]]\nverdict = \"allow\"\nprograms = [\"firefox\"]\nargs = [\"https://*\"]",
    );
    let env = policy("[[rule]]\nverdict = \"deny\"\nenv = [\"LD_*\"]");
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>();
    let check = |policy: &Policy, programs: &[&str], args: &[&str], env: &[&str]| {
        let (programs, args, env) = (texts(programs), texts(args), texts(env));
        let launch = Some(LaunchFacts { programs: &programs, args: &args, env: &env });
        verdict(policy, &Question { command: "launch", launch, ..Question::default() })
    };
    assert_eq!(check(&deny, &["chrome"], &["--no-sandbox", "x"], &[]), "deny");
    assert_eq!(check(&deny, &["chrome"], &["x"], &[]), "allow");
    assert_eq!(check(&env, &["chrome"], &[], &["HOME", "ld_preload"]), "deny");
    let firefox = ["firefox", "/usr/bin/firefox"];
    assert_eq!(check(&allow, &firefox, &["https://a", "https://b"], &[]), "allow");
    assert_eq!(check(&allow, &firefox, &["https://a", "-P"], &[]), "deny");
    assert_eq!(check(&allow, &firefox, &[], &[]), "deny");
    let path = policy("default = \"deny\"\n[[rule]]\nverdict = \"allow\"\nprograms = [\"/usr/bin/firefox\"]");
    assert_eq!(check(&path, &firefox, &[], &[]), "allow");
    assert_eq!(check(&path, &["/usr/bin/firefox", "/tmp/x"], &[], &[]), "deny");
    assert_eq!(check(&path, &["firefox"], &[], &[]), "deny");
    // The name that a request gives a program says nothing about the file that is started.
    assert_eq!(check(&allow, &["firefox", "/tmp/evil"], &["https://a"], &[]), "deny");
    assert_eq!(
        check(&allow, &["firefox", "/usr/bin/firefox", "/usr/lib/other"], &["https://a"], &[]),
        "deny"
    );
}

#[test]
fn a_file_whose_path_leads_elsewhere_is_never_allowed_and_always_denied() {
    let deny = policy("[[rule]]\nverdict = \"deny\"\nfiles = [\"/etc/*\"]");
    let allow = policy("default = \"deny\"\n[[rule]]\nverdict = \"allow\"\nfiles = [\"/home/a/*\"]");
    for (files, denied, allowed) in [
        (vec!["/home/a/x"], false, true),
        (vec!["/home/a/x", "/etc/passwd"], true, false),
        (vec!["/home/a/../b"], true, false),
        (vec!["x"], true, false),
        (vec![], false, false),
    ] {
        let files: Vec<PathBuf> = files.into_iter().map(PathBuf::from).collect();
        let question = Question { command: "clipboard-set", files: &files, ..Question::default() };
        assert_eq!(verdict(&deny, &question) == "deny", denied, "{files:?}");
        assert_eq!(verdict(&allow, &question) == "allow", allowed, "{files:?}");
    }
}

#[test]
fn elements_windows_and_clients_are_compared_in_any_case() {
    let policy = policy(
        r#"
        [[rule]]
        name = "pay"
        verdict = "ask"
        commands = ["@acts"]
        roles = ["button", "hyperlink"]
        names = ["pay*"]
        [[rule]]
        name = "secrets"
        verdict = "deny"
        commands = ["@acts"]
        states = ["secure"]
        [[rule]]
        name = "guest"
        verdict = "deny"
        clients = ["Guest*"]
        agents = ["*"]
        "#,
    );
    let on = |role, name, states| Question {
        element: Fact::Known(ElementFacts { role, name, states }),
        ..click()
    };
    assert_eq!(refusal(&policy, &on(Role::Button, Some("PAY now"), &[])), "pay");
    assert_eq!(refusal(&policy, &on(Role::Link, Some("Pay"), &[])), "pay");
    assert_eq!(refusal(&policy, &on(Role::Button, Some("Cancel"), &[])), "allowed");
    assert_eq!(refusal(&policy, &on(Role::Button, None, &[])), "allowed");
    assert_eq!(refusal(&policy, &on(Role::TextField, None, &[State::Focused, State::Secure])), "secrets");
    let by = |client, agent| Question { client, agent, ..click() };
    assert_eq!(refusal(&policy, &by(Some("guest-1"), Some("x"))), "guest");
    assert_eq!(refusal(&policy, &by(Some("guest-1"), None)), "allowed");
    assert_eq!(refusal(&policy, &by(None, Some("x"))), "allowed");
}

#[test]
fn an_app_is_known_by_name_identity_and_programs_but_its_name_is_no_path() {
    let policy = policy(
        "[[rule]]\nname = \"r\"\nverdict = \"deny\"\napps = [\"Bank\", \"org.b.*\", \"/opt/b/*\", \"tool\"]",
    );
    let programs = ["/usr/bin/python3".to_owned(), "/home/a/tool.py".to_owned()];
    let of = |name, identity, programs| {
        let app = AppFacts { name, identity, programs, ..NOTES };
        refusal(&policy, &Question { app: Fact::Known(app), ..click() })
    };
    assert_eq!(of("bank", "x", &[]), "r");
    assert_eq!(of("x", "org.b.App", &[]), "r");
    assert_eq!(of("x", "com.example.Bank", &[]), "r");
    assert_eq!(of("x", "x", &programs), "r");
    let path = ["/opt/b/run".to_owned()];
    assert_eq!(of("x", "x", &path), "r");
    assert_eq!(of("/opt/b/run", "x", &[]), "allowed");
}

#[test]
fn what_is_not_known_denies_and_asks_at_last_and_allows_only_before() {
    let strict = policy("[[rule]]\nverdict = \"ask\"\ncommands = [\"@acts\"]\nwindows = [\"*Pay*\"]");
    let open = policy(
        "default = \"deny\"\n[[rule]]\nverdict = \"allow\"\ncommands = [\"click\"]\nwindows = [\"Notes\"]",
    );
    let question =
        Question { window: Fact::Unknown, app: Fact::Known(NOTES), command: "click", ..Question::default() };
    let strict = Policy { blocked_windows: Vec::new(), ..strict };
    assert_eq!((verdict(&strict, &before(&question)), verdict(&strict, &question)), ("allow", "ask"));
    assert_eq!(verdict(&open, &before(&question)), "allow");
    assert_eq!(verdict(&open, &question), "deny");
    // What does not apply is not unknown.
    let nowhere = Question { window: Fact::None, ..question.clone() };
    assert_eq!(verdict(&strict, &nowhere), "allow");
    assert_eq!((verdict(&open, &before(&nowhere)), verdict(&open, &nowhere)), ("deny", "deny"));
}

#[test]
fn windows_that_may_not_be_read_are_hidden_and_get_no_input_and_are_in_no_picture() {
    let listed = policy("[windows]\nhidden = [\"*Diary*\"]");
    let by_rule =
        policy("[[rule]]\nname = \"r\"\nverdict = \"deny\"\nwindows = [\"*Diary*\"]\napps = [\"Notes\"]");
    let of_reading =
        policy("[[rule]]\nverdict = \"deny\"\ncommands = [\"@observe\"]\nwindows = [\"*Diary*\"]");
    let (notes, diary) = (Fact::Known(NOTES), Fact::Known("My diary"));
    for policy in [&listed, &by_rule, &of_reading] {
        assert!(policy.hides_anything() && policy.hides(notes, diary));
        assert!(!policy.hides(notes, Fact::Known("Notes")) && !policy.hides(notes, Fact::None));
        assert!(policy.hides(notes, Fact::Unknown));
        assert!(policy.blocks_pictures_of(notes, diary).is_some());
        assert!(policy.blocks_pictures_of(notes, Fact::Known("Notes")).is_none());
    }
    assert!(by_rule.hides(Fact::Unknown, diary));
    assert!(!by_rule.hides(Fact::Known(AppFacts { name: "Mail", identity: "x", ..NOTES }), diary));
    let on = |command| Question { command, window: diary, ..click() };
    assert_eq!(refusal(&listed, &on("click")), "hidden-window");
    assert_eq!(refusal(&by_rule, &on("click")), "r");
    assert_eq!(refusal(&of_reading, &on("click")), "allowed");
    // A tree is read as a whole, without the window; what is only about the window is refused.
    for (policy, rule) in [(&listed, "hidden-window"), (&by_rule, "r"), (&of_reading, "rule-in-line-1")] {
        assert_eq!(refusal(policy, &on("get")), rule);
        assert_eq!(refusal(policy, &Question { window: Fact::None, ..on("get") }), "allowed");
        assert_eq!(refusal(policy, &Question { window: Fact::Known("Notes"), ..on("get") }), "allowed");
        assert!(policy.restricts_reading());
    }
    assert!(!policy("[[rule]]\nverdict = \"deny\"\nwindows = [\"*\"]\nkeys = [\"a\"]").hides_anything());
    assert!(
        !policy("[[rule]]\nverdict = \"deny\"\ncommands = [\"click\"]\nwindows = [\"*\"]").hides_anything()
    );
    assert!(!Policy::builtin().hides_anything());
}

#[test]
fn pictures_are_blocked_by_rules_and_not_by_the_default() {
    let file = "default = \"deny\"\n[[rule]]\nname = \"r\"\nverdict = \"ask\"\ncommands = [\"@pictures\"]\napps = [\"Mail\"]";
    let policy = policy(file);
    let mail = AppFacts { name: "Mail", ..NOTES };
    let asked = policy.blocks_pictures_of(Fact::Known(mail), Fact::Known("Inbox"));
    assert_eq!(asked.map(|decision| decision.verdict), Some(Verdict::Ask));
    assert!(policy.blocks_pictures_of(Fact::Known(NOTES), Fact::Known("Inbox")).is_none());
    assert!(policy.blocks_pictures_of(Fact::Unknown, Fact::Known("Inbox")).is_some());
}

#[test]
fn whether_reading_is_restricted_is_known_without_asking() {
    for (file, restricts) in [
        ("", false),
        ("[[rule]]\nverdict = \"deny\"\ncommands = [\"@act\", \"launch\"]", false),
        ("[[rule]]\nverdict = \"deny\"\nkeys = [\"a\"]", false),
        ("[[rule]]\nverdict = \"allow\"", false),
        ("default = \"ask\"", true),
        ("[[rule]]\nverdict = \"ask\"\ncommands = [\"clipboard-get\"]", true),
        ("[windows]\nhidden = [\"a\"]", true),
    ] {
        assert_eq!(policy(file).restricts_reading(), restricts, "{file}");
    }
    assert!(Policy::unreadable("x").restricts_reading());
}

#[test]
fn who_approves_and_who_resumes_is_not_stopped_by_the_default_but_by_a_rule() {
    let asking = policy("default = \"ask\"\n[[rule]]\nverdict = \"ask\"");
    let of = |policy: &Policy, command| {
        refusal(policy, &Question { command, agent: Some("x"), ..Question::default() })
    };
    assert_eq!(
        (of(&asking, "approvals"), of(&asking, "decide")),
        ("allowed".to_owned(), "allowed".to_owned())
    );
    assert_eq!(of(&asking, "shutdown"), "rule-in-line-2");
    let denying = policy(
        "default = \"deny\"\n[[rule]]\nname = \"r\"\nverdict = \"deny\"\ncommands = [\"decide\"]\nagents = [\"*\"]",
    );
    assert_eq!((of(&denying, "decide"), of(&denying, "resume")), ("r".to_owned(), "allowed".to_owned()));
    assert_eq!(refusal(&denying, &Question { command: "decide", ..Question::default() }), "allowed");
}

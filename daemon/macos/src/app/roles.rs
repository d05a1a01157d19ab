//! Maps Apple's roles and subroles to axd's roles: a pure table.

use axd_protocol::Role;

/// The role of an element with this native role and subrole; `parent` is the role of its parent, if known.
pub fn role(native: &str, subrole: Option<&str>, parent: Option<Role>) -> Role {
    use Role as R;
    let plain = match native {
        "AXApplication" => R::Application,
        "AXWindow" => match subrole {
            Some("AXDialog" | "AXSystemDialog") => R::Dialog,
            _ => R::Window,
        },
        "AXSheet" | "AXDrawer" => R::Dialog,
        "AXButton" => match subrole {
            Some("AXToggle" | "AXToggleButton") => R::ToggleButton,
            Some("AXSortButton") => R::ColumnHeader,
            _ => R::Button,
        },
        "AXMenuButton" | "AXDisclosureTriangle" | "AXDockItem" => R::Button,
        "AXCheckBox" => match subrole {
            Some("AXSwitch") => R::Switch,
            Some("AXToggle" | "AXToggleButton") => R::ToggleButton,
            _ => R::Checkbox,
        },
        "AXSwitch" => R::Switch,
        "AXToggle" => R::ToggleButton,
        "AXRadioButton" if subrole == Some("AXTabButton") || parent == Some(R::TabList) => R::Tab,
        "AXRadioButton" => R::Radio,
        "AXRadioGroup" => R::RadioGroup,
        "AXTextField" => match subrole {
            Some("AXSearchField") => R::SearchField,
            _ => R::TextField,
        },
        "AXTextArea" => R::TextArea,
        "AXSearchField" => R::SearchField,
        "AXComboBox" | "AXPopUpButton" => R::Combobox,
        "AXSlider" => R::Slider,
        "AXIncrementor" | "AXStepper" => R::SpinButton,
        "AXDateField" | "AXTimeField" | "AXDateTimeArea" => R::DateField,
        "AXColorWell" => R::ColorWell,
        "AXLink" => R::Link,
        "AXMenuBar" => R::MenuBar,
        "AXMenu" => R::Menu,
        "AXMenuBarItem" => R::Menu,
        "AXMenuItem" => match subrole {
            Some("AXMenuItemCheckbox") => R::MenuItemCheckbox,
            Some("AXMenuItemRadio") => R::MenuItemRadio,
            Some("AXSeparator") => R::Separator,
            _ => R::MenuItem,
        },
        "AXTabGroup" => R::TabList,
        "AXTabPanel" => R::TabPanel,
        "AXList" => R::List,
        "AXListItem" => R::ListItem,
        "AXOutline" => R::Tree,
        "AXBrowser" | "AXTreeGrid" => R::Tree,
        "AXTable" => R::Table,
        "AXGrid" => R::Grid,
        "AXRow" => match subrole {
            Some("AXOutlineRow") => R::TreeItem,
            _ if parent == Some(R::Tree) => R::TreeItem,
            _ => R::Row,
        },
        "AXCell" => match subrole {
            Some("AXColumnHeader") => R::ColumnHeader,
            Some("AXRowHeader") => R::RowHeader,
            _ => R::Cell,
        },
        "AXColumnHeader" => R::ColumnHeader,
        "AXRowHeader" => R::RowHeader,
        "AXColumn" => R::Column,
        "AXStaticText" => R::Text,
        "AXHeading" => R::Heading,
        "AXParagraph" => R::Paragraph,
        "AXImage" | "AXImageMap" => R::Image,
        "AXCanvas" | "AXLayoutArea" => R::Canvas,
        "AXToolbar" => R::Toolbar,
        "AXStatusBar" => R::StatusBar,
        "AXScrollArea" => R::ScrollArea,
        "AXScrollBar" => R::ScrollBar,
        "AXSplitGroup" => R::SplitGroup,
        "AXSplitter" => R::Separator,
        "AXProgressIndicator" | "AXBusyIndicator" => R::ProgressBar,
        "AXLevelIndicator" | "AXRelevanceIndicator" | "AXValueIndicator" => R::Meter,
        "AXHelpTag" => R::Tooltip,
        "AXWebArea" => R::Document,
        "AXVideo" | "AXAudio" => R::Media,
        "AXGroup" => group(subrole),
        "AXGenericElement" | "AXLayoutItem" | "AXMatte" | "AXPopover" | "AXRulerMarker" | "AXRuler" => {
            R::Group
        }
        _ => R::Unknown,
    };
    match (plain, subrole) {
        (R::Unknown, Some("AXSeparator")) => R::Separator,
        (plain, _) => plain,
    }
}

/// The role of a group, which web pages use for everything that has no role of Apple's.
fn group(subrole: Option<&str>) -> Role {
    use Role as R;
    match subrole {
        Some(
            "AXLandmarkMain"
            | "AXLandmarkNavigation"
            | "AXLandmarkBanner"
            | "AXLandmarkRegion"
            | "AXLandmarkComplementary"
            | "AXLandmarkContentInfo"
            | "AXLandmarkSearch",
        ) => R::Landmark,
        Some("AXLandmarkForm" | "AXForm") => R::Form,
        Some("AXApplicationDialog") => R::Dialog,
        Some("AXApplicationAlert" | "AXApplicationAlertDialog") => R::Alert,
        Some("AXApplicationStatus") => R::StatusBar,
        Some("AXUserInterfaceTooltip") => R::Tooltip,
        Some("AXTabPanel") => R::TabPanel,
        Some("AXDocumentArticle" | "AXDocument") => R::Document,
        Some("AXMeter") => R::Meter,
        Some("AXVideo" | "AXAudio") => R::Media,
        Some("AXToggle" | "AXToggleButton") => R::ToggleButton,
        Some("AXSwitch") => R::Switch,
        _ => R::Group,
    }
}

/// Whether the subrole is that of a password field.
pub fn is_secure(subrole: Option<&str>) -> bool {
    subrole == Some("AXSecureTextField")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subroles_and_parents_tell_apart_what_shares_a_role() {
        use Role as R;
        for (native, subrole, parent, expected) in [
            ("AXButton", None, None, R::Button),
            ("AXButton", Some("AXCloseButton"), None, R::Button),
            ("AXCheckBox", Some("AXSwitch"), None, R::Switch),
            ("AXCheckBox", Some("AXToggle"), None, R::ToggleButton),
            ("AXRadioButton", None, Some(R::TabList), R::Tab),
            ("AXRadioButton", None, Some(R::RadioGroup), R::Radio),
            ("AXTextField", Some("AXSecureTextField"), None, R::TextField),
            ("AXTextField", Some("AXSearchField"), None, R::SearchField),
            ("AXRow", Some("AXOutlineRow"), None, R::TreeItem),
            ("AXRow", Some("AXTableRow"), Some(R::Table), R::Row),
            ("AXWindow", Some("AXStandardWindow"), None, R::Window),
            ("AXWindow", Some("AXDialog"), None, R::Dialog),
            ("AXGroup", Some("AXLandmarkMain"), None, R::Landmark),
            ("AXGroup", None, None, R::Group),
            ("AXNeverSeen", None, None, R::Unknown),
        ] {
            assert_eq!(role(native, subrole, parent), expected, "{native} {subrole:?}");
        }
        assert!(is_secure(Some("AXSecureTextField")) && !is_secure(None));
    }
}

//! The strings of the accessibility API: attributes, actions and notifications.

// Attributes.
pub const kAXRoleAttribute: &str = "AXRole";
pub const kAXSubroleAttribute: &str = "AXSubrole";
pub const kAXHelpAttribute: &str = "AXHelp";
pub const kAXTitleAttribute: &str = "AXTitle";
pub const kAXDescriptionAttribute: &str = "AXDescription";
pub const kAXValueAttribute: &str = "AXValue";
pub const kAXValueDescriptionAttribute: &str = "AXValueDescription";
pub const kAXPlaceholderValueAttribute: &str = "AXPlaceholderValue";
pub const kAXEnabledAttribute: &str = "AXEnabled";
pub const kAXElementBusyAttribute: &str = "AXElementBusy";
pub const kAXFocusedAttribute: &str = "AXFocused";
pub const kAXParentAttribute: &str = "AXParent";
pub const kAXChildrenAttribute: &str = "AXChildren";
pub const kAXVisibleChildrenAttribute: &str = "AXVisibleChildren";
pub const kAXSelectedChildrenAttribute: &str = "AXSelectedChildren";
pub const kAXTitleUIElementAttribute: &str = "AXTitleUIElement";
pub const kAXIdentifierAttribute: &str = "AXIdentifier";
pub const kAXPositionAttribute: &str = "AXPosition";
pub const kAXSizeAttribute: &str = "AXSize";
pub const kAXHiddenAttribute: &str = "AXHidden";
pub const kAXSelectedAttribute: &str = "AXSelected";
pub const kAXExpandedAttribute: &str = "AXExpanded";
pub const kAXDisclosingAttribute: &str = "AXDisclosing";
pub const kAXDisclosedRowsAttribute: &str = "AXDisclosedRows";
pub const kAXDisclosureLevelAttribute: &str = "AXDisclosureLevel";
pub const kAXDisclosedByRowAttribute: &str = "AXDisclosedByRow";
pub const kAXModalAttribute: &str = "AXModal";
pub const kAXMinimizedAttribute: &str = "AXMinimized";
pub const kAXMainAttribute: &str = "AXMain";
pub const kAXFrontmostAttribute: &str = "AXFrontmost";
pub const kAXZoomButtonAttribute: &str = "AXZoomButton";
pub const kAXWindowsAttribute: &str = "AXWindows";
pub const kAXExtrasMenuBarAttribute: &str = "AXExtrasMenuBar";
pub const kAXMainWindowAttribute: &str = "AXMainWindow";
pub const kAXFocusedWindowAttribute: &str = "AXFocusedWindow";
pub const kAXRowsAttribute: &str = "AXRows";
pub const kAXVisibleRowsAttribute: &str = "AXVisibleRows";
pub const kAXSelectedRowsAttribute: &str = "AXSelectedRows";
pub const kAXHeaderAttribute: &str = "AXHeader";
pub const kAXIndexAttribute: &str = "AXIndex";
pub const kAXMinValueAttribute: &str = "AXMinValue";
pub const kAXMaxValueAttribute: &str = "AXMaxValue";
pub const kAXNumberOfCharactersAttribute: &str = "AXNumberOfCharacters";
pub const kAXSelectedTextAttribute: &str = "AXSelectedText";
pub const kAXSelectedTextRangeAttribute: &str = "AXSelectedTextRange";
pub const kAXVisibleCharacterRangeAttribute: &str = "AXVisibleCharacterRange";
pub const kAXHorizontalScrollBarAttribute: &str = "AXHorizontalScrollBar";
pub const kAXVerticalScrollBarAttribute: &str = "AXVerticalScrollBar";
pub const kAXMenuItemMarkCharAttribute: &str = "AXMenuItemMarkChar";
pub const kAXContentsAttribute: &str = "AXContents";

// Attributes that are in use, but not in the headers.
pub const AXRequired: &str = "AXRequired";
pub const AXInvalid: &str = "AXInvalid";
pub const AXHasPopup: &str = "AXHasPopup";
pub const AXIsMultiSelectable: &str = "AXIsMultiSelectable";
pub const AXFullScreen: &str = "AXFullScreen";
pub const AXManualAccessibility: &str = "AXManualAccessibility";
pub const AXEnhancedUserInterface: &str = "AXEnhancedUserInterface";

// Parameterized attributes.
pub const kAXStringForRangeParameterizedAttribute: &str = "AXStringForRange";

// Actions.
pub const kAXPressAction: &str = "AXPress";
pub const kAXPickAction: &str = "AXPick";
pub const kAXCancelAction: &str = "AXCancel";
pub const kAXRaiseAction: &str = "AXRaise";
pub const kAXShowMenuAction: &str = "AXShowMenu";
pub const AXScrollToVisible: &str = "AXScrollToVisible";

// Notifications.
pub const kAXMainWindowChangedNotification: &str = "AXMainWindowChanged";
pub const kAXFocusedWindowChangedNotification: &str = "AXFocusedWindowChanged";
pub const kAXFocusedUIElementChangedNotification: &str = "AXFocusedUIElementChanged";
pub const kAXApplicationActivatedNotification: &str = "AXApplicationActivated";
pub const kAXApplicationDeactivatedNotification: &str = "AXApplicationDeactivated";
pub const kAXApplicationHiddenNotification: &str = "AXApplicationHidden";
pub const kAXApplicationShownNotification: &str = "AXApplicationShown";
pub const kAXWindowCreatedNotification: &str = "AXWindowCreated";
pub const kAXWindowMovedNotification: &str = "AXWindowMoved";
pub const kAXWindowResizedNotification: &str = "AXWindowResized";
pub const kAXWindowMiniaturizedNotification: &str = "AXWindowMiniaturized";
pub const kAXWindowDeminiaturizedNotification: &str = "AXWindowDeminiaturized";
pub const kAXDrawerCreatedNotification: &str = "AXDrawerCreated";
pub const kAXSheetCreatedNotification: &str = "AXSheetCreated";
pub const kAXHelpTagCreatedNotification: &str = "AXHelpTagCreated";
pub const kAXCreatedNotification: &str = "AXCreated";
pub const kAXUIElementDestroyedNotification: &str = "AXUIElementDestroyed";
pub const kAXElementBusyChangedNotification: &str = "AXElementBusyChanged";
pub const kAXValueChangedNotification: &str = "AXValueChanged";
pub const kAXTitleChangedNotification: &str = "AXTitleChanged";
pub const kAXMenuOpenedNotification: &str = "AXMenuOpened";
pub const kAXMenuClosedNotification: &str = "AXMenuClosed";
pub const kAXMenuItemSelectedNotification: &str = "AXMenuItemSelected";
pub const kAXRowCountChangedNotification: &str = "AXRowCountChanged";
pub const kAXRowExpandedNotification: &str = "AXRowExpanded";
pub const kAXRowCollapsedNotification: &str = "AXRowCollapsed";
pub const kAXSelectedCellsChangedNotification: &str = "AXSelectedCellsChanged";
pub const kAXSelectedChildrenChangedNotification: &str = "AXSelectedChildrenChanged";
pub const kAXSelectedChildrenMovedNotification: &str = "AXSelectedChildrenMoved";
pub const kAXSelectedRowsChangedNotification: &str = "AXSelectedRowsChanged";
pub const kAXSelectedColumnsChangedNotification: &str = "AXSelectedColumnsChanged";
pub const kAXSelectedTextChangedNotification: &str = "AXSelectedTextChanged";
pub const kAXLayoutChangedNotification: &str = "AXLayoutChanged";
pub const kAXAnnouncementRequestedNotification: &str = "AXAnnouncementRequested";
// Notifications of browsers and web views, which no header has.
pub const AXLoadComplete: &str = "AXLoadComplete";
pub const AXLayoutComplete: &str = "AXLayoutComplete";
pub const AXInvalidStatusChanged: &str = "AXInvalidStatusChanged";
pub const AXLiveRegionCreated: &str = "AXLiveRegionCreated";
pub const AXLiveRegionChanged: &str = "AXLiveRegionChanged";
pub const AXExpandedChanged: &str = "AXExpandedChanged";

// Keys of a notification's user info.
pub const kAXAnnouncementKey: &str = "AXAnnouncementKey";
pub const kAXUIElementsKey: &str = "AXUIElementsKey";

//! Apple's CoreFoundation for Linux, as `build.rs` links it; the tests are in `tests/`.

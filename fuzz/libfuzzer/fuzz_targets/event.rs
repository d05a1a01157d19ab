#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| axd_fuzz::event(data));

mod fake;
mod properties;
mod scripts;

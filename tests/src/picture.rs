//! What is in a picture that `screenshot` answers with.

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE_64;
use serde_json::{Value, json};

/// The pixels of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    /// Its width.
    pub width: usize,
    /// Three bytes for each pixel.
    pub rgb: Vec<u8>,
}

impl Pixels {
    /// Those of an answer, after making sure that it is right about its size.
    pub fn of(shot: &Value) -> Pixels {
        let file = image_file(shot);
        assert_eq!((&shot["format"], shot["size"].as_u64()), (&json!("png"), Some(file.len() as u64)));
        let mut reader = png::Decoder::new(Cursor::new(file)).read_info().expect("a PNG");
        let mut rgb = vec![0; reader.output_buffer_size().expect("a size")];
        let frame = reader.next_frame(&mut rgb).expect("a picture");
        assert_eq!(
            (json!(frame.width), json!(frame.height)),
            (shot["width"].clone(), shot["height"].clone())
        );
        Pixels { width: frame.width as usize, rgb }
    }

    /// The pixel at a place.
    pub fn at(&self, x: i64, y: i64) -> [u8; 3] {
        let place =
            (usize::try_from(y).expect("inside") * self.width + usize::try_from(x).expect("inside")) * 3;
        [self.rgb[place], self.rgb[place + 1], self.rgb[place + 2]]
    }

    /// Its height.
    pub fn height(&self) -> usize {
        self.rgb.len() / 3 / self.width
    }
}

/// The file of an answer.
pub fn image_file(shot: &Value) -> Vec<u8> {
    BASE_64.decode(shot["bytes"].as_str().expect("an image")).expect("base 64")
}

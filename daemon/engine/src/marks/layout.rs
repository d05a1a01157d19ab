//! Where the labels of marks go. Pure.
//!
//! A label covers no other label and no small target, and lies within the picture. It goes beside its element, where it covers
//! no other element; else into a corner of its element, if that is large; else beside it or near it, where it does not cover the middle
//! of any element. If there is no such place, the element has no label: its box and the list of marks remain.

use axd_protocol::Bounds;

/// A target is small if a label would cover more of it than this part.
const SMALL: i64 = 5;
/// How far from its element a label may be, in heights of a label.
const FARTHEST: i32 = 3;

/// The places of labels of these sizes for these boxes, in the same order.
pub(crate) fn place_labels(
    picture: (i32, i32),
    boxes: &[Bounds],
    sizes: &[(i32, i32)],
) -> Vec<Option<Bounds>> {
    let picture = Bounds { x: 0, y: 0, width: picture.0, height: picture.1 };
    let small: Vec<bool> = boxes.iter().zip(sizes).map(|(bounds, size)| is_small(*bounds, *size)).collect();
    let mut placed: Vec<Option<Bounds>> = vec![None; boxes.len()];
    // Small targets first: they have the fewest places.
    let mut order: Vec<usize> = (0..boxes.len().min(sizes.len())).collect();
    order.sort_by_key(|index| (area(boxes[*index]), *index));
    for index in order {
        let (own, size) = (boxes[index], sizes[index]);
        let is_free = |label: &Bounds| {
            label.intersection(&picture) == Some(*label)
                && !placed.iter().flatten().any(|other| touches(label, other))
                && !boxes.iter().zip(&small).any(|(other, small)| *small && touches(label, other))
        };
        let covers_nothing = |label: &Bounds| {
            boxes.iter().all(|other| !touches(label, other) || contains(other, &own) && *other != own)
        };
        let covers_itself_only =
            |label: &Bounds| boxes.iter().all(|other| !touches(label, other) || contains(other, &own));
        let covers_no_middle = |label: &Bounds| !boxes.iter().any(|other| touches(label, &middle(*other)));
        let beside = beside(own, size, 0);
        let inside = if small[index] { Vec::new() } else { corners(own, size) };
        let find = |places: &[Bounds], is_good: &dyn Fn(&Bounds) -> bool| {
            places.iter().copied().find(|label| is_free(label) && is_good(label))
        };
        let near = || {
            let step = (size.1 / 2).max(1);
            let gaps = (1..=FARTHEST * 2).map(|times| times * step);
            gaps.into_iter().find_map(|gap| {
                let ring = self::beside(own, size, gap);
                find(&ring, &covers_nothing).or_else(|| find(&ring, &covers_no_middle))
            })
        };
        placed[index] = find(&beside, &covers_nothing)
            .or_else(|| find(&inside, &covers_itself_only))
            .or_else(|| find(&beside, &covers_no_middle))
            .or_else(|| find(&inside, &covers_no_middle))
            .or_else(near);
    }
    placed
}

/// Whether a label of this size would cover much of a target.
pub(crate) fn is_small(target: Bounds, label: (i32, i32)) -> bool {
    let of_label = i64::from(label.0) * i64::from(label.1);
    target.width < label.0 * 2 && target.height < label.1 * 2 || area(target) < of_label * SMALL
}

/// The places around a box, at this distance: the corners first, then along its sides.
fn beside(own: Bounds, (width, height): (i32, i32), gap: i32) -> Vec<Bounds> {
    let at = |x: i32, y: i32| Bounds { x, y, width, height };
    let (left, right) = (own.x, own.x + own.width - width);
    let (top, bottom) = (own.y, own.y + own.height - height);
    let (above, below) = (own.y - height - gap, own.y + own.height + gap);
    let (before, after) = (own.x - width - gap, own.x + own.width + gap);
    let mut places = vec![
        at(left, above),
        at(right, above),
        at(left, below),
        at(right, below),
        at(before, top),
        at(after, top),
        at(before, bottom),
        at(after, bottom),
        at(before, above),
        at(after, above),
        at(before, below),
        at(after, below),
    ];
    // Along the sides, as far as there are different places.
    let steps = |from: i32, to: i32, step: i32| (from..to).step_by(step.max(1) as usize).take(24).skip(1);
    for x in steps(left, right, width / 2) {
        places.extend([at(x, above), at(x, below)]);
    }
    for y in steps(top, bottom, height / 2) {
        places.extend([at(before, y), at(after, y)]);
    }
    places
}

/// The corners of a box, from within. Texts begin at the left, so the right ones come first, and places near those.
fn corners(own: Bounds, (width, height): (i32, i32)) -> Vec<Bounds> {
    if own.width < width || own.height < height {
        return Vec::new();
    }
    let (right, bottom) = (own.x + own.width - width, own.y + own.height - height);
    let step = (width / 2).max(1);
    let near_right = (0..=4).map(|times| right - times * step).filter(|x| *x > own.x);
    let at_right = near_right.flat_map(|x| [(x, own.y), (x, bottom)]);
    let corners = at_right.chain([(own.x, own.y), (own.x, bottom)]);
    corners.map(|(x, y)| Bounds { x, y, width, height }).collect()
}

/// The part of a box that no label may cover: where it is pointed at.
fn middle(of: Bounds) -> Bounds {
    let (width, height) = ((of.width / 3).max(1), (of.height / 3).max(1));
    Bounds { x: of.x + (of.width - width) / 2, y: of.y + (of.height - height) / 2, width, height }
}

fn area(of: Bounds) -> i64 {
    i64::from(of.width) * i64::from(of.height)
}

fn touches(one: &Bounds, other: &Bounds) -> bool {
    one.intersection(other).is_some()
}

fn contains(outer: &Bounds, inner: &Bounds) -> bool {
    outer.intersection(inner) == Some(*inner)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZE: (i32, i32) = (10, 13);

    fn bounds(x: i32, y: i32, width: i32, height: i32) -> Bounds {
        Bounds { x, y, width, height }
    }

    #[test]
    fn a_label_stands_above_its_element_at_the_left() {
        let placed = place_labels((200, 100), &[bounds(50, 40, 60, 30)], &[SIZE]);
        assert_eq!(placed, [Some(bounds(50, 27, 10, 13))]);
    }

    #[test]
    fn a_label_moves_if_its_place_is_taken_or_outside() {
        let at_top = place_labels((200, 100), &[bounds(50, 0, 60, 30)], &[SIZE]);
        assert_eq!(at_top, [Some(bounds(50, 30, 10, 13))], "below: there is nothing above");
        let stacked = [bounds(0, 20, 100, 30), bounds(0, 50, 100, 30)];
        let placed = place_labels((200, 100), &stacked, &[SIZE; 2]);
        assert_eq!(placed[0], Some(bounds(0, 7, 10, 13)));
        assert_eq!(placed[1], Some(bounds(0, 80, 10, 13)));
    }

    #[test]
    fn rows_without_room_between_them_have_their_labels_inside() {
        let rows: Vec<Bounds> = (0..5).map(|row| bounds(0, row * 18, 200, 18)).collect();
        let placed = place_labels((200, 90), &rows, &[SIZE; 5]);
        for (row, label) in rows.iter().zip(placed) {
            let label = label.expect("a label");
            assert!(contains(row, &label), "{row:?} {label:?}");
        }
    }

    #[test]
    fn a_grid_of_small_targets_is_not_covered() {
        let boxes: Vec<Bounds> =
            (0..36).map(|index| bounds(40 + index % 6 * 16, 40 + index / 6 * 16, 16, 16)).collect();
        let placed = place_labels((300, 300), &boxes, &[SIZE; 36]);
        assert!(placed.iter().flatten().count() >= 8, "those at the edge have one: {placed:?}");
        assert!(placed.iter().flatten().all(|label| boxes.iter().all(|target| !touches(label, target))));
    }

    prop_compose! {
        fn boxes()(parts in prop::collection::vec((-20..500_i32, -20..400_i32, 1..200_i32, 1..120_i32), 0..60)) -> Vec<Bounds> {
            let picture = bounds(0, 0, 480, 360);
            let all = parts.into_iter().map(|(x, y, width, height)| bounds(x, y, width, height));
            all.filter_map(|part| part.intersection(&picture)).collect()
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn labels_cover_neither_each_other_nor_small_targets(boxes in boxes(), wide in 0..3_i32) {
            let sizes: Vec<(i32, i32)> =
                (0..boxes.len()).map(|index| (10 + 7 * (wide + i32::from(index > 8)), 13)).collect();
            let placed = place_labels((480, 360), &boxes, &sizes);
            prop_assert_eq!(placed.len(), boxes.len());
            let labels: Vec<(usize, Bounds)> =
                placed.iter().enumerate().filter_map(|(index, label)| Some((index, (*label)?))).collect();
            for (place, (index, label)) in labels.iter().enumerate() {
                prop_assert_eq!((label.width, label.height), sizes[*index]);
                prop_assert!(contains(&bounds(0, 0, 480, 360), label));
                for (_, other) in &labels[place + 1..] {
                    prop_assert!(!touches(label, other), "{:?} covers {:?}", label, other);
                }
                for (target, size) in boxes.iter().zip(&sizes) {
                    prop_assert!(!is_small(*target, *size) || !touches(label, target));
                }
                // It stays near its element.
                let reach = FARTHEST * label.height;
                let own = boxes[*index];
                let around = bounds(
                    own.x - label.width - reach,
                    own.y - label.height - reach,
                    own.width + 2 * (label.width + reach),
                    own.height + 2 * (label.height + reach),
                );
                prop_assert!(contains(&around, label), "{:?} is far from {:?}", label, own);
            }
            prop_assert_eq!(place_labels((480, 360), &boxes, &sizes), placed, "the same again");
        }
    }
}

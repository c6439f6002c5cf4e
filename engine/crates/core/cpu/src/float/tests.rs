use super::*;

/// Bit patterns for every special case, and pseudo-random ones between.
fn patterns() -> Vec<u64> {
    let specials = [
        0.0,
        1.0,
        1.5,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::INFINITY,
        f64::EPSILON,
        5e-324,
        1e16,
        0.1,
    ];
    let mut all: Vec<u64> = specials
        .iter()
        .flat_map(|value| [value.to_bits(), (-value).to_bits()])
        .collect();
    all.extend([Double::NAN, Double::INFINITY | 1]);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for index in 0..200 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(index);
        let near_one = state & 0x801f_ffff_ffff_ffff | 0x3fe0_0000_0000_0000;
        all.extend([state, near_one]);
    }
    all
}

fn same(ours: u64, host: f64, what: &str) {
    if host.is_nan() {
        assert_eq!(ours, Double::NAN, "{what}");
    } else {
        assert_eq!(
            ours,
            host.to_bits(),
            "{what}: {} for {host}",
            f64::from_bits(ours)
        );
    }
}

#[test]
fn results_to_nearest_even_are_those_of_the_host() {
    let patterns = patterns();
    for &a in &patterns {
        same(
            square_root::<Double>(a, Rounding::NearestEven, &mut 0),
            f64::from_bits(a).sqrt(),
            "root",
        );
        for &b in &patterns {
            let (x, y) = (f64::from_bits(a), f64::from_bits(b));
            let what = format!("{x:e} {y:e}");
            same(add::<Double>(a, b, Rounding::NearestEven, &mut 0), x + y, &what);
            same(
                multiply::<Double>(a, b, Rounding::NearestEven, &mut 0),
                x * y,
                &what,
            );
            same(
                divide::<Double>(a, b, Rounding::NearestEven, &mut 0),
                x / y,
                &what,
            );
            let c = (a ^ b.rotate_left(7)) & !(1 << 62);
            let fused = multiply_add::<Double>(a, b, c, Rounding::NearestEven, &mut 0);
            same(fused, x.mul_add(y, f64::from_bits(c)), &what);
        }
    }
}

#[test]
fn narrowing_is_that_of_the_host() {
    for bits in patterns() {
        let ours = resize::<Double, Single>(bits, Rounding::NearestEven, &mut 0);
        let host = f64::from_bits(bits) as f32;
        if host.is_nan() {
            assert_eq!(ours, Single::NAN);
        } else {
            assert_eq!(ours, u64::from(host.to_bits()));
        }
    }
}

#[test]
fn directed_modes_bracket_the_exact_result() {
    let third = |rounding| {
        let mut flags = 0;
        let bits = divide::<Double>(1f64.to_bits(), 3f64.to_bits(), rounding, &mut flags);
        assert_eq!(flags, flag::INEXACT);
        bits
    };
    assert_eq!(third(Rounding::Up), third(Rounding::Down) + 1);
    assert_eq!(third(Rounding::TowardZero), third(Rounding::Down));
}

#[test]
fn overflow_follows_the_rounding_mode() {
    let largest = f64::MAX.to_bits();
    let mut flags = 0;
    let up = add::<Double>(largest, largest, Rounding::Up, &mut flags);
    assert_eq!(up, Double::INFINITY);
    assert_eq!(flags, flag::OVERFLOW | flag::INEXACT);
    let down = add::<Double>(largest, largest, Rounding::TowardZero, &mut flags);
    assert_eq!(down, largest);
}

#[test]
fn tininess_is_detected_after_rounding() {
    // Just below the smallest normal number; rounds up to it, and so is not tiny.
    let below = (1.0 - f64::EPSILON / 2.0).to_bits();
    let mut flags = 0;
    let smallest = f64::MIN_POSITIVE.to_bits();
    let product = multiply::<Double>(smallest, below, Rounding::NearestEven, &mut flags);
    assert_eq!((product, flags), (smallest, flag::INEXACT | flag::UNDERFLOW));
    let mut flags = 0;
    let wider = multiply_add::<Double>(
        smallest,
        1f64.to_bits(),
        (-5e-324f64 / 2.0).to_bits(),
        Rounding::NearestEven,
        &mut flags,
    );
    assert_eq!((wider, flags), (smallest, 0));
}

#[test]
fn conversions_saturate() {
    let convert = |value: f64, to, rounding| {
        let mut flags = 0;
        (
            to_integer::<Double>(value.to_bits(), to, rounding, &mut flags),
            flags,
        )
    };
    let zero = Rounding::TowardZero;
    assert_eq!(
        convert(f64::NAN, Integer::Word, zero),
        (0x7fff_ffff, flag::INVALID)
    );
    assert_eq!(convert(-1.0, Integer::LongUnsigned, zero), (0, flag::INVALID));
    assert_eq!(convert(-0.5, Integer::LongUnsigned, zero), (0, flag::INEXACT));
    assert_eq!(
        convert(4e9, Integer::WordUnsigned, zero),
        (4_000_000_000_u32 as i32 as u64, 0)
    );
    assert_eq!(
        convert(2.5, Integer::Long, Rounding::NearestEven),
        (2, flag::INEXACT)
    );
    assert_eq!(
        convert(2.5, Integer::Long, Rounding::NearestAway),
        (3, flag::INEXACT)
    );
    assert_eq!(
        convert(0.5, Integer::Long, Rounding::NearestEven),
        (0, flag::INEXACT)
    );
    assert_eq!(convert(1e-300, Integer::Long, Rounding::Up), (1, flag::INEXACT));
    assert_eq!(
        convert(-9.3e18, Integer::Long, zero),
        (i64::MIN as u64, flag::INVALID)
    );
    assert_eq!(
        convert(f64::NEG_INFINITY, Integer::Long, zero),
        (i64::MIN as u64, flag::INVALID)
    );
}

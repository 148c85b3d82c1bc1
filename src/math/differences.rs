//! Differences along one variable, over a part of its own scale.

use nalgebra::DVector;

/// A variable along which a derivative changes by 1 within so little has that for its scale; others have 1.
const STEEP: f64 = 0.1;

/// A column of derivatives: `along` gives difference quotients over a step, which is `part` of the scale of the variable.
/// The scale, 1/√|entry `own`| where that is steep, is known from the last time and found anew; should the variable be much
/// steeper than it was, the difference is taken again.
pub fn over_its_scale(
    own: usize,
    part: f64,
    scale: &mut f64,
    mut along: impl FnMut(f64) -> Option<DVector<f64>>,
) -> Option<DVector<f64>> {
    let mut column = along(part * *scale)?;
    let natural = column[own].abs().sqrt().recip();
    let found = if natural < STEEP { natural } else { 1.0 };
    if found < STEEP * *scale {
        column = along(part * found)?;
    }
    *scale = found;
    Some(column)
}

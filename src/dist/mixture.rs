//! A likelihood that is a mixture of Gaussians over a latent scale, as mean-field inference uses it.

/// p(y) = ∫ N(y | mean, 1/(precision · λ)) Gamma(λ | dof/2, dof/2) dλ
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mixture {
    /// The mean.
    pub mean: &'static str,
    /// The scale arguments: the precision is the argument to this power.
    pub scales: &'static [(&'static str, f64)],
    /// The degrees of freedom.
    pub dof: &'static str,
}

impl Mixture {
    /// E[1/λ] = ν/(ν − 2): the variance of y in units of 1/precision; infinite up to ν = 2.
    pub fn variance(&self, dof: f64) -> f64 {
        if dof > 2.0 { dof / (dof - 2.0) } else { f64::INFINITY }
    }
}

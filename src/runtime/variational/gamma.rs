//! The factor of a positive unknown: a Gamma distribution, or a point on the log scale.

use crate::math::special::{digamma, ln_gamma};

/// q(theta) = Gamma(shape, rate), or a point at shape/rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct GammaFactor {
    shape: f64,
    rate: f64,
    point: bool,
    /// ψ(shape) and ln Γ(shape), which the iterations do not change.
    psi: f64,
    ln_gamma: f64,
}

impl GammaFactor {
    /// A Gamma factor; both arguments above 0.
    pub fn new(shape: f64, rate: f64) -> GammaFactor {
        GammaFactor { shape, rate, point: false, psi: digamma(shape), ln_gamma: ln_gamma(shape) }
    }

    /// A point at shape/rate.
    pub fn point(shape: f64, rate: f64) -> GammaFactor {
        GammaFactor { shape, rate, point: true, psi: 0.0, ln_gamma: 0.0 }
    }

    /// The same kind of factor with other arguments.
    pub fn with(self, shape: f64, rate: f64) -> GammaFactor {
        match (self.point, shape == self.shape) {
            (true, _) => GammaFactor::point(shape, rate),
            (false, true) => GammaFactor { rate, ..self },
            (false, false) => GammaFactor::new(shape, rate),
        }
    }

    pub fn shape(&self) -> f64 {
        self.shape
    }

    pub fn rate(&self) -> f64 {
        self.rate
    }

    pub fn is_point(&self) -> bool {
        self.point
    }

    /// ⟨θ⟩ = shape/rate
    pub fn mean(&self) -> f64 {
        self.shape / self.rate
    }

    /// ⟨ln θ⟩ = ψ(shape) − ln rate, or ln of the point.
    pub fn mean_ln(&self) -> f64 {
        if self.point { self.shape.ln() - self.rate.ln() } else { self.psi - self.rate.ln() }
    }

    /// −⟨ln q⟩ = s − ln r + ln Γ(s) + (1 − s) ψ(s); 0 for a point.
    pub fn entropy(&self) -> f64 {
        match self.point {
            true => 0.0,
            false => self.shape - self.rate.ln() + self.ln_gamma + (1.0 - self.shape) * self.psi,
        }
    }
}

//! A likelihood that is a mixture of Gaussians over a latent scale, as mean-field inference uses it.

/// A likelihood that is a mixture of Gaussians over a latent scale, as mean-field inference uses it.
#[derive(Clone, Copy, Debug)]
pub struct Mixture {}

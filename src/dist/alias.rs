//! What other languages call the families of this one, for "did you mean".

/// The family that other languages know by this name, upper and lower case alike.
pub fn family_known_as(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "gaussian" | "norm" | "gauss" | "mvnormal" => "Normal",
        "student" | "student_t" | "t" | "studentst" => "StudentT",
        "logistic" | "binomial" | "bernoulli_logit" => "Bernoulli",
        "ordered_logistic" | "ordered_probit" | "orderedlogistic" | "orderedprobit" => "Ordinal",
        "softmax" | "multinomial" => "Categorical",
        "uniform" | "improper" | "improperuniform" => "Flat",
        "exponential" | "inversegamma" | "inv_gamma" | "chisquared" => "Gamma",
        _ => return None,
    })
}

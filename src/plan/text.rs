//! The plan as text (`sbl plan`).

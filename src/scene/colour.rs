//! Colours that people with any colour vision, and printers without colour, can tell apart.

/// Red, green, blue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Colour(pub u8, pub u8, pub u8);

impl Colour {
    /// Black.
    pub const BLACK: Colour = Colour(0, 0, 0);
    /// White.
    pub const WHITE: Colour = Colour(255, 255, 255);
    /// For what is less important than the rest.
    pub const GREY: Colour = Colour(110, 110, 110);
    /// The palette of Okabe and Ito (2008), without black and yellow.
    pub const BLUE: Colour = Colour(0, 114, 178);
    /// Vermilion.
    pub const RED: Colour = Colour(213, 94, 0);
    /// Bluish green.
    pub const GREEN: Colour = Colour(0, 158, 115);
    /// Orange.
    pub const ORANGE: Colour = Colour(230, 159, 0);
    /// Sky blue.
    pub const SKY: Colour = Colour(86, 180, 233);
    /// Reddish purple.
    pub const PURPLE: Colour = Colour(204, 121, 167);
    /// For series, in this order.
    pub const SERIES: [Colour; 6] =
        [Colour::BLUE, Colour::RED, Colour::GREEN, Colour::PURPLE, Colour::ORANGE, Colour::SKY];

    /// `share` of this colour, the rest white.
    pub fn tint(self, share: f64) -> Colour {
        let mix = |c: u8| (255.0 + share.clamp(0.0, 1.0) * (f64::from(c) - 255.0)).round() as u8;
        Colour(mix(self.0), mix(self.1), mix(self.2))
    }

    /// The tint of this lightness: so regions differ where there is no colour.
    pub fn as_light_as(self, luma: f64) -> Colour {
        self.tint((1.0 - luma) / (1.0 - self.luma()))
    }

    /// `#0072b2`
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// Lightness as a printer without colour shows it, 0 to 1 (Rec. 709 luma).
    pub fn luma(self) -> f64 {
        (0.2126 * f64::from(self.0) + 0.7152 * f64::from(self.1) + 0.0722 * f64::from(self.2)) / 255.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tints_grow_lighter() {
        assert_eq!(Colour::BLUE.tint(1.0), Colour::BLUE);
        assert_eq!(Colour::BLUE.tint(0.0), Colour::WHITE);
        assert!(Colour::BLUE.tint(0.2).luma() > Colour::BLUE.tint(0.5).luma());
        for colour in Colour::SERIES {
            assert!((colour.as_light_as(0.8).luma() - 0.8).abs() < 0.01, "{colour:?}");
        }
        assert_eq!(Colour::BLUE.hex(), "#0072b2");
    }
}

//! Text in the order of a language: what goes into the key is ICU's sort key, from which the text
//! can't be had back. Sort keys change with the version of the collation data, so a key with such
//! a field has to be computed again after an upgrade of it.

use std::fmt;

use crate::error::{Error, Result};

/// A language's order, and how fine its differences are.
///
/// Encoding needs the feature `collation`; describing and reading such a field does not.
///
/// ```
/// use stonecrop_keys::{Collation, Strength};
/// let swedish = Collation::new("sv", Strength::Primary)?;
/// assert_eq!(swedish.to_string(), "sv, primary");
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone)]
pub struct Collation {
    locale: String,
    strength: Strength,
    #[cfg(feature = "collation")]
    collator: std::sync::Arc<icu_collator::CollatorBorrowed<'static>>,
}

/// Which differences count in a [`Collation`].
///
/// ```
/// use stonecrop_keys::{Collation, Strength};
/// assert_eq!(Collation::new("en", Strength::default())?.strength(), Strength::Tertiary);
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strength {
    /// Letters alone: `a`, `A` and `ä` are one in English.
    Primary,
    /// Letters and accents.
    Secondary,
    /// Letters, accents and case; the default.
    #[default]
    Tertiary,
    /// As tertiary; what is still alike is told apart by code points.
    Identical,
}

impl Strength {
    pub(crate) const ALL: [(&'static str, Strength); 4] = [
        ("primary", Strength::Primary),
        ("secondary", Strength::Secondary),
        ("tertiary", Strength::Tertiary),
        ("identical", Strength::Identical),
    ];

    fn name(self) -> &'static str {
        match self {
            Strength::Primary => "primary",
            Strength::Secondary => "secondary",
            Strength::Tertiary => "tertiary",
            Strength::Identical => "identical",
        }
    }
}

impl Collation {
    /// The order of a locale such as `de`, `sv` or `de-u-co-phonebk`.
    ///
    /// ```
    /// use stonecrop_keys::{Collation, Strength};
    /// assert!(Collation::new("not a locale", Strength::Tertiary).is_err());
    /// ```
    pub fn new(locale: &str, strength: Strength) -> Result<Self> {
        let well_formed = !locale.is_empty()
            && locale.split('-').all(|part| {
                (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric())
            });
        if !well_formed {
            return Err(Error::schema(format!("{locale:?} is not a locale such as de or sv-SE")));
        }
        Ok(Collation {
            locale: locale.to_owned(),
            strength,
            #[cfg(feature = "collation")]
            collator: collator(locale, strength)?.into(),
        })
    }

    /// The locale, as it was given.
    ///
    /// ```
    /// # use stonecrop_keys::{Collation, Strength};
    /// assert_eq!(Collation::new("de", Strength::Tertiary)?.locale(), "de");
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn locale(&self) -> &str {
        &self.locale
    }

    /// Which differences count.
    ///
    /// ```
    /// # use stonecrop_keys::{Collation, Strength};
    /// assert_eq!(Collation::new("de", Strength::Primary)?.strength(), Strength::Primary);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn strength(&self) -> Strength {
        self.strength
    }

    #[cfg(feature = "collation")]
    pub(crate) fn write(&self, text: &str, out: &mut Vec<u8>) -> Result<()> {
        let mut key = Vec::new();
        let Ok(()) = self.collator.write_sort_key_to(text, &mut key);
        super::escaped::write_tagged(crate::tag::COLLATED, &key, out);
        Ok(())
    }

    #[cfg(not(feature = "collation"))]
    #[expect(clippy::unused_self, reason = "the same signature as with the feature")]
    pub(crate) fn write(&self, _: &str, _: &mut Vec<u8>) -> Result<()> {
        Err(Error::value("this build can't collate; build stonecrop-keys with feature collation"))
    }
}

#[cfg(feature = "collation")]
fn collator(locale: &str, strength: Strength) -> Result<icu_collator::CollatorBorrowed<'static>> {
    use icu_collator::options::{CollatorOptions, Strength as IcuStrength};

    let unknown = || Error::schema(format!("{locale:?} is not a locale that can be collated"));
    let parsed = icu_locale_core::Locale::try_from_str(locale).map_err(|_| unknown())?;
    let mut options = CollatorOptions::default();
    options.strength = Some(match strength {
        Strength::Primary => IcuStrength::Primary,
        Strength::Secondary => IcuStrength::Secondary,
        Strength::Tertiary => IcuStrength::Tertiary,
        Strength::Identical => IcuStrength::Identical,
    });
    icu_collator::Collator::try_new(parsed.into(), options).map_err(|_| unknown())
}

impl PartialEq for Collation {
    fn eq(&self, other: &Self) -> bool {
        self.locale == other.locale && self.strength == other.strength
    }
}

impl Eq for Collation {}

impl fmt::Display for Collation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.locale)?;
        match self.strength {
            Strength::Tertiary => Ok(()),
            other => write!(f, ", {}", other.name()),
        }
    }
}

impl fmt::Debug for Collation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Collation({self})")
    }
}

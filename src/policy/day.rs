//! Days, for overrides that end and for records.
//!
//! In: the machine's clock, once. Out: [`Day`]. Never: read while judging.

/// A day in UTC: year, month, day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(pub u16, pub u8, pub u8);

impl Day {
    /// Today in UTC.
    pub fn today() -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Self::after(now.as_secs() / 86_400)
    }

    /// The day so many days after 1970-01-01, in the Gregorian calendar, whose years are taken from March on
    /// so that the leap day is a year's last.
    pub fn after(days: u64) -> Self {
        let days = days + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        let year = u16::try_from(era * 400 + year + next).unwrap_or(u16::MAX);
        Self(year, u8::try_from(month).unwrap_or(1), u8::try_from(day).unwrap_or(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (days, expected) in [(0, Day(1970, 1, 1)), (11_016, Day(2000, 2, 29)), (20_618, Day(2026, 6, 14))]
        {
            assert_eq!(Day::after(days), expected);
        }
        assert!(Day::today() > Day(2025, 1, 1));
    }
}

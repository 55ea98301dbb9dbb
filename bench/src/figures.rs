//! Figures as Prometheus reads them.

/// A counter over all its labels.
#[must_use]
pub fn total(figures: &str, name: &str) -> f64 {
    let of_name = |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']));
    figures.lines().filter(of_name).filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::total;

    #[test]
    fn counters_are_summed_over_their_labels_and_no_others() {
        let figures = "# TYPE a counter\na{x=\"1\"} 2\na{x=\"2\"} 3\nab{x=\"1\"} 7\na 1\n";
        assert!((total(figures, "a") - 6.0).abs() < f64::EPSILON);
    }
}

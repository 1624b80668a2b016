/// Translation layers with one defect each, of the kinds that students and researchers hand in: page_map behind a liar.
///
/// Idea       A defect is a LyingFtl with one function changed. Its entry names the check that must see it.
/// Invariant  Without its defect each of them is page_map.
#pragma once

#include <span>
#include <string_view>

#include "ftl/scheme.h"

namespace flashlab::test {

struct BadScheme {
    const Scheme* scheme;
    std::string_view check; ///< of grade_checks(), that must fail
    std::string_view words; ///< that its finding contains
};

/// What only the larger drives of the figures show; not admitted yet.
[[nodiscard]] const Scheme& loses_high_pages();
[[nodiscard]] const Scheme& trims_low_pages();
[[nodiscard]] const Scheme& gives_half_the_drive();

/// All are known by name afterwards (ftl/admit_scheme.h).
[[nodiscard]] std::span<const BadScheme> bad_schemes();

} // namespace flashlab::test

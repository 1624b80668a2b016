/// What every translation layer has to get right, as questions with a name: the body of checks of `flashlab grade`.
///
/// Idea       A check is a function of a scheme's name. It says what is wrong, or nothing. grade() asks each in a process of its own.
/// Invariant  Same scheme, same seed: same answers. The built-in schemes pass all; each check has a defect that it alone, or it first, must see
///            (tests/tools/grade).
/// Cost       Seconds for all; the crash states cost most.
/// Power cut  The last two make them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace flashlab {

struct GradeSubject {
    std::string scheme;
    std::uint64_t seed = 1;
    std::uint64_t states = 20'000; ///< of power cuts, at most
};

struct GradeFound {
    std::string what;
    std::string replay = {}; ///< for flashlab grade ... --replay; empty where no cut is needed
};

struct GradeCheck {
    std::string_view name;
    std::string_view promise; ///< a sentence
    std::optional<GradeFound> (*ask)(const GradeSubject& subject);
};

[[nodiscard]] std::span<const GradeCheck> grade_checks();

} // namespace flashlab

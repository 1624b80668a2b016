/// A scheme that was not compiled in, beside those of ftl/schemes.def.
///
/// Idea       A program that has loaded a scheme (tools/grade) says so once, before it makes a drive. Then a configuration can name it.
/// Invariant  Only find_scheme() knows it: schemes(), and all that is made of that list, stays as it was compiled. Names are looked up when a
///            drive is planned and made, never while one runs, so runs stay what they are.
/// Cost       None where nobody calls it.
/// Power cut  Keeps nothing.
#pragma once

#include <expected>
#include <span>
#include <string>

#include "ftl/scheme.h"

namespace flashlab {

/// `scheme` lives as long as the process. The error says what is wrong with its name, its options or its counters. That a key is one of all drives,
/// who knows those has to see (tools/drive/config_schema.h).
[[nodiscard]] std::expected<void, std::string> admit_scheme(const Scheme& scheme);
/// In the order of their admission.
[[nodiscard]] std::span<const Scheme* const> admitted_schemes();

} // namespace flashlab

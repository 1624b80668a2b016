/// Loads a scheme from a shared object, or finds a built-in one.
///
/// Idea       What names a file (it has a '/' or ends in .so) is loaded; anything else is a scheme's name.
/// Invariant  S1 nothing of an object runs but its constructors before its interface is known to be ours (ftl/scheme_plugin.h).
///            S2 an object stays loaded until the process ends: what it made may outlive any scope.
/// Cost       dlopen(). It runs code of others: grade() calls it in a process of its own.
#pragma once

#include <expected>
#include <string>

#include "ftl/scheme.h"

namespace flashlab {

[[nodiscard]] bool is_scheme_file(const std::string& what);
/// The scheme is known by its name afterwards (ftl/admit_scheme.h). The error says what to do.
[[nodiscard]] std::expected<const Scheme*, std::string> load_scheme(const std::string& what);

} // namespace flashlab

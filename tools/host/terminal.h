/// How wide the terminal is.
///
/// Idea       The terminal that standard output is says it; else COLUMNS, which a user may set for a pager.
/// Cost       A system call.
#pragma once

#include <cstddef>

namespace flashlab {

/// 0: standard output is no terminal, and COLUMNS says nothing.
[[nodiscard]] std::size_t terminal_columns();

} // namespace flashlab

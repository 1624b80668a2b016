/// Whether TERM names a kind of terminal that the terminfo of this machine knows.
///
/// Idea       Asked before long work whose view needs such a terminal. It stands alone, because the header of terminfo makes macros of common words.
/// Invariant  The terminal is not touched.
/// Cost       Reads one small file.
#pragma once

namespace flashlab {

[[nodiscard]] bool is_known_terminal();

} // namespace flashlab

/// The three streams that every program is given, or not.
///
/// Idea       What is closed at the start becomes /dev/null: else the first image that is opened is descriptor 1, and a daemon that lets go of its terminal lets go
///            of the image. All of standard output is checked once, at the end. What standard error does not take is lost: there is nowhere to say so.
/// Invariant  No write to standard error throws. A command whose output was not taken, to the last byte, does not end with 0.
/// Cost       Three system calls at the start, three at the end.
#pragma once

#include <optional>
#include <string>

namespace flashlab {

/// Before anything else is opened.
void open_missing_streams();

/// As it is, to standard error.
void tell(const std::string& text);

/// Why not all of standard output could be written; nothing: it was. `thrown`: the errno of a write that has failed already, 0 where none is known.
[[nodiscard]] std::optional<std::string> finish_standard_output(int thrown = 0);

} // namespace flashlab

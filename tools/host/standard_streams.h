/// The three standard streams, which a program cannot rely on to be open.
///
/// Idea       A standard stream that is closed at the start becomes /dev/null. Otherwise the first image to be opened would get descriptor 1, and a
///            daemon that detaches from its terminal would close that image. All of standard output is checked once, at the end. Failed writes to
///            standard error are ignored, because there is no place left to report them.
/// Invariant  No write to standard error throws. A command does not end with 0 unless every byte of its output was written.
/// Cost       Three system calls at the start, three at the end.
#pragma once

#include <optional>
#include <string>

namespace flashlab {

/// To be called before anything else is opened.
void open_missing_streams();

/// Writes the text to standard error, unchanged.
void tell(const std::string& text);

/// Flushes standard output. Returns why some of it could not be written, or nothing when all was written.
/// `thrown`: the errno of a write that has failed already, 0 where none is known.
[[nodiscard]] std::optional<std::string> finish_standard_output(int thrown = 0);

} // namespace flashlab
